//! Words by a model of the Messages API: one request a node, one attempt a request.

use super::summary_request;
use crate::claude::{Answer, Block, ClaudeClient, Failure, ModelRow, ModelTable};
use crate::config::{SummaryChoice, Values};
use async_trait::async_trait;
use bytes::Bytes;
use retrace_events::redact::Redactor;
use retrace_indexer::{Summarize, SummarizeError, SummaryGroup, SummaryWords};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Asks a model. It retries nothing: what failed is asked for again when there is something to summarise the next time.
#[derive(Debug, Clone)]
pub struct ClaudeSummarizer {
    client: ClaudeClient,
    row: ModelRow,
    redactor: Arc<Redactor>,
    cancel: CancellationToken,
}

impl ClaudeSummarizer {
    /// Asks the model of `row`. `cancel` ends a request that is under way.
    #[must_use]
    pub const fn new(client: ClaudeClient, row: ModelRow, redactor: Arc<Redactor>, cancel: CancellationToken) -> Self {
        Self { client, row, redactor, cancel }
    }

    /// The one that is configured, for a session whose model is `model`; `None` where nobody asked for a model's words, which
    /// cost money.
    #[must_use]
    pub fn configured(
        values: &Values,
        model: &str,
        models: &ModelTable,
        client: ClaudeClient,
        redactor: Arc<Redactor>,
        cancel: CancellationToken,
    ) -> Option<Self> {
        match values.summaries.value {
            SummaryChoice::Extractive => None,
            SummaryChoice::Claude => {
                let row = models.row(values.summary_model.value.as_deref().unwrap_or(model));
                Some(Self::new(client, row, redactor, cancel))
            }
        }
    }

    /// The model that is asked.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.row.id
    }

    fn words(&self, answer: &Answer) -> Result<SummaryWords, SummarizeError> {
        let cost_microusd = self.row.cost_micros(&answer.usage);
        let mut text = String::new();
        for block in &answer.blocks {
            match block {
                Block::Text { text: part } => text.push_str(part),
                Block::Thinking { .. }
                | Block::RedactedThinking { .. }
                | Block::ToolUse { .. }
                | Block::Other { .. } => {}
            }
        }
        let text = self.redactor.redact(text.trim()).into_owned();
        if text.is_empty() {
            let why = format!("the model answered without words ({})", answer.stop_reason.as_str());
            return Err(SummarizeError { why, is_transient: false, cost_microusd });
        }
        Ok(SummaryWords { text, by: self.row.id.clone(), cost_microusd })
    }

    fn failed(&self, failure: &Failure, bound_microusd: u64) -> SummarizeError {
        SummarizeError {
            why: self.redactor.redact(&failure.message).into_owned(),
            is_transient: self.cancel.is_cancelled() || failure.is_retryable(),
            cost_microusd: if failure.sent.may_be_billed() { bound_microusd } else { 0 },
        }
    }
}

#[async_trait]
impl Summarize for ClaudeSummarizer {
    async fn summarize(&self, group: SummaryGroup<'_>) -> Result<SummaryWords, SummarizeError> {
        let (body, max_tokens) = summary_request::body(&self.row, group);
        let bound_microusd = self.row.upper_bound_micros(body.len() as u64, u64::from(max_tokens));
        let answer = self.client.send(Bytes::from(body), &[], |_| {}, &self.cancel).await;
        match answer {
            Ok(answer) => self.words(&answer),
            Err(failure) => Err(self.failed(&failure, bound_microusd)),
        }
    }
}

//! Summaries in a model's words, for whoever asked for them: written after each turn, while the user reads its answer.

use super::background_index::{IndexPlan, on_thread};
use crate::agent::Live;
use crate::summarizer::{ClaudeSummarizer, SummaryWriter, WriteLimits, WriteStop};
use retrace_events::mint::SystemMint;
use retrace_events::payload::{Payload, Turn};
use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

/// Writes until `cancel` is cancelled; nothing where nobody asked for it, because it costs money.
pub(super) fn begin(plan: &IndexPlan, cancel: CancellationToken) {
    let values = &plan.config.values;
    let (client, redactor) = (plan.client.clone(), Arc::clone(&plan.redactor));
    let summarizer =
        ClaudeSummarizer::configured(values, &values.model.value, &plan.models, client, redactor, cancel.clone());
    let Some(summarizer) = summarizer.map(Arc::new) else { return };
    let (mut heard, plan) = (plan.live.listen(), plan.clone());
    on_thread("retrace-summary", cancel, async move {
        let mut writer: Option<SummaryWriter> = None;
        loop {
            let event = match heard.recv().await {
                Ok(Live::Logged(event)) => event,
                Ok(_) | Err(RecvError::Lagged(_)) => continue,
                Err(RecvError::Closed) => return,
            };
            if !matches!(event.payload.known(), Some(Payload::Turn(Turn::Ended(_)))) {
                continue;
            }
            let writer = writer.get_or_insert_with(|| {
                let session = event.envelope.stream.clone();
                let (log, redactor) = (Arc::clone(&plan.log), Arc::clone(&plan.redactor));
                SummaryWriter::new(
                    log,
                    Arc::new(SystemMint),
                    session,
                    summarizer.clone(),
                    redactor,
                    plan.holder.clone(),
                )
            });
            let report = writer.write_missing(WriteLimits::default()).await;
            match report.stopped {
                Some(WriteStop::Refused(why)) => plan.live.send(Live::Notice(format!("no summary was written: {why}"))),
                Some(stopped) => tracing::debug!(%stopped, "summaries wait"),
                None => {}
            }
        }
    });
}

//! Summaries by the API: asked for beside the turn, taken in when they come, and put in place of what they sum up.
//!
//! The request is logged before it is sent, like any other, and settled if nobody was there when it ended. It runs in the
//! background from a share of the budget on; when the budget is reached first, the turn waits for it. Whatever goes wrong,
//! the context begins afresh with a seed of our own.

use super::agent_handle::Agent;
use super::budget;
use super::error::AgentError;
use super::fullness::{Fullness, estimate};
use super::live::Live;
use super::next::Summaries;
use super::request::{failure_kind, usage};
use super::step::step;
use crate::claude::{Answer, COMPACTION_BETA, Failure, ModelRow, summary_in};
use crate::context::{Instructions, compactable_until, compacted_epoch, instructions, kept_from, render_compaction};
use bytes::Bytes;
use retrace_events::fold::{AskedCompaction, Stage, TranscriptItem};
use retrace_events::payload::context::{
    ContextCompactionAnswered, ContextCompactionFailed, ContextCompactionRequested, ContextRetrieved,
};
use retrace_events::payload::turn::TurnFailure;
use retrace_events::{EventId, Hash, Payload, Timestamp};
use std::sync::Arc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How often a summary is asked for in one epoch before it begins afresh without.
const MAX_ATTEMPTS: u32 = 2;

/// The share of the budget that is kept word for word behind a summary, in percent.
const KEPT_PERCENT: u64 = 15;

/// A request for a summary on its way.
pub(super) struct Compacting {
    request: EventId,
    cost_bound_microusd: u64,
    attempt: u32,
    /// Whether the user asked for it.
    wished: bool,
    row: ModelRow,
    sent_at: Timestamp,
    stop: CancellationToken,
    task: JoinHandle<Result<Answer, Failure>>,
    ended: Option<Result<Answer, Failure>>,
}

impl Drop for Compacting {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Ends when the summary has come or has failed; never when none is on its way.
pub(super) async fn ended(compacting: &mut Option<Compacting>) {
    let Some(compacting) = compacting else { return std::future::pending().await };
    if compacting.ended.is_none() {
        let ended = (&mut compacting.task).await;
        compacting.ended = Some(ended.unwrap_or_else(|error| {
            Err(Failure::unanswered(format!("the request for a summary ended unexpectedly: {error}")))
        }));
    }
}

impl Agent {
    /// The betas that the next request needs.
    pub(super) fn betas(&self) -> &'static [&'static str] {
        let compacted = self.state.epoch.as_ref().is_some_and(|epoch| epoch.start.compacted.is_some());
        if compacted { &[COMPACTION_BETA] } else { &[] }
    }

    /// What is known of summaries where the next step is decided.
    pub(super) fn summaries(&self, fullness: Option<&Fullness>) -> Summaries {
        let wanted = self.wishes_compaction || fullness.is_some_and(|full| full.soon() || full.due().is_some());
        Summaries {
            can_be_asked: wanted && self.compactable().is_some(),
            on_its_way: self.compacting.is_some(),
            wished: self.wishes_compaction,
        }
    }

    /// The user wants the context to begin afresh.
    pub(super) fn wish_compaction(&mut self) {
        let answered = |item: &TranscriptItem| matches!(item, TranscriptItem::Answer { carried_over: false, .. });
        let said = if !self.state.transcript.items().iter().any(answered) {
            "there is nothing to sum up yet"
        } else {
            self.wishes_compaction = true;
            "the context begins afresh before the next request"
        };
        self.parts.live.send(Live::Notice(said.to_owned()));
    }

    /// Takes in what has come of a summary; and asks for one that the user wishes, where no turn is going on.
    pub(super) async fn attend_to_summaries(&mut self) -> Result<(), AgentError> {
        if self
            .compacting
            .as_ref()
            .is_some_and(|compacting| compacting.ended.is_some() || compacting.task.is_finished())
        {
            self.take_in_summary().await?;
        }
        let idle = self.state.turn.is_none() && !self.parts.cancel.is_cancelled();
        if idle && self.wishes_compaction && self.compacting.is_none() {
            if let Some(asked) = self.state.compaction.asked {
                self.settle_compaction(asked).await?;
            }
            let used_up = budget::reached(&self.state, self.parts.mint.now(), self.family.as_ref()).is_some();
            if !used_up && self.compactable().is_some() {
                self.compact("the user asked for it".to_owned()).await?;
            }
        }
        Ok(())
    }

    /// Where a summary could end that is asked for now; `None` where none can be had.
    fn compactable(&self) -> Option<u64> {
        let (known, epoch) = (&self.state.compaction, self.state.epoch.as_ref()?);
        let may_ask = known.asked.is_none()
            && known.came.is_none()
            && known.failed_attempts < MAX_ATTEMPTS
            && known.again_at.is_some_and(|at| at.0 <= self.parts.mint.now().0);
        // What the model can do is what is known of it today: the row of the epoch may be older.
        let has_it = self.parts.api_compaction && self.parts.models.row(&epoch.start.model).compaction;
        if !may_ask || !has_it || self.outdated().is_some() {
            return None;
        }
        compactable_until(&self.state, self.keep_from())
    }

    /// From where on what was said is to be kept word for word.
    fn keep_from(&self) -> u64 {
        let (Some(rendered), false) = (&self.rendered, self.wishes_compaction) else { return u64::MAX };
        let body_bytes = rendered.body_bytes();
        let tokens = estimate(&self.state, body_bytes).max(1);
        let budget = self.context_budget().unwrap_or(tokens);
        let kept_bytes = (budget * KEPT_PERCENT / 100).saturating_mul(body_bytes) / tokens;
        kept_from(&self.state.transcript, kept_bytes).unwrap_or(u64::MAX)
    }

    /// Asks the API for a summary, and does not wait for it.
    pub(super) async fn compact(&mut self, why: String) -> Result<(), AgentError> {
        let Some(until_seq) = self.compactable() else { return Ok(()) };
        let body = Bytes::from(render_compaction(&self.state, until_seq)?);
        let (epoch, row) = self.epoch_row();
        let (body_bytes, max_tokens) = (body.len() as u64, self.max_tokens());
        let cost_bound_microusd = row.upper_bound_micros(body_bytes, u64::from(max_tokens));
        let requested = ContextCompactionRequested {
            epoch,
            until_seq,
            body_hash: Hash::of(&body),
            body_bytes,
            model: row.id.clone(),
            estimated_input_tokens: estimate(&self.state, body_bytes),
            cost_bound_microusd,
            why,
        };
        let attempt = self.state.compaction.failed_attempts + 1;
        let events = self.append(vec![(requested.into(), None)]).await?;
        let Some(request) = events.first().map(|event| event.envelope.id) else { return Ok(()) };
        step("before send summary");
        let (client, stop) = (self.parts.client.clone(), self.parts.cancel.child_token());
        let stopped = stop.clone();
        let task = tokio::spawn(async move { client.send(body, &[COMPACTION_BETA], |_| {}, &stopped).await });
        let (wished, sent_at) = (std::mem::take(&mut self.wishes_compaction), self.parts.mint.now());
        let compacting =
            Compacting { request, cost_bound_microusd, attempt, wished, row, sent_at, stop, task, ended: None };
        self.compacting = Some(compacting);
        Ok(())
    }

    /// Waits until the summary has come or has failed, or the user stops the turn.
    pub(super) async fn await_summary(&mut self) -> Result<(), AgentError> {
        let (mut compacting, stop) = (self.compacting.take(), self.ears.step.clone());
        let wait = async {
            tokio::select! {
                () = ended(&mut compacting) => {}
                () = stop.cancelled() => {}
            }
            compacting
        };
        self.compacting = self.attend(wait).await?;
        Ok(())
    }

    /// Gives up the summary that is on its way, if any: stops it, and writes down what it came to.
    pub(super) async fn give_up_summary(&mut self) -> Result<(), AgentError> {
        match &self.compacting {
            Some(compacting) => compacting.stop.cancel(),
            None => return Ok(()),
        }
        self.take_in_summary().await
    }

    /// Writes down what has come of the summary, waiting for it to end.
    async fn take_in_summary(&mut self) -> Result<(), AgentError> {
        ended(&mut self.compacting).await;
        let Some(mut compacting) = self.compacting.take() else { return Ok(()) };
        step("after receive summary");
        let request = compacting.request;
        let payload: Payload = match compacting.ended.take() {
            Some(Ok(answer)) => {
                let block = summary_in(&answer).map(str::to_owned);
                if block.is_none() {
                    let stop_reason = answer.stop_reason.as_str();
                    self.without_summary(&compacting, &format!("the API wrote none ({stop_reason})"));
                }
                ContextCompactionAnswered {
                    request,
                    block,
                    stop_reason: answer.stop_reason.as_str().to_owned(),
                    model: answer.model,
                    usage: usage(&answer.usage),
                    cost_microusd: compacting.row.cost_micros(&answer.usage),
                    request_id: answer.request_id,
                    duration_ms: self.parts.mint.now().since_ms(compacting.sent_at),
                }
                .into()
            }
            Some(Err(failure)) => self.failed_summary(&compacting, failure).into(),
            None => return Ok(()),
        };
        self.append(vec![(payload, Some(request))]).await?;
        Ok(())
    }

    fn failed_summary(&mut self, compacting: &Compacting, failure: Failure) -> ContextCompactionFailed {
        let kind = failure_kind(failure.kind);
        let wait = self.retry.next(compacting.attempt, &failure, &mut rand::rng());
        let mut retry_in_ms = wait
            .filter(|_| compacting.attempt < MAX_ATTEMPTS)
            .map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        let message = self.parts.redactor.redact(&failure.message).into_owned();
        if kind == TurnFailure::Cancelled {
            // Nobody refused it.
            retry_in_ms = Some(0);
        } else {
            self.without_summary(compacting, &message);
        }
        ContextCompactionFailed {
            request: compacting.request,
            failure: kind,
            status: failure.status,
            message,
            request_id: failure.request_id,
            billed_microusd: if failure.sent.may_be_billed() { compacting.cost_bound_microusd } else { 0 },
            retry_in_ms,
        }
    }

    /// Says that there is no summary; what the user wished for is had without.
    fn without_summary(&mut self, compacting: &Compacting, why: &str) {
        self.wishes_compaction |= compacting.wished;
        let notice = format!("no summary by the API: {why}; where the context begins afresh, it is with retrace's own");
        self.parts.live.send(Live::Notice(notice));
    }

    /// A summary was asked for by a process that is gone: it counts at the most it can have cost.
    pub(super) async fn settle_compaction(&mut self, asked: AskedCompaction) -> Result<(), AgentError> {
        let AskedCompaction { request, cost_bound_microusd: billed_microusd, .. } = asked;
        let lost = ContextCompactionFailed {
            request,
            failure: TurnFailure::Lost,
            status: None,
            message: "retrace was stopped while it waited for the summary; whether there was one is unknown".to_owned(),
            request_id: None,
            billed_microusd,
            retry_in_ms: Some(0),
        };
        self.append(vec![(lost.into(), Some(request))]).await.map(drop)
    }

    /// Puts the summary that has come in the place of what it sums up. Instruction files, which it may have lost, are put at the
    /// tail: nothing may stand between a summary and what is kept.
    pub(super) async fn begin_compacted_epoch(&mut self) -> Result<(), AgentError> {
        let (sandbox, redactor) = (self.sandbox().await?, Arc::clone(&self.parts.redactor));
        let folder = self.parts.user_instructions.clone();
        let Instructions { passages, notices } =
            self.attend(instructions::collect(&sandbox, &folder, &redactor)).await?;
        if self.ears.told_to_stop() {
            return Ok(());
        }
        notices.into_iter().for_each(|notice| self.parts.live.send(Live::Notice(notice)));
        let (Some(epoch), Some(came)) = (&self.state.epoch, &self.state.compaction.came) else { return Ok(()) };
        let why = "the API's summary takes the place of what it sums up".to_owned();
        let start = compacted_epoch(&epoch.start, came.block.clone(), came.until_seq, why);
        let mut batch: Vec<(Payload, Option<EventId>)> = vec![(start.into(), Some(came.event))];
        let asks = self.state.turn.as_ref().is_some_and(|turn| matches!(turn.stage, Stage::Ask { .. }));
        if !passages.is_empty() && asks {
            let query = "instructions, which a summary may have lost".to_owned();
            batch.push((ContextRetrieved { query, passages, index_position: 0 }.into(), None));
        }
        self.append(batch).await?;
        Ok(())
    }
}

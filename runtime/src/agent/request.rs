//! One attempt at a request: rendered, logged, sent, and its answer or failure logged.

use super::agent_handle::Agent;
use super::error::AgentError;
use super::fullness::estimate;
use super::live::Live;
use super::next::broke_off;
use super::shown::shown;
use super::step::step;
use crate::claude::{self, Answer, Block, FailureKind, ModelRow, StopReason};
use retrace_events::payload::tool::{ToolCalled, ToolEffect, ToolFinished};
use retrace_events::payload::turn::{TurnAnswered, TurnEnded, TurnFailed, TurnFailure, TurnRequested, Usage};
use retrace_events::{CallId, EventId, Hash, Payload, Timestamp};
use std::time::Duration;

impl Agent {
    /// Makes one attempt at the next request, not before the given moment.
    pub(super) async fn request(&mut self, not_before: Timestamp, attempt: u32) -> Result<(), AgentError> {
        if !self.wait_until(not_before).await? {
            return Ok(());
        }
        let body = self.body()?;
        let (epoch, row) = self.epoch_row();
        let body_bytes = body.len() as u64;
        let max_tokens = self.max_tokens();
        let cost_bound_microusd = row.upper_bound_micros(body_bytes, u64::from(max_tokens));
        let requested = TurnRequested {
            attempt,
            epoch,
            body_hash: Hash::of(&body),
            body_bytes,
            model: row.id.clone(),
            estimated_input_tokens: estimate(&self.state, body_bytes),
            cost_bound_microusd,
        };
        let events = self.append(vec![(requested.into(), None)]).await?;
        let Some(request) = events.first().map(|event| event.envelope.id) else { return Ok(()) };
        step("before send");
        let sent_at = self.parts.mint.now();
        let (client, live, stop) = (self.parts.client.clone(), self.parts.live.clone(), self.ears.step.clone());
        let on_delta = |delta| {
            if let Some(seen) = shown(delta) {
                live.send(seen);
            }
        };
        let result = self.attend(client.send(body, self.betas(), on_delta, &stop)).await?;
        step("after receive");
        match result {
            Ok(answer) => self.log_answer(request, &row, answer, sent_at).await,
            Err(failure) => self.log_failure(request, attempt, failure, cost_bound_microusd).await,
        }
    }

    /// The most tokens that an answer may have.
    pub(super) fn max_tokens(&self) -> u32 {
        self.state.epoch.as_ref().map_or(self.settings.max_tokens, |epoch| epoch.start.max_tokens)
    }

    /// Waits; false when the user stopped the turn meanwhile.
    async fn wait_until(&mut self, moment: Timestamp) -> Result<bool, AgentError> {
        let wait_ms = moment.since_ms(self.parts.mint.now());
        if wait_ms == 0 {
            return Ok(true);
        }
        let stop = self.ears.step.clone();
        let wait = async {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(wait_ms)) => true,
                () = stop.cancelled() => false,
            }
        };
        self.attend(wait).await
    }

    async fn log_answer(
        &mut self,
        request: EventId,
        row: &ModelRow,
        answer: Answer,
        sent_at: Timestamp,
    ) -> Result<(), AgentError> {
        let refused = unusable_calls(&answer);
        let stop_reason = answer.stop_reason.as_str().to_owned();
        let answered = TurnAnswered {
            request,
            content: answer.content_json,
            model: answer.model,
            stop_reason: stop_reason.clone(),
            stop_details: answer.stop_details,
            usage: usage(&answer.usage),
            cost_microusd: row.cost_micros(&answer.usage),
            request_id: answer.request_id,
            duration_ms: self.parts.mint.now().since_ms(sent_at),
        };
        // The calls that must not run are settled in the same batch, so that no crash can part them from the answer.
        let mut batch: Vec<(Payload, Option<EventId>)> = vec![(answered.into(), Some(request))];
        for refused in refused {
            let RefusedCall { call, tool, input, why } = refused;
            let called = ToolCalled { call: call.clone(), tool, input, request, effect: ToolEffect::ReadOnly };
            batch.push((called.into(), Some(request)));
            batch.push((not_run(call, why).into(), Some(request)));
        }
        // With calls in the answer, their results would have the turn go on.
        if let Some((outcome, note)) = broke_off(&stop_reason).filter(|_| batch.len() > 1) {
            batch.push((TurnEnded { outcome, note: note.to_owned() }.into(), Some(request)));
        }
        self.append(batch).await?;
        Ok(())
    }

    async fn log_failure(
        &mut self,
        request: EventId,
        attempt: u32,
        failure: claude::Failure,
        cost_bound_microusd: u64,
    ) -> Result<(), AgentError> {
        let wait = self.retry.next(attempt, &failure, &mut rand::rng());
        let retry_in_ms = wait.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        let message = self.parts.redactor.redact(&failure.message).into_owned();
        if let Some(wait_ms) = retry_in_ms {
            self.parts.live.send(Live::Waiting { why: message.clone(), wait_ms });
        }
        let failed = TurnFailed {
            request,
            failure: failure_kind(failure.kind),
            status: failure.status,
            message,
            request_id: failure.request_id,
            partial: failure.partial.map(|partial| partial.content_json),
            billed_microusd: if failure.sent.may_be_billed() { cost_bound_microusd } else { 0 },
            retry_in_ms,
        };
        self.append(vec![(failed.into(), Some(request))]).await?;
        Ok(())
    }
}

/// A call of an answer that must not be run.
struct RefusedCall {
    call: CallId,
    tool: String,
    input: String,
    why: &'static str,
}

/// Calls whose input is no JSON object, the one an answer was cut in (its input may look whole and not be), and all of an
/// answer that broke off.
fn unusable_calls(answer: &Answer) -> Vec<RefusedCall> {
    let cut = answer.stop_reason == StopReason::MaxTokens;
    let broke_off = broke_off(answer.stop_reason.as_str()).is_some();
    let last = answer.blocks.len().saturating_sub(1);
    let mut refused = Vec::new();
    for (place, block) in answer.blocks.iter().enumerate() {
        let Block::ToolUse { id, name, input_json, broken_input } = block else { continue };
        let why = match broken_input {
            _ if broke_off => "the answer broke off",
            _ if cut && place == last => "the answer was cut at its token limit inside this call",
            Some(_) => "its input is not a JSON object",
            None => continue,
        };
        let input = broken_input.as_ref().unwrap_or(input_json).clone();
        refused.push(RefusedCall { call: CallId(id.clone()), tool: name.clone(), input, why });
    }
    refused
}

fn not_run(call: CallId, why: &str) -> ToolFinished {
    ToolFinished {
        call,
        is_error: true,
        content: format!("The call was not run: {why}."),
        exit: None,
        output: None,
        changed: Vec::new(),
        duration_ms: 0,
    }
}

/// Token counts as they are logged.
pub(super) fn usage(usage: &claude::Usage) -> Usage {
    Usage {
        input_tokens: usage.input_tokens,
        cache_write_5m_tokens: usage.cache_write_5m(),
        cache_write_1h_tokens: usage.cache_creation_1h_input_tokens,
        cache_read_tokens: usage.cache_read_input_tokens,
        output_tokens: usage.output_tokens,
    }
}

/// A failure as it is logged.
pub(super) const fn failure_kind(kind: FailureKind) -> TurnFailure {
    match kind {
        FailureKind::RateLimited => TurnFailure::RateLimited,
        FailureKind::Overloaded => TurnFailure::Overloaded,
        FailureKind::Server => TurnFailure::Server,
        FailureKind::Timeout => TurnFailure::Timeout,
        FailureKind::Connection => TurnFailure::Connection,
        FailureKind::Stream => TurnFailure::Stream,
        FailureKind::Unfinished => TurnFailure::Unfinished,
        FailureKind::InvalidRequest => TurnFailure::InvalidRequest,
        FailureKind::Authentication => TurnFailure::Authentication,
        FailureKind::Permission => TurnFailure::Permission,
        FailureKind::NotFound => TurnFailure::NotFound,
        FailureKind::TooLarge => TurnFailure::TooLarge,
        FailureKind::Cancelled => TurnFailure::Cancelled,
    }
}

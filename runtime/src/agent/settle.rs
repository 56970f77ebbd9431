//! Settles what a crash or an interruption left open: requests whose answer nobody saw, and calls whose end nobody saw.

use super::agent_handle::Agent;
use super::error::AgentError;
use super::hearing::Stop;
use super::parting::whole_result;
use retrace_events::fold::{CallProgress, OpenCall, Stage};
use retrace_events::payload::session::SessionControlHandled;
use retrace_events::payload::tool::{ToolDenied, ToolEffect, ToolFinished, ToolOutcomeUnknown};
use retrace_events::payload::turn::{TurnFailed, TurnFailure, TurnInterrupted};
use retrace_events::{CallId, EventId, Payload, SessionState};

impl Agent {
    /// A request was sent by a process that is gone: it counts at the most it can have cost, and is made again.
    pub(super) async fn settle_request(&mut self, request: EventId, bound_microusd: u64) -> Result<(), AgentError> {
        let lost = lost_request(request, bound_microusd, TurnFailure::Lost, Some(0));
        self.append(vec![(lost.into(), Some(request))]).await?;
        Ok(())
    }

    /// A call was begun by a process that is gone, and may have done something.
    pub(super) async fn settle_call(&mut self, call: OpenCall) -> Result<(), AgentError> {
        self.log_unknown(call.id, "retrace was restarted while the call was running").await
    }

    /// Ends the turn because somebody wants it: everything open is settled in the same batch, and so is the wish.
    pub(super) async fn interrupt_as_told(&mut self) -> Result<(), AgentError> {
        let stop = self.ears.stop.take();
        let by = stop.as_ref().map_or_else(|| "signal".to_owned(), |stop| stop.by.clone());
        let mut batch = self.files_as_left().await;
        batch.extend(settlements(&self.state, "the user interrupted the turn"));
        let stage = self.state.turn.as_ref().map(|turn| &turn.stage);
        let during = match stage {
            Some(Stage::Waiting { request, cost_bound_microusd }) => {
                let lost = lost_request(*request, *cost_bound_microusd, TurnFailure::Cancelled, None);
                batch.push((lost.into(), Some(*request)));
                "a request"
            }
            Some(Stage::GaveUp { failure: TurnFailure::Cancelled, .. }) => "a request",
            _ if self.state.calls.is_empty() => "between two steps",
            _ => "tool calls",
        };
        let cause = stop.as_ref().map(|stop| stop.asked.0);
        batch.push((TurnInterrupted { by, during: during.to_owned() }.into(), cause));
        batch.extend(stop.map(|stop| handled(&stop, true, "interrupted")));
        self.append(batch).await?;
        self.ears.step = self.parts.cancel.child_token();
        Ok(())
    }

    /// The turn was over before it could be interrupted.
    pub(super) async fn stop_came_late(&mut self) -> Result<(), AgentError> {
        if let Some(stop) = self.ears.stop.take() {
            self.append(vec![handled(&stop, false, "the turn was over already")]).await?;
        }
        self.ears.step = self.parts.cancel.child_token();
        Ok(())
    }

    /// Gives every open call a result, so that the conversation stays whole.
    pub(super) async fn settle_open_calls(&mut self, why: &str) -> Result<(), AgentError> {
        let mut batch = self.files_as_left().await;
        batch.extend(settlements(&self.state, why));
        if !batch.is_empty() {
            self.append(batch).await?;
        }
        Ok(())
    }
}

/// A result for every open call.
pub(crate) fn settlements(state: &SessionState, why: &str) -> Vec<(Payload, Option<EventId>)> {
    let open = state.calls.iter().filter(|call| call.progress != CallProgress::Done);
    let (wholes, parts): (Vec<&OpenCall>, Vec<&OpenCall>) =
        open.partition(|call| state.parted_call(&call.id).is_some());
    let mut batch: Vec<(Payload, Option<EventId>)> =
        parts.into_iter().map(|call| (settlement(call, why).0, None)).collect();
    // What a call is made of comes before itself.
    batch.extend(wholes.into_iter().map(|whole| (broken_off(state, whole, why), None)));
    batch
}

/// The result of a call that is made of others, not all of which were done.
fn broken_off(state: &SessionState, whole: &OpenCall, why: &str) -> Payload {
    let open = |part: &CallId| state.calls.iter().find(|call| call.id == *part);
    let told = |part: &CallId| open(part).map(|call| settlement(call, why).1).unwrap_or_default();
    let content = format!("Interrupted: {why}.\n\n{}", whole_result(state, &whole.id, told));
    let (call, changed) = (whole.id.clone(), Vec::new());
    ToolFinished { call, is_error: true, content, exit: None, output: None, changed, duration_ms: 0 }.into()
}

/// That the wish to stop was heard.
fn handled(stop: &Stop, accepted: bool, note: &str) -> (Payload, Option<EventId>) {
    let (event, seq) = stop.asked;
    (SessionControlHandled { event, seq, accepted, note: note.to_owned() }.into(), Some(event))
}

/// The result of a call that is broken off, and what the model is told of it.
fn settlement(call: &OpenCall, why: &str) -> (Payload, String) {
    let call_id = call.id.clone();
    match call.progress {
        CallProgress::Begun(ToolEffect::Writes) => {
            let content = format!(
                "Interrupted: {why}. It is not known how far this call was carried out; look before repeating it."
            );
            (ToolOutcomeUnknown { call: call_id, content: content.clone() }.into(), content)
        }
        CallProgress::Begun(ToolEffect::ReadOnly) | CallProgress::Asked | CallProgress::Done => {
            let content = format!("Not carried out: {why}.");
            (ToolDenied { call: call_id, by: "interruption".to_owned(), content: content.clone() }.into(), content)
        }
    }
}

fn lost_request(request: EventId, billed_microusd: u64, failure: TurnFailure, retry_in_ms: Option<u64>) -> TurnFailed {
    TurnFailed {
        request,
        failure,
        status: None,
        message: "retrace was stopped while it waited for the answer; whether there was one is unknown".to_owned(),
        request_id: None,
        partial: None,
        billed_microusd,
        retry_in_ms,
    }
}

//! What to do next, as a pure function of the session's state.

use super::budget;
use retrace_events::fold::{OpenCall, Stage, TurnState};
use retrace_events::payload::tool::ToolEffect;
use retrace_events::payload::turn::TurnOutcome;
use retrace_events::{EventId, SessionState, Timestamp, fold::CallProgress};

/// How many answers in a row may be cut at their token limit before the turn ends.
const MAX_CUT_ANSWERS: u32 = 3;

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing: no turn is open.
    Idle,
    /// Begin the first epoch.
    BeginEpoch,
    /// Make a request, not before the given moment.
    Request { not_before: Timestamp, attempt: u32 },
    /// The request was sent by a process that is gone: settle its cost.
    SettleRequest { request: EventId, cost_bound_microusd: u64 },
    /// Carry out calls, all at once; more may follow.
    Run(Vec<OpenCall>),
    /// The call was begun by a process that is gone, and may have done something.
    SettleCall(OpenCall),
    /// End the turn.
    End { outcome: TurnOutcome, note: String },
}

/// Decides what to do next. `now` matters only for the budget of time.
pub(super) fn next(state: &SessionState, now: Timestamp) -> Next {
    let Some(turn) = &state.turn else { return Next::Idle };
    match &turn.stage {
        Stage::Ask { not_before } => ask(state, turn, *not_before, now),
        Stage::Waiting { request, cost_bound_microusd } => {
            Next::SettleRequest { request: *request, cost_bound_microusd: *cost_bound_microusd }
        }
        Stage::Calls => calls(&state.calls),
        Stage::Answered { stop_reason } => answered(state, turn, stop_reason, now),
        Stage::GaveUp { failure, message } => {
            Next::End { outcome: TurnOutcome::RequestFailed, note: format!("{failure:?}: {message}") }
        }
    }
}

fn ask(state: &SessionState, turn: &TurnState, not_before: Timestamp, now: Timestamp) -> Next {
    if state.epoch.is_none() {
        return Next::BeginEpoch;
    }
    if let Some(note) = budget::reached(state, now) {
        return Next::End { outcome: TurnOutcome::BudgetReached, note };
    }
    if turn.cut_answers >= MAX_CUT_ANSWERS {
        let note = format!("{MAX_CUT_ANSWERS} answers in a row were cut at their token limit");
        return Next::End { outcome: TurnOutcome::AnswerTooLong, note };
    }
    Next::Request { not_before, attempt: turn.failed_attempts + 1 }
}

/// Calls that only look run at once, as far as they stand together; one that may change something runs alone, in its
/// place. A call that was begun by a process that is gone is run again if it only looks, and settled otherwise.
fn calls(calls: &[OpenCall]) -> Next {
    let mut open = calls.iter().filter(|call| call.progress != CallProgress::Done).peekable();
    if let Some(begun) = open.peek().filter(|call| call.progress == CallProgress::Begun(ToolEffect::Writes)) {
        return Next::SettleCall((*begun).clone());
    }
    let together: Vec<OpenCall> = open.take_while(|call| only_looks(call)).cloned().collect();
    if !together.is_empty() {
        return Next::Run(together);
    }
    let alone = calls.iter().find(|call| call.progress != CallProgress::Done);
    alone.map_or(Next::Idle, |call| Next::Run(vec![call.clone()]))
}

fn only_looks(call: &OpenCall) -> bool {
    match call.progress {
        CallProgress::Begun(effect) => effect == ToolEffect::ReadOnly,
        CallProgress::Asked => crate::tools::effect_of(&call.tool) == ToolEffect::ReadOnly,
        CallProgress::Done => false,
    }
}

fn answered(state: &SessionState, turn: &TurnState, stop_reason: &str, now: Timestamp) -> Next {
    let end = |outcome, note: &str| Next::End { outcome, note: note.to_owned() };
    match stop_reason {
        "end_turn" | "stop_sequence" | "tool_use" => end(TurnOutcome::Completed, "done"),
        "max_tokens" => end(TurnOutcome::AnswerTooLong, "the answer was cut at its token limit"),
        // The API asks for the same turn to be sent back so that it can go on.
        "pause_turn" => ask(state, turn, Timestamp(0), now),
        other => match broke_off(other) {
            Some((outcome, note)) => end(outcome, note),
            None => end(
                TurnOutcome::Completed,
                &format!("the model stopped for a reason this version does not know: {other}"),
            ),
        },
    }
}

/// How a turn ends whose answer stopped for a reason after which nothing of it may be carried out, calls included.
pub(super) fn broke_off(stop_reason: &str) -> Option<(TurnOutcome, &'static str)> {
    match stop_reason {
        "refusal" => Some((TurnOutcome::Refused, "the model declined to answer")),
        "model_context_window_exceeded" => Some((TurnOutcome::ContextFull, "the model's context window is full")),
        _ => None,
    }
}

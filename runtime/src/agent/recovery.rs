//! Requests that failed for a reason a fresh context cures. Tried once: a second failure in a row ends the turn.

use retrace_events::SessionState;
use retrace_events::fold::{Stage, TranscriptItem, TurnState};
use retrace_events::payload::turn::TurnFailure;

/// What the API says where thinking does not stand behind the prefix it was given behind.
const BOUND: &[&str] =
    &["bound to a different conversation", "thinking blocks cannot be modified", "invalid `signature`"];

/// What it says where a request does not fit the model's window.
const TOO_LONG: &[&str] = &["prompt is too long", "exceed context limit", "exceeds the context window"];

/// Why a fresh epoch is worth trying after the failure of a request, in words; `None` where it is not.
pub(super) fn recovery(state: &SessionState, turn: &TurnState, failure: TurnFailure, message: &str) -> Option<String> {
    // Without an answer there is nothing that a fresh one could do without.
    let answered = state.transcript.items().iter().any(|item| matches!(item, TranscriptItem::Answer { .. }));
    if turn.recoveries > 0 || !answered {
        return None;
    }
    let compacted = state.epoch.as_ref().is_some_and(|epoch| epoch.start.compacted.is_some());
    match failure {
        TurnFailure::InvalidRequest if compacted => {
            Some("the API did not take the request with its own summary".to_owned())
        }
        TurnFailure::InvalidRequest if says(message, BOUND) => {
            Some("the API did not take the thinking back, which goes with the old context".to_owned())
        }
        TurnFailure::InvalidRequest if says(message, TOO_LONG) => {
            Some("the request did not fit the model's window".to_owned())
        }
        TurnFailure::TooLarge => Some("the request was larger than the API takes".to_owned()),
        TurnFailure::InvalidRequest
        | TurnFailure::RateLimited
        | TurnFailure::Overloaded
        | TurnFailure::Server
        | TurnFailure::Timeout
        | TurnFailure::Connection
        | TurnFailure::Stream
        | TurnFailure::Unfinished
        | TurnFailure::Authentication
        | TurnFailure::Permission
        | TurnFailure::NotFound
        | TurnFailure::Cancelled
        | TurnFailure::Lost => None,
    }
}

fn says(message: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| message.contains(phrase))
}

/// Whether the turn stands where it does because the last request was too large.
pub(super) fn was_too_large(turn: &TurnState) -> bool {
    match &turn.stage {
        Stage::Answered { stop_reason } => recovery_of_answer(turn, stop_reason).is_some(),
        Stage::GaveUp { failure: TurnFailure::TooLarge, .. } => true,
        Stage::GaveUp { message, .. } => says(message, TOO_LONG),
        Stage::Ask { .. } | Stage::Waiting { .. } | Stage::Calls => false,
    }
}

/// Why a fresh epoch is worth trying after an answer that broke off; `None` where it is not.
pub(super) fn recovery_of_answer(turn: &TurnState, stop_reason: &str) -> Option<String> {
    (turn.recoveries == 0 && stop_reason == "model_context_window_exceeded")
        .then(|| "the answer did not fit the model's window beside the context".to_owned())
}

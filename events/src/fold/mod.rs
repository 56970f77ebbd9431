//! The session fold: the state of a session as a function of its events, and of nothing else.
//!
//! `apply` does no I/O and reads no clock, so the process that runs a session, one that resumes it after a crash and one
//! that replays it years later all see the same. What to do next is decided by the runtime from this state.

mod calls;
mod compaction;
mod context_events;
mod files_at;
mod forked_part;
mod images;
mod imported;
mod kept_outputs;
mod measured;
mod queue;
mod session_events;
mod session_state;
mod step_record;
mod step_text;
mod tool_events;
mod totals;
mod transcript;
mod turn_events;
mod turn_state;

#[cfg(test)]
mod compaction_tests;
#[cfg(test)]
mod conversation_tests;
#[cfg(test)]
mod imported_tests;
#[cfg(test)]
mod kept_outputs_tests;
#[cfg(test)]
mod load_tests;
#[cfg(test)]
mod stored_tests;
#[cfg(test)]
mod tests;

pub use calls::{CallApproval, CallProgress, OpenCall};
pub use compaction::{AskedCompaction, CameCompaction, Compaction};
pub use files_at::FilesAt;
pub use forked_part::ForkedPart;
pub use images::PendingImages;
pub use imported::ImportedPart;
pub use kept_outputs::KeptOutputs;
pub use measured::{Measured, SentRequest};
pub use queue::QueuedPrompt;
pub use session_state::{Epoch, SessionState};
pub use step_record::{CallRecord, StepRecord, keep_step};
pub use step_text::StepText;
pub use totals::Totals;
pub use transcript::{Image, Transcript, TranscriptItem};
pub use turn_state::{Stage, TurnState};

use crate::codec::CodecError;
use crate::envelope::{Envelope, Event};
use crate::history::History;
use crate::id::StreamId;
use crate::log::{EventLog, LogError};

/// How many events are read from the log at a time.
const PAGE: usize = 2_000;

/// Folds `envelopes`.
///
/// # Errors
/// When a payload cannot be decoded.
pub fn fold(envelopes: impl IntoIterator<Item = Envelope>) -> Result<SessionState, CodecError> {
    let mut state = SessionState::default();
    for envelope in envelopes {
        state.apply(&Event::decode(envelope)?);
    }
    Ok(state)
}

/// Reads a session's history from its first event and folds it, checking the hash chain on the way.
///
/// # Errors
/// When the log cannot be read, an event is damaged, missing or out of its chain, or an ancestor is not in the log.
pub async fn load(log: &dyn EventLog, stream: &StreamId) -> Result<SessionState, LogError> {
    let history = History::of(log, stream).await?;
    let mut state = SessionState::default();
    continue_from(log, &history, &mut state).await?;
    Ok(state)
}

/// Reads and folds a session's own events alone: of a fork, what it did itself, as if it had begun with nothing.
///
/// # Errors
/// As [`load`]; that an ancestor is missing is none.
pub async fn load_own(log: &dyn EventLog, stream: &StreamId) -> Result<SessionState, LogError> {
    let mut state = SessionState::default();
    continue_from(log, &History::alone(stream.clone()), &mut state).await?;
    Ok(state)
}

/// Takes in what the history has beyond `state`, which is one of its states.
///
/// # Errors
/// As [`load`].
pub async fn continue_from(log: &dyn EventLog, history: &History, state: &mut SessionState) -> Result<(), LogError> {
    continue_until(log, history, state, u64::MAX).await
}

/// As [`continue_from`], but takes nothing in from place `until` on.
///
/// # Errors
/// As [`load`].
pub async fn continue_until(
    log: &dyn EventLog,
    history: &History,
    state: &mut SessionState,
    until: u64,
) -> Result<(), LogError> {
    loop {
        let place = state.next_place();
        let limit = usize::try_from(until.saturating_sub(place)).unwrap_or(PAGE).min(PAGE);
        if limit == 0 {
            return Ok(());
        }
        let page = history.read(log, place, limit).await?;
        if page.is_empty() {
            return Ok(());
        }
        for envelope in page {
            follows(history, state, &envelope)?;
            state.apply(&Event::decode(envelope)?);
        }
    }
}

/// Refuses an event that is not the next one of the history behind `state`, in whichever stream it is.
///
/// # Errors
/// [`LogError::Damaged`] with its place.
pub fn follows(history: &History, state: &SessionState, envelope: &Envelope) -> Result<(), LogError> {
    let (stream, seq) = history.at(state.next_place());
    // Without its parent a fork's first event is linked to nothing that was read.
    let is_alone = state.head.is_none() && envelope.kind == "session.forked";
    if envelope.seq == seq && (envelope.prev_hash == state.head_hash() || is_alone) {
        return Ok(());
    }
    let what = "it does not follow from the event before it".to_owned();
    Err(LogError::Damaged { stream: stream.subject(), seq, what })
}

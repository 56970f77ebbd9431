//! The session fold: the state of a session as a function of its events, and of nothing else.
//!
//! `apply` does no I/O and reads no clock, so the process that runs a session, one that resumes it after a crash and one
//! that replays it years later all see the same. What to do next is decided by the runtime from this state.

mod calls;
mod compaction;
mod images;
mod imported;
mod kept_outputs;
mod measured;
mod queue;
mod session_state;
mod step_record;
mod step_text;
mod totals;
mod transcript;
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
mod tests;

pub use calls::{CallApproval, CallProgress, OpenCall};
pub use compaction::{AskedCompaction, CameCompaction, Compaction};
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

/// Reads a session's stream from its first event and folds it, checking the hash chain on the way.
///
/// # Errors
/// When the log cannot be read, or an event is damaged, missing or out of its chain.
pub async fn load(log: &dyn EventLog, stream: &StreamId) -> Result<SessionState, LogError> {
    let mut state = SessionState::default();
    loop {
        let next = state.next_seq();
        let page = log.read(stream, next, PAGE).await?;
        let full = page.len() == PAGE;
        for envelope in page {
            let (expected, prev) = (state.next_seq(), state.head_hash());
            let forked = expected == 0 && envelope.kind == "session.forked";
            if envelope.seq != expected || (envelope.prev_hash != prev && !forked) {
                let what = "it does not follow from the event before it".to_owned();
                return Err(LogError::Damaged { stream: stream.subject(), seq: expected, what });
            }
            state.apply(&Event::decode(envelope)?);
        }
        if !full {
            return Ok(state);
        }
    }
}

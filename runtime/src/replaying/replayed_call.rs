//! A call that was carried out again, and how it stands to what it came to then.

use super::comparison::{CallOutcome, Likeness};
use super::files::FilesLikeness;
use super::not_compared::NotCompared;
use retrace_events::{CallId, StreamId};

/// How a call stands to what it came to then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallVerdict {
    /// It was compared.
    Compared(Likeness),
    /// It was not, for this reason.
    NotCompared(NotCompared),
}

/// A call that was carried out again, or passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayedCall {
    /// The stream that holds its end, and the event's number there.
    pub event: (StreamId, u64),
    /// The model's id of it.
    pub call: CallId,
    /// The tool; empty for a call that was settled before it was begun.
    pub tool: String,
    /// Its input, as the model wrote it.
    pub input: String,
    /// The result against the logged one.
    pub verdict: CallVerdict,
    /// The files behind it against the logged ones.
    pub files: FilesLikeness,
    /// What the log has and what came now, where they differ.
    pub outcomes: Option<(CallOutcome, CallOutcome)>,
    /// The same as a unified diff after normalising; empty where they do not differ.
    pub difference: String,
    /// How long it took, then and now, in milliseconds.
    pub duration_ms: (u64, u64),
}

impl ReplayedCall {
    /// Whether it did not come to the same.
    #[must_use]
    pub fn diverges(&self) -> bool {
        self.files.differs() || self.verdict == CallVerdict::Compared(Likeness::Differs)
    }
}

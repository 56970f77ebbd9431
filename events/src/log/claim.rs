//! Claims: the presence of the process that runs a session.

use super::{Holder, LogError};
use crate::id::StreamId;
use std::fmt;

/// A stream that this process holds, for as long as this value lives. It keeps nobody from writing: the fence does.
#[must_use = "the stream is free again as soon as this is dropped"]
pub struct Claim {
    stream: StreamId,
    /// Frees the stream when it is dropped.
    _hold: Box<dyn Send + Sync>,
}

impl Claim {
    pub(crate) fn new(stream: StreamId, hold: impl Send + Sync + 'static) -> Self {
        Self { stream, _hold: Box::new(hold) }
    }

    /// The stream.
    #[must_use]
    pub const fn stream(&self) -> &StreamId {
        &self.stream
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim").field("stream", &self.stream).finish_non_exhaustive()
    }
}

/// Why a stream could not be claimed.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// Somebody else holds it.
    #[error("it is held by {0}")]
    Held(Holder),
    /// The log cannot be asked.
    #[error(transparent)]
    Log(#[from] LogError),
}

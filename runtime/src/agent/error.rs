//! Why the agent could not go on. What the model did wrong is never one of these: that is told to the model.

use crate::context::{EpochError, RenderError};
use crate::travelling::ShareError;
use retrace_events::log::{ClaimError, Holder};
use retrace_events::{LogError, StreamId};
use retrace_sandbox::SandboxError;
use retrace_sandbox::snapshot::SnapshotError;
use std::path::PathBuf;

/// Why the agent could not go on.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The log did not do what it was asked.
    #[error(transparent)]
    Log(#[from] LogError),
    /// There is no sandbox, or none that is shut off as asked.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The workspace's files could not be restored.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The workspace's files could not be fetched from beside the log.
    #[error(transparent)]
    Share(#[from] ShareError),
    /// There is no such session.
    #[error("there is no session {0}")]
    NoSuchSession(StreamId),
    /// The session has events that only a newer version understands.
    #[error("session {stream} cannot be continued by this version: it contains {what}")]
    Newer {
        /// The session.
        stream: StreamId,
        /// What is not understood.
        what: String,
    },
    /// Another process holds it.
    #[error("session {} is held by {}", stream.id, words(holder))]
    Held {
        /// The session.
        stream: StreamId,
        /// Who holds it.
        holder: Box<Holder>,
    },
    /// The session was closed for good.
    #[error("session {0} is closed")]
    Closed(StreamId),
    /// The workspace is not there, or is no folder.
    #[error("the workspace {} cannot be used: {why}", path.display())]
    Workspace {
        /// Its path.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// Images that do not fit.
    #[error("{0}")]
    Images(String),
    /// A prompt without words.
    #[error("the prompt is empty")]
    EmptyPrompt,
    /// The next request cannot be rendered.
    #[error("cannot render the next request: {0}")]
    Render(#[from] RenderError),
    /// The context cannot be written down.
    #[error(transparent)]
    Epoch(#[from] EpochError),
}

impl AgentError {
    /// That `stream` could not be claimed.
    pub(crate) fn unclaimed(stream: &StreamId, error: ClaimError) -> Self {
        match error {
            ClaimError::Held(holder) => Self::Held { stream: stream.clone(), holder: Box::new(holder) },
            ClaimError::Log(error) => error.into(),
        }
    }
}

/// Who holds a session, for people. The holder's words come from another process: whoever shows them cleans them.
fn words(holder: &Holder) -> String {
    format!("`{}` (process {} on {})", holder.command, holder.pid, holder.host)
}

//! Why a session's calls cannot be carried out again.

use crate::travelling::ShareError;
use retrace_events::codec::CodecError;
use retrace_events::{LogError, StreamId};
use retrace_sandbox::SandboxError;
use retrace_sandbox::snapshot::SnapshotError;
use std::path::PathBuf;

/// Why a session's calls cannot be carried out again.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// There is no such session.
    #[error("there is no session {0}")]
    NoSuchSession(StreamId),
    /// Another program made its calls.
    #[error("session {} was imported: its calls are another program's, and not retrace's to carry out", .0.id)]
    Foreign(StreamId),
    /// No snapshot of its files was taken.
    #[error("session {} has no snapshot of its files, so there is nothing to begin with\nhint: snapshots are taken where a turn has a call that may write, since this version; `--show` and `--verify` need none", .0.id)]
    NoSnapshot(StreamId),
    /// A snapshot is not in the store here.
    #[error("a snapshot of session {} is not in the store here ({tree})\nhint: `retrace export` the session where it ran and `retrace import` it here", stream.id)]
    SnapshotGone {
        /// The session.
        stream: StreamId,
        /// The snapshot.
        tree: String,
    },
    /// The session ran without a sandbox.
    #[error("session {} ran without a sandbox\nhint: `--sandbox process` isolates its calls now; `--sandbox none` carries them out on this machine as they are, with all that they may reach", .0.id)]
    Unconfined(StreamId),
    /// A folder cannot be made or used.
    #[error("cannot use {}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The log failed.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The sandbox failed.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The store of snapshots failed.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// A snapshot cannot be fetched.
    #[error(transparent)]
    Share(#[from] ShareError),
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
    /// A part of this program failed.
    #[error("a part of retrace failed: {0}")]
    Broken(String),
}

impl From<CodecError> for ExecuteError {
    fn from(error: CodecError) -> Self {
        Self::Log(error.into())
    }
}

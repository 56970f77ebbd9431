//! Why a snapshot did not get where it was wanted.

use retrace_events::LogError;
use retrace_sandbox::snapshot::{SnapshotError, TreeId};

/// Why a snapshot did not get where it was wanted.
#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    /// The log, or what is kept beside it, cannot be used.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The store of snapshots cannot be used, or something in it is damaged.
    #[error(transparent)]
    Store(#[from] SnapshotError),
    /// It is nowhere to be found.
    #[error("snapshot {tree} is not on this host{}\nhint: take it from the host or the export that has it", beside(log.as_deref()))]
    Missing {
        /// The snapshot, or one that it builds upon.
        tree: TreeId,
        /// The log that does not have it either; `None` for one that keeps no snapshots.
        log: Option<String>,
    },
    /// What is kept beside the log is not what it should be.
    #[error(
        "snapshot {tree} as it is kept beside the log at {log} is damaged: {what}\nhint: the host that took it, or an export, may have it whole"
    )]
    Damaged {
        /// The snapshot.
        tree: TreeId,
        /// The log.
        log: String,
        /// What is wrong.
        what: String,
    },
    /// A file between the two cannot be written or read.
    #[error("cannot {what}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
}

fn beside(log: Option<&str>) -> String {
    log.map(|log| format!(", nor beside the log at {log}")).unwrap_or_default()
}

impl ShareError {
    /// For `map_err`.
    pub(super) fn io(what: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { what, source }
    }
}

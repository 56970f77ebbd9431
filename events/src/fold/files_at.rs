//! What is known of the workspace's files at an event.

use crate::payload::Workspace;
use serde::{Deserialize, Serialize};

/// The workspace's files, as far as the events before tell.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum FilesAt {
    /// No snapshot was taken yet.
    #[default]
    Unknown,
    /// They are this tree of the store of snapshots.
    At(String),
    /// A snapshot could not be taken, in these words, so they are not known from there on.
    Failed(String),
}

impl FilesAt {
    /// The tree, when it is known.
    #[must_use]
    pub fn tree(&self) -> Option<&str> {
        match self {
            Self::At(tree) => Some(tree),
            Self::Unknown | Self::Failed(_) => None,
        }
    }

    /// What `event` says of them.
    #[must_use]
    pub fn of(event: &Workspace) -> Self {
        match event {
            Workspace::Snapshotted(taken) => Self::At(taken.tree.clone()),
            Workspace::SnapshotFailed(failed) => Self::Failed(failed.why.clone()),
        }
    }
}

//! `workspace.*`: the files as they were at a moment.

use crate::id::CallId;
use serde::{Deserialize, Serialize};

subject! {
    /// Files.
    Workspace {
        /// The files as they are now.
        Snapshotted(WorkspaceSnapshotted) = "workspace.snapshotted", 1;
    }
}

/// The workspace's files as a content-addressed tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceSnapshotted {
    /// The id of the tree in the store of snapshots.
    pub tree: String,
    /// The tree before it.
    pub previous: Option<String>,
    /// The id of the workspace's own `.git` there, when it has one.
    pub git_state: Option<String>,
    /// The call after which it was taken; `None` for a session's first.
    pub after: Option<CallId>,
    /// Files that differ from `previous`.
    pub changed_files: u64,
    /// Bytes of new objects.
    pub new_bytes: u64,
}

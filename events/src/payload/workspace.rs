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
    /// The git object id of the tree.
    pub tree: String,
    /// The tree before it.
    pub previous: Option<String>,
    /// The git object id of the saved HEAD, refs and index of the workspace's own repository, when it is one.
    pub git_state: Option<String>,
    /// The call after which it was taken; `None` for a session's first.
    pub after: Option<CallId>,
    /// Files that differ from `previous`.
    pub changed_files: u64,
    /// Bytes of new objects.
    pub new_bytes: u64,
}

//! `workspace.*`: the files as they were at a moment.
//!
//! The files at an event are those of the last event of this subject at or before it. Where a call changed them, it stands in
//! the batch of the call's result, directly before the result.

use crate::id::CallId;
use serde::{Deserialize, Serialize};

subject! {
    /// Files.
    Workspace {
        /// The files as they are now.
        Snapshotted(WorkspaceSnapshotted) = "workspace.snapshotted", 1;
        /// The files may be others now, and it is not known which.
        SnapshotFailed(WorkspaceSnapshotFailed) = "workspace.snapshot_failed", 1;
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
    /// The call that made the difference to `previous`; `None` for a session's first, and for changes that no call made.
    pub after: Option<CallId>,
    /// Files that differ from `previous`.
    pub changed_files: u64,
    /// Bytes of new objects.
    pub new_bytes: u64,
}

/// No snapshot could be taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceSnapshotFailed {
    /// The call after which it was to be taken.
    pub after: Option<CallId>,
    /// Why not.
    pub why: String,
}

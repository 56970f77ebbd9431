//! Snapshots of workspaces on their way: between hosts that share a log, and in exports.
//!
//! A host keeps the snapshots of all its logs in one store. Where a log is shared, each snapshot is also an object beside the
//! log, named by its tree: what it has that the one before it in its session had not. So a host that never saw the files
//! finds them by going back from the snapshot it wants to one that it has ([`ensure`]). Nothing that comes from elsewhere is
//! trusted: the store checks every object of a snapshot against its name.

mod fetching;
mod incoming;
mod logged_trees;
mod outgoing;
mod publishing;
mod settling;
mod share_error;
#[cfg(test)]
mod tests;

pub use fetching::ensure;
pub(crate) use incoming::IncomingSnapshots;
pub(crate) use logged_trees::{LoggedTree, logged_trees, trees_in};
pub(crate) use outgoing::OutgoingSnapshots;
pub(crate) use publishing::{PREFIX, tree_of_object};
pub use publishing::{Published, publish};
pub(crate) use settling::{carry, settle};
pub use share_error::ShareError;

use crate::snapshots::SnapshotPlan;
use retrace_events::EventLog;
use retrace_sandbox::snapshot::{SnapshotError, SnapshotStore};
use std::path::Path;

/// The store of snapshots in a user's state folder, for taking and importing on behalf of `log`. Blocks.
///
/// # Errors
/// When it cannot be opened.
pub fn store_of(state_folder: &Path, log: &dyn EventLog) -> Result<SnapshotStore, SnapshotError> {
    Ok(SnapshotStore::open(&SnapshotPlan::folder(state_folder))?.owned_by(&log.identity()))
}

/// Runs what blocks on a thread of its own.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ShareError> + Send + 'static,
) -> Result<T, ShareError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(ShareError::Io { what: "wait for the store", source: error.into() }),
    }
}

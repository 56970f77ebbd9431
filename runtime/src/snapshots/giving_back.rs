//! Gives a workspace's files back as they were: into a folder of their own, or in place; and fetches them where another host took
//! the snapshot.

use super::snapshot_plan::SnapshotPlan;
use crate::travelling::{ShareError, ensure};
use retrace_events::EventLog;
use retrace_sandbox::snapshot::{BringOptions, Brought, RestoreOptions, Restored, SnapshotError, TreeId};
use std::path::Path;

/// Makes sure that `tree` is in the store, where it was taken on another host that shares the log.
pub(crate) async fn fetch(log: &dyn EventLog, plan: &SnapshotPlan, tree: &str) -> Result<(), ShareError> {
    if log.objects().is_some() {
        let tree: TreeId = tree.parse()?;
        ensure(log, &plan.store()?, &tree).await?;
    }
    Ok(())
}

/// Restores `tree` into a folder that is not there or is empty. It appears there whole or not at all. Blocks.
pub(crate) fn restore(plan: &SnapshotPlan, tree: &str, into: &Path) -> Result<Restored, SnapshotError> {
    let tree: TreeId = tree.parse()?;
    let options = RestoreOptions { keeps_set_id: plan.keeps_set_id, ..RestoreOptions::default() };
    plan.store()?.restore(&tree, into, &options)
}

/// Brings the workspace to `tree`, whatever is in it: that is kept as a snapshot. Blocks.
pub(crate) fn bring(plan: &SnapshotPlan, tree: &str, workspace: &Path) -> Result<Brought, SnapshotError> {
    let tree: TreeId = tree.parse()?;
    let how = BringOptions { expected: None, force: true };
    plan.store()?.bring(&tree, workspace, &plan.options, how)
}

//! Gives a workspace's files back as they were: into a folder of their own, or in place. Blocks.

use super::snapshot_plan::SnapshotPlan;
use retrace_sandbox::snapshot::{
    BringOptions, Brought, RestoreOptions, Restored, SnapshotError, SnapshotStore, TreeId,
};
use std::path::Path;

/// Restores `tree` into a folder that is not there or is empty. It appears there whole or not at all.
pub(crate) fn restore(plan: &SnapshotPlan, tree: &str, into: &Path) -> Result<Restored, SnapshotError> {
    let tree: TreeId = tree.parse()?;
    let options = RestoreOptions { keeps_set_id: plan.keeps_set_id, ..RestoreOptions::default() };
    SnapshotStore::open(&plan.dir)?.restore(&tree, into, &options)
}

/// Brings the workspace to `tree`, whatever is in it: that is kept as a snapshot.
pub(crate) fn bring(plan: &SnapshotPlan, tree: &str, workspace: &Path) -> Result<Brought, SnapshotError> {
    let tree: TreeId = tree.parse()?;
    let how = BringOptions { expected: None, force: true };
    SnapshotStore::open(&plan.dir)?.bring(&tree, workspace, &plan.options, how)
}

//! Gives a workspace's files back as they were: into a folder of their own, or in place; and fetches them where another host took
//! the snapshot.

use super::snapshot_plan::SnapshotPlan;
use crate::travelling::{ShareError, ensure};
use retrace_events::EventLog;
use retrace_sandbox::snapshot::{
    BringOptions, Brought, RestoreOptions, Restored, SnapshotError, SnapshotStore, TreeId,
};
use std::path::Path;

/// Makes sure that `tree` is in the store, where it was taken on another host that shares the log.
pub(crate) async fn fetch(log: &dyn EventLog, plan: &SnapshotPlan, tree: &str) -> Result<(), ShareError> {
    if log.objects().is_some() {
        let tree: TreeId = tree.parse()?;
        ensure(log, &plan.store()?, &tree).await?;
    }
    Ok(())
}

/// Does something with the store of snapshots, on a thread of its own, since it blocks.
pub(crate) async fn on_store<T: Send + 'static>(
    plan: &SnapshotPlan,
    work: impl FnOnce(&SnapshotStore, &SnapshotPlan) -> Result<T, SnapshotError> + Send + 'static,
) -> Result<T, SnapshotError> {
    let opened = plan.clone();
    let done = tokio::task::spawn_blocking(move || work(&opened.store()?, &opened)).await;
    done.unwrap_or_else(|error| Err(SnapshotError::Store { dir: plan.dir.clone(), source: Box::new(error) }))
}

/// Restores `tree` into a folder that is not there or is empty. It appears there whole or not at all.
pub(crate) async fn restore(plan: &SnapshotPlan, tree: &str, into: &Path) -> Result<Restored, SnapshotError> {
    let (tree, into): (TreeId, _) = (tree.parse()?, into.to_owned());
    on_store(plan, move |store, plan| {
        let options = RestoreOptions { keeps_set_id: plan.keeps_set_id, ..RestoreOptions::default() };
        store.restore(&tree, &into, &options)
    })
    .await
}

/// Brings the workspace to `tree`, whatever is in it: that is kept as a snapshot.
pub(crate) async fn bring(plan: &SnapshotPlan, tree: &str, workspace: &Path) -> Result<Brought, SnapshotError> {
    let (tree, workspace): (TreeId, _) = (tree.parse()?, workspace.to_owned());
    let how = BringOptions { expected: None, force: true };
    on_store(plan, move |store, plan| store.bring(&tree, &workspace, &plan.options, how)).await
}

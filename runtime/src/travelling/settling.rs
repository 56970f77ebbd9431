//! Sessions that came into a log from elsewhere: their snapshots stay in the store on its behalf, and are put beside it where it
//! is shared.

use super::{LoggedTree, ShareError, blocking, ensure, logged_trees, publish, store_of};
use crate::snapshots::SnapshotPlan;
use retrace_events::{EventLog, StreamId};
use std::path::Path;

/// Makes the snapshots that `streams` of `log` name at home there, as far as they are on this host.
///
/// # Errors
/// When store or log cannot be used. Calling it again is safe.
pub(crate) async fn settle(state_folder: &Path, log: &dyn EventLog, streams: &[StreamId]) -> Result<(), ShareError> {
    let trees = logged_trees(log, streams).await?;
    if trees.is_empty() || !SnapshotPlan::folder(state_folder).is_dir() {
        return Ok(());
    }
    let store = store_of(state_folder, log)?;
    own(&store, &trees).await?;
    for LoggedTree { tree, previous } in &trees {
        let (asked, wanted) = (store.clone(), *tree);
        if blocking(move || Ok(asked.has(&wanted)?)).await? {
            publish(log, &store, tree, previous.as_ref()).await?;
        }
    }
    Ok(())
}

/// Makes sure that the snapshots that `streams` of `from` name are on this host, and stay on behalf of `to`, before any event
/// there names them. What cannot be had is told, each in one line.
///
/// # Errors
/// When store or log cannot be used.
pub(crate) async fn carry(
    state_folder: &Path,
    from: &dyn EventLog,
    to: &dyn EventLog,
    streams: &[StreamId],
) -> Result<Vec<String>, ShareError> {
    let trees = logged_trees(from, streams).await?;
    let mut problems = Vec::new();
    if trees.is_empty() {
        return Ok(problems);
    }
    let store = store_of(state_folder, from)?;
    for LoggedTree { tree, .. } in &trees {
        match ensure(from, &store, tree).await {
            Ok(_) => {}
            Err(error @ (ShareError::Missing { .. } | ShareError::Damaged { .. })) => {
                problems.push(error.to_string().lines().next().unwrap_or_default().to_owned());
            }
            Err(error) => return Err(error),
        }
    }
    own(&store.owned_by(&to.identity()), &trees).await?;
    Ok(problems)
}

async fn own(store: &retrace_sandbox::snapshot::SnapshotStore, trees: &[LoggedTree]) -> Result<(), ShareError> {
    let (store, trees) = (store.clone(), trees.iter().map(|logged| logged.tree).collect::<Vec<_>>());
    blocking(move || Ok(store.own(&trees)?)).await
}

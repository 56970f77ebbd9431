//! Fetching a snapshot that another host took.

use super::publishing::name_of;
use super::{ShareError, blocking};
use retrace_events::blob::NamedObjects;
use retrace_events::{EventLog, LogError};
use retrace_sandbox::snapshot::{SnapshotError, SnapshotStore, TreeId};
use std::collections::HashSet;
use std::io::{BufReader, Seek as _};

/// The longest chain of snapshots that is followed.
const MAX_CHAIN: usize = 100_000;

/// Makes sure that the snapshot `tree` is in `store`: what is missing comes from beside `log`, back to the first snapshot
/// that is here already. How many snapshots were fetched.
///
/// # Errors
/// [`ShareError::Missing`] when it is neither here nor there; [`ShareError::Damaged`] when what is there is not what it
/// should be: nothing of it is known here then. What was fetched before that stays.
pub async fn ensure(log: &dyn EventLog, store: &SnapshotStore, tree: &TreeId) -> Result<u64, ShareError> {
    if has(store, *tree).await? {
        return Ok(0);
    }
    let Some(objects) = log.objects() else { return Err(ShareError::Missing { tree: *tree, log: None }) };
    let chain = chain(log, objects, store, *tree).await?;
    for tree in chain.iter().rev() {
        fetch(log, objects, store, *tree).await?;
    }
    Ok(chain.len() as u64)
}

/// The snapshots to fetch, the newest first.
async fn chain(
    log: &dyn EventLog,
    objects: &dyn NamedObjects,
    store: &SnapshotStore,
    tree: TreeId,
) -> Result<Vec<TreeId>, ShareError> {
    let damaged = |tree, what: &str| ShareError::Damaged { tree, log: log.location(), what: what.to_owned() };
    let (mut chain, mut seen) = (Vec::new(), HashSet::new());
    let mut next = Some(tree);
    while let Some(tree) = next {
        if has(store, tree).await? {
            break;
        }
        if !seen.insert(tree) || chain.len() >= MAX_CHAIN {
            return Err(damaged(tree, "it builds upon itself, or upon more snapshots than there can be"));
        }
        let object = objects.object(&name_of(&tree)).await?;
        let object = object.ok_or_else(|| ShareError::Missing { tree, log: Some(log.location()) })?;
        chain.push(tree);
        next = match object.note.as_str() {
            "" => None,
            note => Some(note.parse().map_err(|_| damaged(tree, "what it builds upon is no snapshot"))?),
        };
    }
    Ok(chain)
}

async fn fetch(
    log: &dyn EventLog,
    objects: &dyn NamedObjects,
    store: &SnapshotStore,
    tree: TreeId,
) -> Result<(), ShareError> {
    let damaged = |what: String| ShareError::Damaged { tree, log: log.location(), what };
    let from = store.clone();
    let file =
        blocking(move || tempfile::tempfile_in(from.dir()).map_err(ShareError::io("write beside the snapshots")))
            .await?;
    let mut file = tokio::fs::File::from_std(file);
    match objects.get_object(&name_of(&tree), &mut file).await {
        Ok(Some(_)) => {}
        Ok(None) => return Err(ShareError::Missing { tree, log: Some(log.location()) }),
        Err(LogError::Damaged { what, .. }) => return Err(damaged(what)),
        Err(error) => return Err(error.into()),
    }
    tokio::io::AsyncWriteExt::flush(&mut file).await.map_err(ShareError::io("write beside the snapshots"))?;
    let mut file = file.into_std().await;
    let into = store.clone();
    let taken_in = blocking(move || {
        file.rewind().map_err(ShareError::io("read beside the snapshots"))?;
        Ok(into.import(BufReader::new(file)))
    })
    .await?;
    match taken_in {
        Ok(transferred) if transferred.snapshots.contains(&tree) => Ok(()),
        Ok(_) => Err(damaged("it is another snapshot".to_owned())),
        Err(SnapshotError::Stream { reason }) => Err(damaged(reason)),
        Err(error @ (SnapshotError::Missing { .. } | SnapshotError::Damaged { .. })) => {
            Err(damaged(error.to_string().lines().next().unwrap_or_default().to_owned()))
        }
        Err(error) => Err(error.into()),
    }
}

async fn has(store: &SnapshotStore, tree: TreeId) -> Result<bool, ShareError> {
    let store = store.clone();
    blocking(move || Ok(store.has(&tree)?)).await
}

//! Removing what no event needs: blobs, snapshots in the store, snapshots beside the log.

use super::needed::Needed;
use super::removal::Candidates;
use crate::agent::step::step;
use crate::travelling::{PREFIX, ShareError, blocking, tree_of_object};
use retrace_events::blob::{GRACE_MS, NamedObject, NamedObjects};
use retrace_events::{EventLog, LogError, Timestamp};
use retrace_sandbox::snapshot::{SnapshotStore, TreeId};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// By how much an event may be made later than the blob that it names was put, in milliseconds.
const SLACK_MS: u64 = 2_000;

/// What was removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Swept {
    /// Blobs.
    pub(crate) blobs: u64,
    /// Blobs that nothing needs and that are too new to be removed.
    pub(crate) young_blobs: u64,
    /// Objects of the store of snapshots.
    pub(crate) objects: u64,
    /// Their bytes.
    pub(crate) object_bytes: u64,
    /// Snapshots beside the log.
    pub(crate) shared: u64,
    /// Why nothing was removed, when there is a reason.
    pub(crate) doubt: Option<String>,
}

/// Removes what no event of `log` needs, as far as it was not put within the hour before `now`; of the `candidates` what
/// nobody has put again since the last event that named it. `store` is on behalf of `log`; without one there are no snapshots
/// here.
///
/// # Errors
/// When something cannot be asked or changed. What was removed is gone by then, and a later sweep goes on.
pub(crate) async fn sweep(
    log: &dyn EventLog,
    store: Option<SnapshotStore>,
    candidates: &Candidates,
    now: Timestamp,
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<Swept, ShareError> {
    let needed = Needed::by(log, progress).await?;
    let mut swept = Swept { doubt: needed.doubt.clone(), ..Swept::default() };
    if swept.doubt.is_some() {
        return Ok(swept);
    }
    let old = Timestamp(now.0.saturating_sub(GRACE_MS));
    for blob in &needed.unneeded_blobs {
        let named = candidates.get(blob).map_or(old, |at| Timestamp(at.0.saturating_add(SLACK_MS)).min(now).max(old));
        step("delete blob");
        if log.blobs().remove(*blob, named).await? {
            swept.blobs += 1;
        } else {
            swept.young_blobs += u64::from(log.blobs().size(*blob).await?.is_some());
        }
    }
    step("delete snapshots");
    if let Some(store) = store {
        let live = needed.trees.clone();
        let collected = blocking(move || Ok(store.collect_owned(&live, grace(now))?)).await?;
        (swept.objects, swept.object_bytes) = (collected.objects, collected.bytes);
    }
    step("delete objects");
    if let Some(objects) = log.objects() {
        swept.shared = sweep_objects(objects, &needed, old).await?;
    }
    Ok(swept)
}

/// How long ago `now` was an hour old; the store has a clock of its own.
fn grace(now: Timestamp) -> Duration {
    use retrace_events::mint::{Mint as _, SystemMint};
    let ahead_ms = now.0.saturating_sub(SystemMint.now().0);
    Duration::from_millis(GRACE_MS.saturating_sub(ahead_ms))
}

/// Removes the snapshots beside the log that nothing needs. Needed is what events name, what is new, and what those build upon.
async fn sweep_objects(objects: &dyn NamedObjects, needed: &Needed, old: Timestamp) -> Result<u64, LogError> {
    let unneeded = |listed: &[NamedObject]| -> HashSet<TreeId> {
        let known: HashMap<TreeId, &NamedObject> =
            listed.iter().filter_map(|object| Some((tree_of_object(&object.name)?, object))).collect();
        let young = known.iter().filter(|(_, object)| object.put_at > old).map(|(tree, _)| *tree);
        let mut todo: Vec<TreeId> = needed.trees.iter().chain(&needed.previous).copied().chain(young).collect();
        let mut kept = HashSet::new();
        while let Some(tree) = todo.pop() {
            if kept.insert(tree) {
                todo.extend(known.get(&tree).and_then(|object| object.note.parse::<TreeId>().ok()));
            }
        }
        known.into_keys().filter(|tree| !kept.contains(tree)).collect()
    };
    let listed = objects.list_objects(PREFIX).await?;
    let mut gone = unneeded(&listed);
    if gone.is_empty() {
        return Ok(0);
    }
    // What was put meanwhile may build upon what nothing seemed to need.
    let listed = objects.list_objects(PREFIX).await?;
    gone.retain(|tree| unneeded(&listed).contains(tree));
    let mut removed = 0;
    for tree in gone {
        removed += u64::from(objects.remove_object(&format!("{PREFIX}{tree}"), old).await?);
    }
    Ok(removed)
}

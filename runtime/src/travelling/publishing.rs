//! Putting a snapshot beside a shared log.
//!
//! Whoever publishes has appended the event that names the snapshot before: a deletion at the same time sees either the event,
//! or an object that is too new to be removed. An object that lies there for long is put again for the same reason.

use super::{ShareError, blocking};
use retrace_events::EventLog;
use retrace_events::blob::{GRACE_MS, NamedObjects};
use retrace_events::mint::{Mint as _, SystemMint};
use retrace_sandbox::snapshot::{SnapshotError, SnapshotStore, TreeId};
use std::fs::File;
use std::io::{BufWriter, Seek as _, Write as _};

/// What the names of objects that are snapshots begin with.
pub(crate) const PREFIX: &str = "snapshot.";

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    /// The log is of this machine only: there is nobody to publish for.
    NotShared,
    /// It was there already.
    Present,
    /// It was put there.
    Stored {
        /// Its size, in bytes.
        bytes: u64,
        /// Whether it builds upon the one before it.
        is_increment: bool,
    },
}

/// Puts the snapshot `tree` beside `log`, where the log is shared, so that other hosts can have it. Where `previous`, the one
/// before it in its session, is there, only what is new goes. Takes as long as the network does; needs little memory, and
/// as much room beside the store as is new.
///
/// # Errors
/// When the store or the log fails, or something of the snapshot is damaged here. Calling it again is safe.
pub async fn publish(
    log: &dyn EventLog,
    store: &SnapshotStore,
    tree: &TreeId,
    previous: Option<&TreeId>,
) -> Result<Published, ShareError> {
    let Some(objects) = log.objects() else { return Ok(Published::NotShared) };
    let young = SystemMint.now().0.saturating_sub(GRACE_MS / 2);
    if objects.object(&name_of(tree)).await?.is_some_and(|object| object.put_at.0 > young) {
        return Ok(Published::Present);
    }
    let base = match previous.filter(|previous| *previous != tree) {
        Some(previous) if objects.object(&name_of(previous)).await?.is_some() => Some(*previous),
        Some(_) | None => None,
    };
    let bytes = put(objects, store, *tree, base).await?;
    match base {
        // It went while ours was on its way: what it had is then in ours.
        Some(previous) if objects.object(&name_of(&previous)).await?.is_none() => {
            let bytes = put(objects, store, *tree, None).await?;
            Ok(Published::Stored { bytes, is_increment: false })
        }
        base => Ok(Published::Stored { bytes, is_increment: base.is_some() }),
    }
}

/// Puts the object; how many bytes it has.
async fn put(
    objects: &dyn NamedObjects,
    store: &SnapshotStore,
    tree: TreeId,
    base: Option<TreeId>,
) -> Result<u64, ShareError> {
    let from = store.clone();
    let (file, base) = blocking(move || {
        let mut base = base;
        loop {
            // Beside the store, where there is room for snapshots; temporary folders may be memory.
            let file = tempfile::tempfile_in(from.dir()).map_err(ShareError::io("write beside the snapshots"))?;
            match written(&from, tree, base, file) {
                // What it builds upon is not whole here any more: then it builds upon nothing.
                Err(ShareError::Store(SnapshotError::Missing { .. } | SnapshotError::Damaged { .. }))
                    if base.is_some() =>
                {
                    base = None;
                }
                done => return done.map(|file| (file, base)),
            }
        }
    })
    .await?;
    let bytes = file.metadata().map_err(ShareError::io("read beside the snapshots"))?.len();
    let note = base.map(|base| base.to_string()).unwrap_or_default();
    objects.put_object(&name_of(&tree), &note, &mut tokio::fs::File::from_std(file), bytes).await?;
    Ok(bytes)
}

fn written(store: &SnapshotStore, tree: TreeId, base: Option<TreeId>, file: File) -> Result<File, ShareError> {
    let mut out = BufWriter::new(file);
    store.export(&[tree], base.as_slice(), &mut out)?;
    out.flush().map_err(ShareError::io("write beside the snapshots"))?;
    let mut file =
        out.into_inner().map_err(|error| ShareError::io("write beside the snapshots")(error.into_error()))?;
    file.rewind().map_err(ShareError::io("read beside the snapshots"))?;
    Ok(file)
}

/// The name of a snapshot's object.
pub(super) fn name_of(tree: &TreeId) -> String {
    format!("{PREFIX}{tree}")
}

/// The snapshot that the object of this name is.
pub(crate) fn tree_of_object(name: &str) -> Option<TreeId> {
    name.strip_prefix(PREFIX)?.parse().ok()
}

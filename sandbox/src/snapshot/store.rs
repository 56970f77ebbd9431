//! The store of all snapshots.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::bring::{Brought, bring};
use super::changes::{Change, Difference, differences};
use super::collect::{Collected, collect};
use super::error::SnapshotError;
use super::ids::TreeId;
use super::objects::Objects;
use super::options::SnapshotOptions;
use super::reader::Reader;
use super::restore::{RestoreOptions, Restored, restore};
use super::stamp::Time;
use super::stream::{self, Transferred};
use super::take::{Snapshot, open_workspace, take};
use super::tree::{self, Node};

/// A store of snapshots: a folder outside of every workspace, shared by all sessions and processes of this user.
///
/// Every call blocks. Several may run at once, in one process or in many; only [`SnapshotStore::collect`] waits for
/// those that write, and they for it.
///
/// Logs share the store, and each knows only its own snapshots. So everything is taken and imported on behalf of an owner
/// ([`SnapshotStore::owned_by`]), and [`SnapshotStore::collect_owned`] removes only what no owner wants. What was taken on
/// behalf of nobody is never removed by it: that is garbage at worst, and nobody's loss.
#[derive(Debug, Clone)]
pub struct SnapshotStore {
    dir: PathBuf,
    owner: String,
}

/// How a folder is brought to a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BringOptions {
    /// The snapshot that the folder should still be equal to.
    pub expected: Option<TreeId>,
    /// Whether it is brought to the snapshot even if it is not.
    pub force: bool,
}

impl SnapshotStore {
    /// Opens the store, and makes it where there is none.
    ///
    /// # Errors
    ///
    /// When the folder cannot be made or holds something else.
    pub fn open(dir: &Path) -> Result<Self, SnapshotError> {
        Objects::open(dir)?;
        let dir = dir.canonicalize().map_err(SnapshotError::io("find", dir))?;
        Ok(Self { dir, owner: String::new() })
    }

    /// The same store, for taking, importing and collecting on behalf of `owner`: a log, by a name that no other log has.
    #[must_use]
    pub fn owned_by(self, owner: &str) -> Self {
        Self { owner: owner.to_owned(), ..self }
    }

    /// The store's folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Takes a snapshot of a workspace. When this returns, the snapshot survives a loss of power.
    ///
    /// The workspace may be changed meanwhile: then some of the snapshot is from before and some from after the change,
    /// but no file is a mixture without its being said in [`Snapshot::left_out`].
    ///
    /// # Errors
    ///
    /// When the workspace cannot be listed or is too large, when `previous` cannot be read, when the store fails.
    pub fn take(
        &self,
        workspace: &Path,
        options: &SnapshotOptions,
        previous: Option<&TreeId>,
    ) -> Result<Snapshot, SnapshotError> {
        let folder = open_workspace(&self.dir, workspace)?;
        let _lock = Objects::lock_shared(&self.dir)?;
        let mut objects = self.objects()?;
        let taken = take(&mut objects, &folder, options)?;
        let tree = TreeId(taken.root);
        let changed_files = match previous {
            Some(previous) => {
                let found = differences(Some(&Reader::new(&objects, *previous)), &Reader::new(&objects, tree))?;
                found.iter().filter(|difference| difference.is_of_files()).count() as u64
            }
            None => taken.files,
        };
        Ok(Snapshot {
            tree,
            changed_files,
            new_bytes: taken.new_bytes,
            files: taken.files,
            git_state: taken.git_state.map(|id| id.to_string()),
            left_out: taken.left_out,
        })
    }

    /// Restores a snapshot into a folder that does not exist or is empty. It appears there whole or not at all. Written
    /// files are not flushed: after a loss of power, restore again.
    ///
    /// # Errors
    ///
    /// When the folder is in use, when something of the snapshot is missing or damaged, when the disk is full.
    pub fn restore(&self, snapshot: &TreeId, into: &Path, options: &RestoreOptions) -> Result<Restored, SnapshotError> {
        let _lock = Objects::lock_shared(&self.dir)?;
        restore(&mut Objects::open(&self.dir)?, *snapshot, into, options)
    }

    /// Brings a folder to a snapshot in place, changing only what differs. The folder as it was is kept as a snapshot;
    /// what snapshots leave out under these options is left alone.
    ///
    /// # Errors
    ///
    /// When the folder is not as expected and `force` was not given; nothing was touched then, nor when the disk is full.
    /// Errors later on leave some files as they were and some as they are to be, none half-written; it can be called
    /// again.
    pub fn bring(
        &self,
        snapshot: &TreeId,
        workspace: &Path,
        options: &SnapshotOptions,
        how: BringOptions,
    ) -> Result<Brought, SnapshotError> {
        let folder = open_workspace(&self.dir, workspace)?;
        let _lock = Objects::lock_shared(&self.dir)?;
        bring(&mut self.objects()?, *snapshot, &folder, options, how.expected, how.force)
    }

    /// What differs between two snapshots, in the order of the paths; all of `after` when there is nothing before.
    ///
    /// # Errors
    ///
    /// When something of the snapshots is missing or damaged.
    pub fn changes(&self, before: Option<&TreeId>, after: &TreeId) -> Result<Vec<Change>, SnapshotError> {
        let objects = Objects::open(&self.dir)?;
        let before = before.map(|id| Reader::new(&objects, *id));
        let found: Vec<Difference> = differences(before.as_ref(), &Reader::new(&objects, *after))?;
        Ok(found.into_iter().map(Change::from).collect())
    }

    /// The contents of a file of a snapshot, or the target of a link; `None` when nothing is there.
    ///
    /// # Errors
    ///
    /// When it is a folder, or larger than `max_bytes`; when something of the snapshot is missing or damaged.
    pub fn read(&self, snapshot: &TreeId, path: &Path, max_bytes: u64) -> Result<Option<Vec<u8>>, SnapshotError> {
        use std::os::unix::ffi::OsStrExt as _;
        let objects = Objects::open(&self.dir)?;
        let reader = Reader::new(&objects, *snapshot);
        let root = reader.root()?;
        let mut node = Node::Folder { mode: root.mode, id: root.tree };
        let mut so_far = Vec::new();
        for name in path.as_os_str().as_bytes().split(|&byte| byte == b'/').filter(|name| !matches!(*name, b"" | b"."))
        {
            let Node::Folder { id, .. } = node else { return Ok(None) };
            let entry = reader.tree(&id, &so_far)?.into_iter().find(|entry| entry.name == name);
            let Some(entry) = entry else { return Ok(None) };
            so_far = tree::join(&so_far, name);
            node = entry.node;
        }
        let refused =
            |reason: String| SnapshotError::NotReadable { snapshot: *snapshot, path: path.to_path_buf(), reason };
        match node {
            Node::Link { target } => Ok(Some(target)),
            Node::Folder { .. } => Err(refused("is a folder".to_owned())),
            Node::File { size, .. } if size > max_bytes => {
                Err(refused(format!("has {size} bytes, more than the {max_bytes} asked for")))
            }
            Node::File { size, id, .. } => {
                let mut bytes = Vec::new();
                reader.contents(&id, size, &so_far, |piece| {
                    bytes.extend(piece);
                    Ok(())
                })?;
                Ok(Some(bytes))
            }
        }
    }

    /// Whether the snapshot itself is known here. What it needs is looked at when it is used.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn has(&self, snapshot: &TreeId) -> Result<bool, SnapshotError> {
        Objects::open(&self.dir)?.has_root(&snapshot.0)
    }

    /// Removes what none of these snapshots needs, nor any that was taken or imported within the grace period: those may
    /// be on their way into a log. An hour is plenty; it must not be less than half an hour.
    ///
    /// # Errors
    ///
    /// When the store fails; nothing was removed then.
    pub fn collect(&self, live: &[TreeId], grace: Duration) -> Result<Collected, SnapshotError> {
        let _lock = Objects::lock_exclusive(&self.dir)?;
        collect(&mut Objects::open(&self.dir)?, live, grace)
    }

    /// Writes snapshots and all that they need into one stream, except for what the snapshots in `known` need: those the
    /// reader has already.
    ///
    /// # Errors
    ///
    /// When something of the snapshots is missing or damaged, or the stream cannot be written. What was written so far is
    /// then no valid stream.
    pub fn export(
        &self,
        snapshots: &[TreeId],
        known: &[TreeId],
        out: impl Write,
    ) -> Result<Transferred, SnapshotError> {
        let _lock = Objects::lock_shared(&self.dir)?;
        stream::export(&Objects::open(&self.dir)?, snapshots, known, out)
    }

    /// Takes in a stream that [`SnapshotStore::export`] wrote. When this returns, all snapshots in it are whole and
    /// survive a loss of power.
    ///
    /// # Errors
    ///
    /// When the stream is damaged, cut, or not whole without what should be known here; no snapshot of it is known then.
    pub fn import(&self, input: impl Read) -> Result<Transferred, SnapshotError> {
        let _lock = Objects::lock_shared(&self.dir)?;
        stream::import(&mut self.objects()?, input)
    }

    /// Writes down, durably, that the owner wants these snapshots; what is not here is passed over.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn own(&self, snapshots: &[TreeId]) -> Result<(), SnapshotError> {
        let _lock = Objects::lock_shared(&self.dir)?;
        self.objects()?.own(&ids(snapshots), now_ms())
    }

    /// Removes what no owner wants any more. This store's owner wants `live`, and what was taken, imported or asked for on its
    /// behalf within the grace period; the others want what they wanted. For the grace period see [`SnapshotStore::collect`].
    ///
    /// # Errors
    ///
    /// When the store fails; nothing was removed then.
    pub fn collect_owned(&self, live: &[TreeId], grace: Duration) -> Result<Collected, SnapshotError> {
        let _lock = Objects::lock_exclusive(&self.dir)?;
        let mut objects = self.objects()?;
        let now_ms = now_ms();
        let since_ms = now_ms.saturating_sub(i64::try_from(grace.as_millis()).unwrap_or(i64::MAX));
        let wanted: Vec<TreeId> = objects.own_only(&ids(live), since_ms, now_ms)?.into_iter().map(TreeId).collect();
        collect(&mut objects, &wanted, grace)
    }

    fn objects(&self) -> Result<Objects, SnapshotError> {
        Objects::open_for(&self.dir, &self.owner)
    }
}

fn ids(snapshots: &[TreeId]) -> Vec<super::ids::ObjectId> {
    snapshots.iter().map(|id| id.0).collect()
}

fn now_ms() -> i64 {
    i64::try_from(Time::now_ns() / 1_000_000).unwrap_or(i64::MAX)
}

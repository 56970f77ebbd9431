//! Taking a snapshot: look around, read what is not known, write down the folders from the innermost outwards.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::digest::{Digested, digest};
use super::error::SnapshotError;
use super::folder::Folder;
use super::ids::{Kind, ObjectId, TreeId};
use super::objects::{MAX_OBJECT, Objects, SeenRow};
use super::options::{LeftOutList, SnapshotOptions, WhyLeftOut};
use super::scan::{Scanned, ScannedFolder, ScannedNode, scan, why};
use super::seen::{self, Seen};
use super::stamp::{Stamp, Time};
use super::tree::{self, Entry, Node, Root};

/// A snapshot, as it was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Its name.
    pub tree: TreeId,
    /// Files and links that differ from the snapshot before; all of them when there was none.
    pub changed_files: u64,
    /// Bytes that it added to the store.
    pub new_bytes: u64,
    /// Files and links in it.
    pub files: u64,
    /// The state of the workspace's own repository (branches, HEAD, index, objects), when it is one: equal ids mean
    /// equal states.
    pub git_state: Option<String>,
    /// What is not in it as it is in the workspace.
    pub left_out: LeftOutList,
}

/// What was taken, before it is compared with the snapshot before.
pub(super) struct Taken {
    pub(super) root: ObjectId,
    pub(super) files: u64,
    pub(super) new_bytes: u64,
    pub(super) git_state: Option<ObjectId>,
    pub(super) left_out: LeftOutList,
}

/// Takes a snapshot of a workspace.
pub(super) fn take(
    objects: &mut Objects,
    workspace: &Folder,
    options: &SnapshotOptions,
) -> Result<Taken, SnapshotError> {
    let began_ns = Time::now_ns();
    let known = objects.seen(workspace.path())?;
    let mut scanned = scan(workspace, options, &known)?;
    let read_bytes = read_unknown(objects, workspace, options, &mut scanned)?;
    let mut written = Written { known, began_ns, new_bytes: read_bytes, ..Written::default() };
    let mut trees: Vec<Option<ObjectId>> = vec![None; scanned.folders.len()];
    let Scanned { folders, left_out } = scanned;
    let mut git_state = None;
    // Folders stand before those in them, so from the end every folder's own folders are done.
    for (index, folder) in folders.iter().enumerate().rev().filter(|(_, folder)| folder.is_listed) {
        let tree = written.folder(objects, folder, &folders, &trees)?;
        if folder.path == b".git" {
            git_state = Some(tree);
        }
        if let Some(place) = trees.get_mut(index) {
            *place = Some(tree);
        }
    }
    let (mode, tree) = match (folders.first(), trees.first()) {
        (Some(folder), Some(Some(tree))) => (folder.mode, *tree),
        _ => (0o700, written.store(objects, Kind::Tree, &tree::encode(&[]))?),
    };
    let root = written.store(objects, Kind::Root, &Root { mode, tree }.encode())?;
    let now_ms = i64::try_from(began_ns / 1_000_000).unwrap_or(i64::MAX);
    objects.finish(&[root], now_ms)?;
    let gone: Vec<Vec<u8>> = written.known.into_keys().collect();
    objects.remember(workspace.path(), &written.seen, &gone, now_ms);
    Ok(Taken { root, files: written.files, new_bytes: written.new_bytes, git_state, left_out })
}

/// Reads the files whose contents are not known, and puts into the scan what came of it.
fn read_unknown(
    objects: &mut Objects,
    workspace: &Folder,
    options: &SnapshotOptions,
    scanned: &mut Scanned,
) -> Result<u64, SnapshotError> {
    let mut places = Vec::new();
    let mut paths = Vec::new();
    for (at, folder) in scanned.folders.iter().enumerate() {
        for (entry_at, entry) in folder.entries.iter().enumerate() {
            if matches!(entry.node, ScannedNode::File { id: None, .. }) {
                places.push((at, entry_at));
                paths.push(tree::join(&folder.path, &entry.name));
            }
        }
    }
    let (results, new_bytes) = digest(workspace, objects, &paths, options.max_file_bytes)?;
    for (((at, entry_at), path), digested) in places.into_iter().zip(paths).zip(results) {
        let entry = scanned.folders.get_mut(at).and_then(|folder| folder.entries.get_mut(entry_at));
        let Some(ScannedNode::File { dropped, .. }) = entry.as_ref().map(|entry| &entry.node) else { continue };
        let dropped = *dropped;
        let (node, reason) = match digested {
            Some(Digested::Stored { id, stamp, is_stable }) => {
                // A change time that is never past is never settled.
                let changed = if is_stable { stamp.changed } else { Time { seconds: i64::MAX, nanoseconds: 0 } };
                let stamp = Stamp { changed, ..stamp };
                let node = ScannedNode::File { stamp, id: Some(id), dropped };
                (node, (!is_stable).then_some(WhyLeftOut::Changing))
            }
            Some(Digested::Failed(errno)) => (ScannedNode::Absent, Some(why(errno))),
            Some(Digested::TooLarge(bytes)) => (ScannedNode::Absent, Some(WhyLeftOut::TooLarge { bytes })),
            None => (ScannedNode::Absent, Some(WhyLeftOut::Vanished)),
        };
        if let Some(entry) = entry {
            entry.node = node;
        }
        if let Some(reason) = reason {
            scanned.left_out.add(&path, reason);
        }
    }
    Ok(new_bytes)
}

/// What has been written down so far.
#[derive(Default)]
struct Written {
    /// What was known before, of folders that have not been come to yet.
    known: HashMap<Vec<u8>, SeenRow>,
    began_ns: i128,
    files: u64,
    new_bytes: u64,
    /// What is to be known from now on, where that is something new.
    seen: Vec<(Vec<u8>, SeenRow)>,
}

impl Written {
    /// Writes a folder down, and what was seen in it.
    fn folder(
        &mut self,
        objects: &mut Objects,
        folder: &ScannedFolder,
        folders: &[ScannedFolder],
        trees: &[Option<ObjectId>],
    ) -> Result<ObjectId, SnapshotError> {
        let mut entries = Vec::with_capacity(folder.entries.len());
        let mut stamps = Vec::new();
        for entry in &folder.entries {
            let node = match &entry.node {
                ScannedNode::File { stamp, id: Some(id), dropped } => {
                    if stamp.is_settled(self.began_ns) {
                        seen::write(&mut stamps, &Seen { name: &entry.name, stamp: *stamp, id: *id });
                    }
                    Node::File { mode: stamp.mode & !dropped, size: stamp.size, id: *id }
                }
                ScannedNode::Link { target } => Node::Link { target: target.clone() },
                ScannedNode::Folder(at) => match (folders.get(*at), trees.get(*at)) {
                    (Some(inner), Some(Some(id))) => Node::Folder { mode: inner.mode, id: *id },
                    _ => continue,
                },
                ScannedNode::File { id: None, .. } | ScannedNode::Absent => continue,
            };
            self.files += u64::from(!matches!(node, Node::Folder { .. }));
            entries.push(Entry { name: entry.name.clone(), node });
        }
        let bytes = tree::encode(&entries);
        if bytes.len() > MAX_OBJECT {
            let (folder, limit) = (tree::to_path(&folder.path), MAX_OBJECT as u64);
            return Err(SnapshotError::TooLarge { folder, what: "bytes of names", limit });
        }
        let row = SeenRow { tree: ObjectId::of(Kind::Tree, &bytes), stamps };
        let tree = row.tree;
        match self.known.remove(&folder.path) {
            Some(known) if known == row => return Ok(tree),
            Some(known) if known.tree == tree => {}
            _ => drop(self.store(objects, Kind::Tree, &bytes)?),
        }
        self.seen.push((folder.path.clone(), row));
        Ok(tree)
    }

    fn store(&mut self, objects: &mut Objects, kind: Kind, bytes: &[u8]) -> Result<ObjectId, SnapshotError> {
        let id = ObjectId::of(kind, bytes);
        if !objects.has(&id)? {
            let packed = objects.pack(id, kind, bytes);
            self.new_bytes += objects.put(&packed)?;
        }
        Ok(id)
    }
}

/// Opens the workspace, unless the store lies in it.
pub(super) fn open_workspace(store: &Path, folder: &Path) -> Result<Folder, SnapshotError> {
    let workspace = Folder::open(folder)?;
    let dir: PathBuf = store.canonicalize().map_err(SnapshotError::io("find", store))?;
    if dir.starts_with(workspace.path()) {
        return Err(SnapshotError::Inside { dir, folder: workspace.path().to_path_buf() });
    }
    Ok(workspace)
}

//! What differs between two snapshots. Folders that are equal are not looked into, so the cost follows the difference.

use std::path::PathBuf;

use super::error::SnapshotError;
use super::ids::ObjectId;
use super::reader::Reader;
use super::tree::{self, Entry, Node};

/// More differences than this are not listed: a forged tree can name the same folder in itself again and again.
const MAX_DIFFERENCES: usize = 8_000_000;

/// One path that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Which one, relative to the workspace; `.` is the workspace itself.
    pub path: PathBuf,
    /// As it was; `None` when it was not there.
    pub before: Option<Item>,
    /// As it is; `None` when it is gone.
    pub after: Option<Item>,
}

/// What stands, or stood, at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// File, link or folder.
    pub kind: ItemKind,
    /// Its permission bits; zero for a link.
    pub mode: u32,
    /// Its length in bytes: of a file's contents, of a link's target; zero for a folder.
    pub size: u64,
    /// The hash of its contents, or of its target; the same for all folders.
    pub contents: String,
}

/// What kind of thing stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ItemKind {
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A folder.
    Folder,
}

/// In what way a path differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// It was not there.
    Added,
    /// It is gone.
    Deleted,
    /// Its contents or its target differ, and perhaps its permission bits too.
    Modified,
    /// Only its permission bits differ.
    Mode,
    /// It has become another kind of thing.
    Replaced,
}

impl Change {
    /// In what way the path differs.
    #[must_use]
    pub fn kind(&self) -> ChangeKind {
        match (&self.before, &self.after) {
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Deleted,
            (Some(before), Some(after)) if before.kind != after.kind => ChangeKind::Replaced,
            (Some(before), Some(after)) if before.contents == after.contents => ChangeKind::Mode,
            _ => ChangeKind::Modified,
        }
    }
}

/// A path that differs, with the nodes themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) path: Vec<u8>,
    pub(super) before: Option<Node>,
    pub(super) after: Option<Node>,
}

impl Difference {
    /// Whether a file or a link is part of it.
    pub(super) fn is_of_files(&self) -> bool {
        [&self.before, &self.after].into_iter().flatten().any(|node| !matches!(node, Node::Folder { .. }))
    }
}

impl From<Difference> for Change {
    fn from(difference: Difference) -> Self {
        let path = tree::to_path(&difference.path);
        Self { path, before: difference.before.map(Item::from), after: difference.after.map(Item::from) }
    }
}

impl From<Node> for Item {
    fn from(node: Node) -> Self {
        let (kind, mode, size, contents) = match node {
            Node::File { mode, size, id } => (ItemKind::File, mode, size, id.to_string()),
            Node::Link { target } => {
                (ItemKind::Link, 0, target.len() as u64, blake3::hash(&target).to_hex().to_string())
            }
            Node::Folder { mode, .. } => (ItemKind::Folder, mode, 0, String::new()),
        };
        Self { kind, mode: u32::from(mode), size, contents }
    }
}

/// A folder on both sides, where it is there.
struct Pair {
    path: Vec<u8>,
    before: Option<ObjectId>,
    after: Option<ObjectId>,
}

/// What differs, in the order of the paths' bytes; with nothing before, all of `after`.
pub(super) fn differences(before: Option<&Reader<'_>>, after: &Reader<'_>) -> Result<Vec<Difference>, SnapshotError> {
    let old = before.map(Reader::root).transpose()?;
    let new = after.root()?;
    let mut found = Vec::new();
    if old.is_none_or(|old| old.mode != new.mode) {
        let root = |root: super::tree::Root| Node::Folder { mode: root.mode, id: root.tree };
        found.push(Difference { path: Vec::new(), before: old.map(root), after: Some(root(new)) });
    }
    let mut todo = vec![Pair { path: Vec::new(), before: old.map(|old| old.tree), after: Some(new.tree) }];
    while let Some(Pair { path, before: old, after: new }) = todo.pop() {
        if old == new {
            continue;
        }
        let old = match (before, old) {
            (Some(reader), Some(id)) => reader.tree(&id, &path)?,
            _ => Vec::new(),
        };
        let new = new.map(|id| after.tree(&id, &path)).transpose()?.unwrap_or_default();
        compare(&path, old, new, &mut found, &mut todo);
        if found.len() > MAX_DIFFERENCES {
            let folder = tree::to_path(&path);
            return Err(SnapshotError::TooLarge { folder, what: "differences", limit: MAX_DIFFERENCES as u64 });
        }
    }
    found.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// Compares two lists that are in the order of their names.
fn compare(path: &[u8], old: Vec<Entry>, new: Vec<Entry>, found: &mut Vec<Difference>, todo: &mut Vec<Pair>) {
    let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(old), Some(new)) => old.name.cmp(&new.name),
        };
        let was = if order.is_le() { old.next() } else { None };
        let is = if order.is_ge() { new.next() } else { None };
        let Some(name) = was.as_ref().or(is.as_ref()).map(|entry| &entry.name) else { return };
        let path = tree::join(path, name);
        let (was, is) = (was.map(|entry| entry.node), is.map(|entry| entry.node));
        let folder = |node: &Option<Node>| match node {
            Some(Node::Folder { id, .. }) => Some(*id),
            _ => None,
        };
        let (old_folder, new_folder) = (folder(&was), folder(&is));
        if old_folder != new_folder {
            todo.push(Pair { path: path.clone(), before: old_folder, after: new_folder });
        }
        let is_same = match (&was, &is) {
            (Some(Node::Folder { mode: was, .. }), Some(Node::Folder { mode: is, .. })) => was == is,
            _ => was == is,
        };
        if !is_same {
            found.push(Difference { path, before: was, after: is });
        }
    }
}

//! Whether the workspace's files are what they were then.
//!
//! Trees of the store of snapshots are compared, so that equal ones cost nothing. What differs is looked at: build output and
//! caches that say they are such, git's own records (an id of a commit holds its time), and text that is the same after
//! normalising are no divergence, and are said by name.

use super::comparison::compare_texts;
use super::normaliser::{Normaliser, Places};
use retrace_sandbox::snapshot::{Change, ChangeKind, Item, ItemKind, SnapshotError, SnapshotStore, TreeId};
use std::collections::{BTreeSet, HashMap};
use std::path::{Component, Path, PathBuf};

/// How many differing files are named.
const NAMED: usize = 20;
/// Larger files are compared byte for byte only.
const MAX_TEXT_BYTES: u64 = 512 * 1024;
/// Of so many files the words are looked at; those beyond count as differing.
const MAX_TEXTS: usize = 200;
/// How a folder says that it is a cache: a file of this name with this beginning (<https://bford.info/cachedir/>).
const CACHE_TAG: &str = "CACHEDIR.TAG";
const CACHE_SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";
/// Folders of caches that say nothing.
const CACHES: [&str; 6] = ["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".gradle", ".tox"];

/// Why files may differ without its meaning anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FilesApart {
    /// They are build output or a cache.
    Caches,
    /// They are git's own records.
    Git,
    /// Their words are the same after normalising.
    Words(Normaliser),
}

impl FilesApart {
    /// Its name, in tables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Caches => "caches",
            Self::Git => "git",
            Self::Words(normaliser) => normaliser.name(),
        }
    }
}

/// A file that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDifference {
    /// Which one, relative to the workspace.
    pub path: PathBuf,
    /// How it stands to the logged one: `added`, `missing`, `differs`, `mode`, `other kind`.
    pub how: &'static str,
}

/// How the files after a call stand to those that the log has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilesLikeness {
    /// They were not compared: the call only looks, or it is not known what they were.
    NotCompared,
    /// The same tree, or the same but for these.
    Alike(Vec<FilesApart>),
    /// They differ.
    Differ {
        /// The first ones by name.
        named: Vec<FileDifference>,
        /// How many there are.
        total: usize,
    },
}

impl FilesLikeness {
    /// Whether that is a divergence.
    #[must_use]
    pub const fn differs(&self) -> bool {
        match self {
            Self::Differ { .. } => true,
            Self::NotCompared | Self::Alike(_) => false,
        }
    }
}

/// Compares the files as they are now with those that the log has.
pub(super) fn compare_files(
    store: &SnapshotStore,
    logged: &TreeId,
    now: &TreeId,
    places: &Places,
) -> Result<FilesLikeness, SnapshotError> {
    if logged == now {
        return Ok(FilesLikeness::Alike(Vec::new()));
    }
    let mut look = Look { store, trees: [*logged, *now], places, caches: HashMap::new(), texts: 0 };
    let (mut apart, mut named, mut total) = (BTreeSet::new(), Vec::new(), 0);
    for change in store.changes(Some(logged), now)? {
        let reasons = look.reasons(&change)?;
        if reasons.is_empty() {
            total += 1;
            if named.len() < NAMED {
                named.push(FileDifference { path: change.path.clone(), how: how(change.kind()) });
            }
        }
        apart.extend(reasons);
    }
    Ok(if total == 0 {
        FilesLikeness::Alike(apart.into_iter().collect())
    } else {
        FilesLikeness::Differ { named, total }
    })
}

const fn how(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "added",
        ChangeKind::Deleted => "missing",
        ChangeKind::Modified => "differs",
        ChangeKind::Mode => "mode",
        ChangeKind::Replaced => "other kind",
    }
}

struct Look<'a> {
    store: &'a SnapshotStore,
    trees: [TreeId; 2],
    places: &'a Places,
    /// Which folders are caches, as far as they were looked at.
    caches: HashMap<PathBuf, bool>,
    /// How many texts were compared.
    texts: usize,
}

impl Look<'_> {
    /// Why a change means nothing; none when it does.
    fn reasons(&mut self, change: &Change) -> Result<Vec<FilesApart>, SnapshotError> {
        if let Some(within) = within_git(&change.path) {
            let counts = within == Path::new("HEAD")
                || (within.starts_with("refs") && matches!(change.kind(), ChangeKind::Added | ChangeKind::Deleted));
            return Ok(if counts { Vec::new() } else { vec![FilesApart::Git] });
        }
        // The folder itself may be what was added.
        for folder in change.path.ancestors().filter(|folder| !folder.as_os_str().is_empty()) {
            if self.is_cache(folder)? {
                return Ok(vec![FilesApart::Caches]);
            }
        }
        self.words(change)
    }

    fn is_cache(&mut self, folder: &Path) -> Result<bool, SnapshotError> {
        if let Some(known) = self.caches.get(folder) {
            return Ok(*known);
        }
        let named = folder.file_name().is_some_and(|name| CACHES.iter().any(|cache| name == *cache));
        let mut tagged = false;
        for tree in &self.trees {
            let tag = match self.store.read(tree, &folder.join(CACHE_TAG), MAX_TEXT_BYTES) {
                Ok(tag) => tag,
                // A folder of that name, or something large: no tag.
                Err(SnapshotError::NotReadable { .. }) => None,
                Err(error) => return Err(error),
            };
            tagged |= tag.is_some_and(|tag| tag.starts_with(CACHE_SIGNATURE));
        }
        self.caches.insert(folder.to_path_buf(), named || tagged);
        Ok(named || tagged)
    }

    /// The normalisers after which a changed text is the same.
    fn words(&mut self, change: &Change) -> Result<Vec<FilesApart>, SnapshotError> {
        let is_text = |item: &Option<Item>| {
            item.as_ref().is_some_and(|item| item.kind == ItemKind::File && item.size <= MAX_TEXT_BYTES)
        };
        let same_mode = change.before.as_ref().map(|item| item.mode) == change.after.as_ref().map(|item| item.mode);
        if !is_text(&change.before) || !is_text(&change.after) || !same_mode || self.texts >= MAX_TEXTS {
            return Ok(Vec::new());
        }
        self.texts += 1;
        let [logged, now] = &self.trees;
        let before = self.store.read(logged, &change.path, MAX_TEXT_BYTES)?.and_then(text);
        let after = self.store.read(now, &change.path, MAX_TEXT_BYTES)?.and_then(text);
        let (Some(before), Some(after)) = (before, after) else { return Ok(Vec::new()) };
        Ok(match compare_texts(&before, &after, self.places) {
            super::comparison::Likeness::Normalised(by) => by.into_iter().map(FilesApart::Words).collect(),
            // In a file the order means something.
            super::comparison::Likeness::Same
            | super::comparison::Likeness::Reordered(_)
            | super::comparison::Likeness::Differs => Vec::new(),
        })
    }
}

/// Bytes as text; `None` when they are none.
fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// The path within a `.git`, when it lies in one; `.git` itself has an empty one.
fn within_git(path: &Path) -> Option<PathBuf> {
    let mut parts = path.components();
    parts.by_ref().find(|part| *part == Component::Normal(".git".as_ref()))?;
    Some(parts.collect())
}

//! A folder as a map: every path with all that must come back.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// What stands at a path, byte for byte and mode for mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    File { mode: u32, hash: blake3::Hash, bytes: usize },
    Link { target: Vec<u8> },
    Folder { mode: u32 },
}

pub(super) type Tree = BTreeMap<PathBuf, Item>;

/// All that is in `folder`, itself included.
pub(super) fn tree(folder: &Path) -> Tree {
    let mut found = Tree::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let meta = std::fs::symlink_metadata(&path).unwrap();
        let mode = meta.permissions().mode() & 0o7777;
        let item = if meta.is_symlink() {
            Item::Link { target: std::fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec() }
        } else if meta.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            Item::Folder { mode }
        } else {
            let bytes = std::fs::read(&path).unwrap();
            Item::File { mode, hash: blake3::hash(&bytes), bytes: bytes.len() }
        };
        found.insert(path.strip_prefix(folder).unwrap().to_owned(), item);
    }
    found
}

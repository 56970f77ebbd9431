//! Looking around in a workspace: what is there, what of it goes into a snapshot, and what is known already.
//!
//! Nothing is read here but names, stamps, targets of links, `.gitignore` and git's index. A workspace may be changed
//! meanwhile by whatever runs in it; then some of it is seen before and some after the change.

mod listing;
mod repository;
mod tracked;
mod walk;

#[cfg(test)]
mod tests;

use super::ids::ObjectId;
use super::options::LeftOutList;
use super::stamp::Stamp;

pub(super) use walk::{scan, why};

/// A workspace as it was seen.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// The root first, and each folder before those in it.
    pub(super) folders: Vec<ScannedFolder>,
    pub(super) left_out: LeftOutList,
}

/// One folder.
#[derive(Debug)]
pub(super) struct ScannedFolder {
    pub(super) path: Vec<u8>,
    pub(super) mode: u16,
    /// Whether it could be listed; one that could not is left out.
    pub(super) is_listed: bool,
    /// In the order of their names.
    pub(super) entries: Vec<ScannedEntry>,
}

/// One entry.
#[derive(Debug)]
pub(super) struct ScannedEntry {
    pub(super) name: Vec<u8>,
    pub(super) node: ScannedNode,
}

/// What stands under a name.
#[derive(Debug)]
pub(super) enum ScannedNode {
    /// A regular file, with the id of its contents if they are known, and the permission bits that are not kept.
    File { stamp: Stamp, id: Option<ObjectId>, dropped: u16 },
    /// A symbolic link.
    Link { target: Vec<u8> },
    /// A folder, by its place in the list.
    Folder(usize),
    /// It is gone, or must not be read.
    Absent,
}

//! Snapshots of a workspace: its files as they were at a moment, kept by content, given back byte for byte and mode for
//! mode.
//!
//! A snapshot is a tree of objects that are named by the hash of what they hold. All sessions share one store, so what
//! is equal is kept once, and a snapshot costs what changed. A workspace's own `.git` is files like any others: branches,
//! HEAD, index and commits come back with it, and its packs cost once, since they never change.
//!
//! Invariants:
//! - nothing outside of the workspace is read or written, whatever is planted in it, also while it is looked at;
//! - nothing of the workspace is executed and no git runs: its configuration, hooks and filters are bytes;
//! - whoever reads a snapshot gets what was stored, or an error that names snapshot and path;
//! - a restored folder appears whole or not at all.
//!
//! Not kept: owners, times, extended attributes, hard links (each name gets a file of its own), holes. What is left out on
//! purpose (ignored files, secrets, what is too large) is reported with every snapshot.
//!
//! Known limit: a program that writes through a mapping of a file (`mmap`) changes its time only when the kernel gets to
//! it; what it writes may be seen one snapshot later.

mod bring;
mod changes;
mod clear;
mod closure;
mod collect;
mod digest;
mod error;
mod folder;
mod ids;
mod objects;
mod options;
mod reader;
mod restore;
mod scan;
mod seen;
mod stamp;
mod store;
mod stream;
mod take;
mod tree;
mod writing;

#[cfg(test)]
mod tests;

pub use bring::Brought;
pub use changes::{Change, ChangeKind, Item, ItemKind};
pub use collect::Collected;
pub use error::SnapshotError;
pub use ids::TreeId;
pub use options::{Ignored, LeftOut, LeftOutList, SnapshotOptions, WhyLeftOut};
pub use restore::{RestoreOptions, Restored};
pub use store::{BringOptions, SnapshotStore};
pub use stream::Transferred;
pub use take::Snapshot;

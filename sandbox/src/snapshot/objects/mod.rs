//! Where objects are kept: one SQLite database for all sessions and processes.
//!
//! SQLite brings what a store of this kind needs and what is easily done wrong: several processes at once, all or
//! nothing after a crash, one flush for thousands of small objects. Files are cut into pieces of a fixed length, so that
//! no object is large and a log that grows costs what it grew by.
//!
//! Invariants:
//! - an object's id is the hash of its bytes, and is checked whenever it is read;
//! - what [`Objects::finish`] has returned from survives a loss of power;
//! - removing happens only under the exclusive lock, taking a snapshot under the shared one.

mod database;
mod packing;
mod rows;

pub(super) use database::Objects;
pub(super) use packing::{Packed, Packer};
pub(super) use rows::{Fault, SeenRow};

/// The length of a file's pieces, in bytes.
pub(super) const PIECE: usize = 1 << 20;
/// The largest object, in bytes: a folder of about two million files, or the list of a file of eight terabytes.
pub(super) const MAX_OBJECT: usize = 256 << 20;

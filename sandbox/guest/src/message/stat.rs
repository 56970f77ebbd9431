//! What a path is.

use serde::{Deserialize, Serialize};

use crate::raw_path::RawPath;

/// Asks what a path is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatSpec {
    /// The path.
    pub path: RawPath,
    /// Look through a symlink at the end.
    pub follow: bool,
}

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStat {
    /// Its kind.
    pub kind: EntryKind,
    /// Its size, in bytes.
    pub size_bytes: u64,
    /// Permission bits.
    pub mode: u32,
    /// Last change of its contents, in milliseconds since 1970.
    pub modified_ms: i64,
}

/// The kinds of directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Directory,
    /// A symbolic link (not followed).
    Symlink,
    /// A fifo, socket or device.
    Special,
}

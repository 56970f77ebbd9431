//! Writing a whole file.

use serde::{Deserialize, Serialize};

use crate::raw_path::RawPath;

/// Writes a whole file atomically, creating the folders above it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteSpec {
    /// The file.
    pub path: RawPath,
    /// Permission bits of a new file (`0o644` when `None`); an existing file keeps its own.
    pub mode: Option<u32>,
}

/// The end of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteDone {
    /// Size of the new contents, in bytes.
    pub written_bytes: u64,
    /// There was no such file before.
    pub created: bool,
}

//! Reading a range of a file.

use serde::{Deserialize, Serialize};

use crate::raw_path::RawPath;

/// Reads a range of a regular file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadSpec {
    /// The file.
    pub path: RawPath,
    /// First byte to read.
    pub offset: u64,
    /// The most bytes to read, at most [`super::MAX_READ_BYTES`].
    pub limit: u64,
}

/// The end of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadDone {
    /// Size of the whole file, in bytes.
    pub total_bytes: u64,
    /// Bytes that were sent.
    pub sent_bytes: u64,
}

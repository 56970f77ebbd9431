//! What an update of the code index did, and how far it is.

use super::skip::Skipped;
use serde::Serialize;

/// What an update did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CodeReport {
    /// Files that were looked at and are in the index now.
    pub files: u64,
    /// Of those, how many were chunked anew.
    pub indexed: u64,
    /// How many files were read.
    pub read: u64,
    /// How many chunks were written.
    pub chunks: u64,
    /// How many files were taken out: deleted, renamed, or no longer wanted.
    pub removed: u64,
    /// What was left out.
    pub skipped: Skipped,
    /// The index's generation now: the number of its last commit.
    pub generation: u64,
    /// Whether it was ended early. What was done by then is kept, and the next update goes on from there.
    pub cancelled: bool,
    /// Whether some folders could not be read just now; what was known of them is kept.
    pub incomplete: bool,
    /// Whether the change is left to an update that is running already.
    pub deferred: bool,
}

/// How far an update is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CodeProgress {
    /// Files that were looked at.
    pub seen: u64,
    /// Files that were read, of those that were changed.
    pub read: u64,
    /// Chunks that were written.
    pub chunks: u64,
    /// Whether all files have been looked at, so that `seen` is the number of files.
    pub is_walked: bool,
}

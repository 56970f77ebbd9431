//! Where the documents come from that are embedded: the keyword index, seen through as little as is needed of it.

use crate::document::Document;

/// Why documents cannot be read, in one line.
pub type SourceError = Box<dyn std::error::Error + Send + Sync>;

/// The documents of sessions, by where their events stand in the log.
pub trait SessionSource: Send + Sync {
    /// The documents of the events from `first` to `last`, both included, in any order.
    ///
    /// # Errors
    /// When the index cannot be read.
    fn documents_between(&self, first: u64, last: u64) -> Result<Vec<Document>, SourceError>;

    /// The streams that were deleted, each with the position before which nothing of it is left.
    ///
    /// # Errors
    /// When the index cannot be read.
    fn deletions(&self) -> Result<Vec<(String, u64)>, SourceError> {
        Ok(Vec::new())
    }
}

/// The documents of a workspace's code, by file.
pub trait CodeSource: Send + Sync {
    /// What has changed since a generation that an earlier call told; 0 asks for everything.
    ///
    /// # Errors
    /// When the index cannot be read.
    fn changes_since(&self, generation: u64) -> Result<ChangedCode, SourceError>;

    /// The documents of one file.
    ///
    /// # Errors
    /// When the index cannot be read.
    fn documents_of(&self, path: &str) -> Result<Vec<Document>, SourceError>;
}

/// What has changed in a workspace's code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedCode {
    /// The present generation: what to ask with next time.
    pub generation: u64,
    /// Files with new content, those to embed first in front.
    pub changed: Vec<String>,
    /// Files that are gone.
    pub gone: Vec<String>,
    /// Whether nothing else is gone. If not, `changed` names all files there are.
    pub is_complete: bool,
}

//! What can go wrong with the index of a workspace's code.

use crate::keyword::KeywordError;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// A failure of the code index.
#[derive(Debug, Error)]
pub enum CodeError {
    /// The workspace cannot be opened; nothing was changed.
    #[error("cannot open the workspace {}: {source}", path.display())]
    Workspace {
        /// As it was given.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another process indexes this workspace just now; its index can be searched.
    #[error("the code in {} is being indexed by another process", path.display())]
    Busy {
        /// The index's folder.
        path: PathBuf,
    },
    /// The folder of a damaged index cannot be emptied.
    #[error("cannot clear the index in {}: {source}; hint: delete this folder", path.display())]
    Clear {
        /// The index's folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The keyword index failed.
    #[error(transparent)]
    Keyword(KeywordError),
}

impl From<KeywordError> for CodeError {
    fn from(error: KeywordError) -> Self {
        match error {
            KeywordError::Locked { folder } => Self::Busy { path: folder },
            other => Self::Keyword(other),
        }
    }
}

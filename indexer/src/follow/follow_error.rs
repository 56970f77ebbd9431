//! Why an index could not follow its log.

use crate::keyword::KeywordError;
use retrace_events::LogError;
use retrace_events::log::Holder;
use std::path::PathBuf;

/// Why an index could not follow its log.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// Another process writes this index; it is followed there.
    #[error("the index is being written by {}", .0.as_ref().map_or_else(|| "another process".to_owned(), ToString::to_string))]
    Busy(Option<Holder>),
    /// The folder of the index cannot be used.
    #[error("the index in {} cannot be written: {source}", path.display())]
    Folder {
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The index in this folder was made by another version.
    #[error("the index in {} was made by another version of retrace", .0.display())]
    Outdated(PathBuf),
    /// The keyword index failed.
    #[error(transparent)]
    Keyword(#[from] KeywordError),
    /// The log failed.
    #[error(transparent)]
    Log(#[from] LogError),
}

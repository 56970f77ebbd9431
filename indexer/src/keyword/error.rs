//! What can go wrong with a keyword index, by what the caller does about it.

use std::io;
use std::path::{Path, PathBuf};
use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use thiserror::Error;

/// The longest description of damage, in characters.
const WHAT_CHARS: usize = 200;

/// A failure of the keyword index.
#[derive(Debug, Error)]
pub enum KeywordError {
    /// Files are missing, cut short or hold nonsense: build the index again.
    #[error("the keyword index in {} is damaged: {what}; hint: it is built again from the log", folder.display())]
    Damaged {
        /// The index's folder.
        folder: PathBuf,
        /// What was found.
        what: String,
    },
    /// Another version of retrace made it: build the index again.
    #[error("the keyword index in {} is of another version ({found}); hint: it is built again from the log", folder.display())]
    OtherVersion {
        /// The index's folder.
        folder: PathBuf,
        /// The version that was found.
        found: String,
    },
    /// Another writer holds it: only read.
    #[error("the keyword index in {} is being written by another process", folder.display())]
    Locked {
        /// The index's folder.
        folder: PathBuf,
    },
    /// The disk, or what stands between it and us.
    #[error("cannot use the keyword index in {}: {source}", folder.display())]
    Io {
        /// The index's folder.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The engine refused.
    #[error("the keyword index in {} failed: {source}", folder.display())]
    Engine {
        /// The index's folder.
        folder: PathBuf,
        /// Why.
        source: Box<TantivyError>,
    },
}

impl KeywordError {
    /// Whether the index must be built again.
    #[must_use]
    pub const fn needs_rebuild(&self) -> bool {
        match self {
            Self::Damaged { .. } | Self::OtherVersion { .. } => true,
            Self::Locked { .. } | Self::Io { .. } | Self::Engine { .. } => false,
        }
    }

    /// What the engine says about damage may hold whole files: one line of it is enough.
    pub(super) fn damaged(folder: &Path, what: impl AsRef<str>) -> Self {
        let words = what.as_ref().split(|letter: char| letter.is_whitespace() || letter.is_control());
        let what = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        Self::Damaged { folder: folder.to_owned(), what: what.chars().take(WHAT_CHARS).collect() }
    }

    pub(super) fn io(folder: &Path, source: io::Error) -> Self {
        match source.kind() {
            // A file of an index that ends too soon or makes no sense is damaged, not unreadable.
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => Self::damaged(folder, source.to_string()),
            _ => Self::Io { folder: folder.to_owned(), source },
        }
    }

    pub(super) fn engine(folder: &Path, error: TantivyError) -> Self {
        let folder_owned = folder.to_owned();
        match error {
            TantivyError::LockFailure(LockError::LockBusy, _) => Self::Locked { folder: folder_owned },
            TantivyError::LockFailure(LockError::IoError(source), _) | TantivyError::IoError(source) => {
                Self::io(folder, copy(&source))
            }
            TantivyError::IncompatibleIndex(found)
            | TantivyError::OpenReadError(OpenReadError::IncompatibleIndex(found)) => {
                Self::OtherVersion { folder: folder_owned, found: format!("{found:?}") }
            }
            TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(file)) => {
                Self::damaged(folder, format!("{} is missing", file.display()))
            }
            TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. })
            | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. })
            | TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error, .. }) => {
                Self::io(folder, copy(&io_error))
            }
            TantivyError::DataCorruption(what) => Self::damaged(folder, format!("{what:?}")),
            TantivyError::DeserializeError(what) => Self::damaged(folder, what.to_string()),
            TantivyError::SchemaError(what) => Self::damaged(folder, what),
            TantivyError::InternalError(what) => Self::damaged(folder, what),
            source => Self::Engine { folder: folder_owned, source: Box::new(source) },
        }
    }
}

fn copy(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| io::Error::new(error.kind(), error.to_string()), io::Error::from_raw_os_error)
}

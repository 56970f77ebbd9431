//! Why vectors cannot be stored or searched.

use super::embed_error::{EmbedError, one_line};
use std::io;
use std::path::{Path, PathBuf};

/// Why a table of vectors cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    /// The folder does not hold what it should: it has to be made again.
    #[error("the vectors in {} are damaged: {reason}; they are made again", path.display())]
    Damaged {
        /// The folder.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The system refused: a full disk, missing rights.
    #[error("the vectors in {} cannot be used", path.display())]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A vector of another length than the table's.
    #[error("a vector of {found} numbers does not fit a table of {wanted}")]
    Dimensions {
        /// The table's.
        wanted: usize,
        /// The vector's.
        found: usize,
    },
    /// The model failed.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// What should be embedded could not be read.
    #[error("what should be embedded cannot be read: {0}")]
    Source(String),
}

impl VectorError {
    /// Whether making the table again helps.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }

    /// What the system refused, at `path`.
    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_path_buf(), source }
    }

    /// What is wrong with the folder at `path`.
    pub(super) fn damaged(path: &Path, reason: impl std::fmt::Display) -> Self {
        Self::Damaged { path: path.to_path_buf(), reason: one_line(&reason) }
    }

    /// What the store said of the table in `path`. What the system refuses passes; everything else is a table that is not
    /// what was written.
    pub(super) fn of_store(path: &Path, error: &lancedb::Error) -> Self {
        match refusal_in(error) {
            Some(refusal) => {
                let source = refusal.raw_os_error().map_or_else(|| refusal.kind().into(), io::Error::from_raw_os_error);
                Self::io(path, source)
            }
            None => Self::damaged(path, error),
        }
    }
}

/// What the system refused, wherever it stands among the causes of `error`.
fn refusal_in(error: &lancedb::Error) -> Option<&io::Error> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        // Two kinds of errors stand for what they hold, and name only its cause as theirs.
        cause = match (error.downcast_ref::<io::Error>(), error.downcast_ref::<lancedb::Error>()) {
            (Some(error), _) if is_refusal(error) => return Some(error),
            (Some(error), _) => error.get_ref().map(|held| held as &(dyn std::error::Error + 'static)),
            (None, Some(lancedb::Error::External { source })) => Some(source.as_ref()),
            (None, _) => error.source(),
        };
    }
    None
}

/// Whether the system refuses something that it may grant later.
fn is_refusal(error: &io::Error) -> bool {
    const EMFILE: i32 = 24;
    const ENFILE: i32 = 23;
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::OutOfMemory
            | io::ErrorKind::Interrupted
            | io::ErrorKind::TimedOut
    ) || matches!(error.raw_os_error(), Some(EMFILE | ENFILE))
}

//! What can go wrong with snapshots, each with the line that a user needs.

use std::io;
use std::path::{Path, PathBuf};

use super::ids::TreeId;

/// Why a snapshot could not be taken, kept, or given back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The database of the store cannot be used.
    #[error("cannot use the snapshot store in {}: {source}", dir.display())]
    Store {
        /// The store's folder.
        dir: PathBuf,
        /// What the database says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The file there was made by a newer version, or by another program.
    #[error("{} is not a snapshot store of this version (layout {layout})\nhint: use the newest retrace", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
        /// What it says of itself.
        layout: i64,
    },
    /// The store would become part of what it stores.
    #[error("the snapshot store {} lies inside the workspace {}\nhint: keep the state folder outside of it", dir.display(), folder.display())]
    Inside {
        /// The store's folder.
        dir: PathBuf,
        /// The workspace.
        folder: PathBuf,
    },
    /// A file or folder cannot be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The workspace is larger than the settings allow.
    #[error("the workspace {} has more than {limit} {what}, so no snapshot was taken\nhint: let .gitignore name what need not come back, or raise the limit", folder.display())]
    TooLarge {
        /// The workspace.
        folder: PathBuf,
        /// What is counted.
        what: &'static str,
        /// How many are allowed.
        limit: u64,
    },
    /// Something of a snapshot is not in the store.
    #[error("snapshot {snapshot} lacks {what} of `{}`\nhint: import it again from the host or the export that has it", path.display())]
    Missing {
        /// The snapshot.
        snapshot: TreeId,
        /// What kind of object.
        what: &'static str,
        /// Which path of the snapshot it belongs to.
        path: PathBuf,
    },
    /// Something of a snapshot is not what was stored.
    #[error("snapshot {snapshot} is damaged at `{}`: the {what} {reason}\nhint: check the disk; another host or an export may have it whole", path.display())]
    Damaged {
        /// The snapshot.
        snapshot: TreeId,
        /// What kind of object.
        what: &'static str,
        /// Which path of the snapshot it belongs to.
        path: PathBuf,
        /// In what way.
        reason: String,
    },
    /// The folder for a restored snapshot is in use.
    #[error("{} exists and is not an empty folder\nhint: name a new folder", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// The folder is not as it was left: bringing it to a snapshot would lose something that nobody asked to lose.
    #[error("{} was changed since: {}{}\nhint: look at the changes; --force goes on (the folder as it is now is kept as snapshot {now})",
        folder.display(), shown(paths), if *more > 0 { format!(" and {more} more") } else { String::new() })]
    Changed {
        /// The folder.
        folder: PathBuf,
        /// The first paths that differ.
        paths: Vec<PathBuf>,
        /// How many more there are.
        more: u64,
        /// The folder as it is now; in the store.
        now: TreeId,
    },
    /// What is asked for is not a file, or larger than allowed.
    #[error("`{}` of snapshot {snapshot} {reason}", path.display())]
    NotReadable {
        /// The snapshot.
        snapshot: TreeId,
        /// The path in it.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A stream of objects cannot be imported.
    #[error("cannot import snapshots: {reason}")]
    Stream {
        /// Why not.
        reason: String,
    },
    /// Not the name of a snapshot.
    #[error("`{text}` is no snapshot id\nhint: it has 64 hexadecimal digits")]
    NotAnId {
        /// What was given.
        text: String,
    },
}

fn shown(paths: &[PathBuf]) -> String {
    let shown: Vec<String> = paths.iter().map(|path| format!("{path:?}")).collect();
    shown.join(", ")
}

impl SnapshotError {
    /// For `map_err`: an action on a path failed.
    pub(super) fn io<E: Into<io::Error>>(action: &'static str, path: &Path) -> impl FnOnce(E) -> Self + use<E> {
        let path = path.to_path_buf();
        move |source| Self::Io { action, path, source: source.into() }
    }

    /// Whether the disk is full.
    #[must_use]
    pub fn is_no_space(&self) -> bool {
        let full_disk = matches!(self, Self::Io { source, .. } if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded));
        let full_store = matches!(self, Self::Store { source, .. } if source.downcast_ref().is_some_and(is_full));
        full_disk || full_store
    }
}

/// What SQLite says of a full disk; the second where there is no space for the index of its log, which readers need, too.
fn is_full(error: &rusqlite::Error) -> bool {
    let extended = error.sqlite_error().map(|error| error.extended_code);
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull)
        || extended == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

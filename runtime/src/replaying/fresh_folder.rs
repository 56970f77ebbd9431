//! A folder for calls that are carried out again: made anew, and gone afterwards.

use super::execute_error::ExecuteError;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// Folders that are older than this were left behind by a process that was killed.
const STALE: Duration = Duration::from_secs(24 * 3_600);
/// The beginning of their names.
const PREFIX: &str = "replay-";

/// A folder that is removed with all that is in it, whatever its permissions are.
pub(super) struct FreshFolder {
    path: PathBuf,
    dir: Option<TempDir>,
}

impl FreshFolder {
    /// Makes one in `parent`, and removes what processes that were killed have left behind there.
    pub(super) fn make(parent: &Path) -> Result<Self, ExecuteError> {
        let failed = |source| ExecuteError::Folder { path: parent.to_owned(), source };
        std::fs::create_dir_all(parent).map_err(failed)?;
        prune(parent);
        let dir = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent).map_err(failed)?;
        let path = dir.path().canonicalize().map_err(failed)?;
        Ok(Self { path, dir: Some(dir) })
    }

    /// Its real path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for FreshFolder {
    fn drop(&mut self) {
        let Some(dir) = self.dir.take() else { return };
        if dir.close().is_err() {
            open_up(&self.path);
            if let Err(error) = std::fs::remove_dir_all(&self.path) {
                tracing::warn!(path = %self.path.display(), %error, "a folder of carried out calls stays");
            }
        }
    }
}

/// Gives the owner leave to everything in a folder, so that it can be removed. No link is followed.
fn open_up(folder: &Path) {
    // What cannot be changed cannot be removed either, and is said then.
    let _ = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

/// Removes what processes that were killed have left behind; what cannot be removed stays.
fn prune(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        let age = entry.metadata().and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > STALE) {
            open_up(&entry.path());
            if std::fs::remove_dir_all(entry.path()).is_err() {
                tracing::debug!(path = %entry.path().display(), "an old folder stays");
            }
        }
    }
}

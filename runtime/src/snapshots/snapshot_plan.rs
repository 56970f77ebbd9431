//! Where snapshots go, and what goes into them.

use retrace_sandbox::snapshot::{Ignored, SnapshotOptions};
use std::path::{Path, PathBuf};

/// The store's folder in the state folder.
const STORE: &str = "snapshots";
/// An ignored file larger than this is left out even where ignored files are wanted, in bytes.
const MAX_IGNORED_FILE_BYTES: u64 = 16 << 20;
/// As many bytes of ignored files are put in at most.
const MAX_IGNORED_BYTES: u64 = 1 << 30;

/// Where snapshots go, and what goes into them.
#[derive(Debug, Clone)]
pub struct SnapshotPlan {
    /// The store's folder.
    pub dir: PathBuf,
    /// What goes into a snapshot.
    pub options: SnapshotOptions,
    /// Whether restored programs get their set-user and set-group bits back: not where the session came from elsewhere.
    pub keeps_set_id: bool,
}

impl SnapshotPlan {
    /// The store in a user's state folder. `mask` names files that the sandbox must not read: no snapshot holds them either.
    #[must_use]
    pub fn new(state_folder: &Path, mask: &[String], with_ignored: bool) -> Self {
        let mut options = SnapshotOptions::default();
        options.secrets.extend_from_slice(mask);
        if with_ignored {
            options.ignored =
                Ignored::Include { max_file_bytes: MAX_IGNORED_FILE_BYTES, max_total_bytes: MAX_IGNORED_BYTES };
        }
        Self { dir: Self::folder(state_folder), options, keeps_set_id: true }
    }

    /// The store's folder in a user's state folder.
    #[must_use]
    pub fn folder(state_folder: &Path) -> PathBuf {
        state_folder.join(STORE)
    }
}

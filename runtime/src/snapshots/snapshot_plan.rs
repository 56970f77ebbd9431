//! Where snapshots go, and what goes into them.

use retrace_sandbox::snapshot::{Ignored, SnapshotError, SnapshotOptions, SnapshotStore};
use std::path::{Path, PathBuf};

/// The store's folder in the state folder.
const STORE: &str = "snapshots";
/// A workspace with more than this, besides what is ignored, gets no snapshots: somebody works in their home folder. In files and
/// folders, and in bytes.
const MAX_ENTRIES: u64 = 500_000;
const MAX_BYTES: u64 = 8 << 30;
/// An ignored file larger than this is left out even where ignored files are wanted, in bytes.
const MAX_IGNORED_FILE_BYTES: u64 = 16 << 20;
/// As many bytes of ignored files are put in at most.
const MAX_IGNORED_BYTES: u64 = 1 << 30;

/// Where snapshots go, and what goes into them.
#[derive(Debug, Clone)]
pub struct SnapshotPlan {
    /// The store's folder.
    pub dir: PathBuf,
    /// On whose behalf they are taken: the log that names them, as [`retrace_events::EventLog::identity`] has it. A store holds those
    /// of several logs.
    pub owner: String,
    /// What goes into a snapshot.
    pub options: SnapshotOptions,
    /// Whether restored programs get their set-user and set-group bits back: not where the session came from elsewhere.
    pub keeps_set_id: bool,
}

impl SnapshotPlan {
    /// The store in a user's state folder. `mask` names files that the sandbox must not read: no snapshot holds them either.
    #[must_use]
    pub fn new(state_folder: &Path, owner: String, mask: &[String], with_ignored: bool) -> Self {
        let mut options =
            SnapshotOptions { max_entries: MAX_ENTRIES, max_total_bytes: MAX_BYTES, ..SnapshotOptions::default() };
        options.secrets.extend_from_slice(mask);
        if with_ignored {
            options.ignored =
                Ignored::Include { max_file_bytes: MAX_IGNORED_FILE_BYTES, max_total_bytes: MAX_IGNORED_BYTES };
        }
        Self { dir: Self::folder(state_folder), owner, options, keeps_set_id: true }
    }

    /// The store. Blocks.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn store(&self) -> Result<SnapshotStore, SnapshotError> {
        Ok(SnapshotStore::open(&self.dir)?.owned_by(&self.owner))
    }

    /// The store's folder in a user's state folder.
    #[must_use]
    pub fn folder(state_folder: &Path) -> PathBuf {
        state_folder.join(STORE)
    }
}

//! Where the indexes are kept: one folder for each log, and one for each workspace's code.
//!
//! ```text
//!   <state>/index/<log>/{keyword,vectors}           what was said and done, from one log
//!   <state>/index/code/<workspace>/{keyword,vectors}   the code of one workspace
//! ```
//! A folder's name is a hash of what it stands for, so that no path or address has to be made fit for a file name.

use std::path::{Path, PathBuf};

/// How many hex digits of a hash name a folder.
const NAME_DIGITS: usize = 16;

/// The folder of one index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexFolder {
    path: PathBuf,
}

impl IndexFolder {
    /// The index over the log at `location` (as [`retrace_events::EventLog::location`] says it), beneath `state`.
    #[must_use]
    pub fn of_log(state: &Path, location: &str) -> Self {
        Self { path: state.join("index").join(name_of(location.as_bytes())) }
    }

    /// The index over the code of `workspace`, beneath `state`.
    #[must_use]
    pub fn of_code(state: &Path, workspace: &Path) -> Self {
        let name = name_of(workspace.as_os_str().as_encoded_bytes());
        Self { path: state.join("index").join("code").join(name) }
    }

    /// The folder itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The keyword index.
    #[must_use]
    pub fn keyword(&self) -> PathBuf {
        self.path.join("keyword")
    }

    /// The vector index.
    #[must_use]
    pub fn vectors(&self) -> PathBuf {
        self.path.join("vectors")
    }

    /// The file that the writer of the index holds locked.
    #[must_use]
    pub fn lock_file(&self) -> PathBuf {
        self.path.join("writer.lock")
    }
}

fn name_of(what: &[u8]) -> String {
    let mut name = blake3::hash(what).to_hex().to_string();
    name.truncate(NAME_DIGITS);
    name
}

//! What goes into a snapshot, and what was not put into it.

use std::path::PathBuf;

/// What goes into a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotOptions {
    /// What becomes of files that the workspace's `.gitignore` names. What git tracks is never ignored.
    pub ignored: Ignored,
    /// A file larger than this is left out, in bytes.
    pub max_file_bytes: u64,
    /// With more files and folders than this no snapshot is taken.
    pub max_entries: u64,
    /// With more bytes in files than this no snapshot is taken.
    pub max_total_bytes: u64,
    /// Names of files that look like secrets, as lines of a `.gitignore`; they are left out unless git tracks them.
    pub secrets: Vec<String>,
}

impl Default for SnapshotOptions {
    fn default() -> Self {
        Self {
            ignored: Ignored::LeaveOut,
            max_file_bytes: 512 << 20,
            max_entries: 2_000_000,
            max_total_bytes: 32 << 30,
            secrets: SECRETS.iter().map(|&line| line.to_owned()).collect(),
        }
    }
}

/// Files that hold keys by custom; the last lines take back the ones that are made to be shared.
const SECRETS: [&str; 17] = [
    ".env",
    ".env.*",
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".npmrc",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "!.env.example",
    "!.env.sample",
    "!.env.template",
];

/// What becomes of ignored files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ignored {
    /// They are left out, whole folders of them without being looked into.
    LeaveOut,
    /// They are put in, as far as they fit.
    Include {
        /// An ignored file larger than this is left out, in bytes.
        max_file_bytes: u64,
        /// As many bytes of ignored files are put in, in the order of their paths.
        max_total_bytes: u64,
    },
}

/// One thing that is not in a snapshot as it is in the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Which one; a folder stands for all that is in it.
    pub path: PathBuf,
    /// Why.
    pub why: WhyLeftOut,
}

/// Why something is not in a snapshot as it is in the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WhyLeftOut {
    /// `.gitignore` names it.
    Ignored,
    /// It is ignored, and all that was allowed for ignored files is used up.
    IgnoredBudget,
    /// Its name looks like that of a secret.
    Secret,
    /// The file is too large.
    TooLarge {
        /// How large, in bytes.
        bytes: u64,
    },
    /// A fifo, socket or device.
    Special,
    /// It must not be read.
    Unreadable,
    /// Something else is mounted there.
    Mounted,
    /// Its path is longer than the system can name.
    PathTooLong,
    /// It was written all the time: *stored*, but perhaps a mixture of two moments.
    Changing,
    /// It went away, or became something else, while it was being read.
    Vanished,
    /// A `.git` that leads out of the workspace: a copy of it would share branches and index with the original.
    GitElsewhere,
    /// *Stored*, but git's objects are partly outside of the workspace.
    ObjectsElsewhere,
    /// The list of tracked files cannot be read, so ignored files are left out even if git tracks them.
    IndexUnread,
    /// A `.gitignore` that is too large or is not text: *stored*, but not obeyed.
    RulesUnread,
    /// *Stored*, but without the bits that would let it run as its owner or group, since those are others.
    SetIdOfAnother,
}

/// All that was left out, the first thousand by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOutList {
    /// The first ones.
    pub items: Vec<LeftOut>,
    /// How many there are.
    pub total: u64,
}

impl LeftOutList {
    const MAX_ITEMS: usize = 1_000;

    pub(super) fn add(&mut self, path: &[u8], why: WhyLeftOut) {
        self.total += 1;
        if self.items.len() < Self::MAX_ITEMS {
            self.items.push(LeftOut { path: super::tree::to_path(path), why });
        }
    }
}

//! Who writes an index: at most one process, known by a lock that is free the moment the process is gone.
//!
//! The lock protects nothing but work done twice: what keeps an index whole is that each commit holds the position it
//! reflects. The file says who holds it, for people; what another process wrote there is foreign text.

use retrace_events::log::Holder;
use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;

/// The longest description of a holder that is read, in bytes.
const MAX_HOLDER_BYTES: u64 = 16 * 1024;

/// The right to write an index, until it is dropped.
#[derive(Debug)]
pub struct WriterLock {
    _file: File,
}

/// What became of asking for the lock.
#[derive(Debug)]
pub enum LockOutcome {
    /// It is ours.
    Taken(WriterLock),
    /// Another one has it, as far as it said who it is.
    Held(Option<Holder>),
}

impl WriterLock {
    /// Takes the lock in `path` for `holder`, without waiting; the folder is made when it is missing.
    ///
    /// # Errors
    /// When the file cannot be made or locked.
    pub fn take(path: &Path, holder: &Holder) -> io::Result<LockOutcome> {
        if let Some(folder) = path.parent() {
            make_private(folder)?;
        }
        let mut file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(LockOutcome::Held(read_holder(&mut file))),
            Err(error) => return Err(error.into()),
        }
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(&serde_json::to_vec(holder)?)?;
        Ok(LockOutcome::Taken(Self { _file: file }))
    }

    /// Who has the lock in `path` now; `None` when nobody has.
    #[must_use]
    pub fn holder(path: &Path) -> Option<Holder> {
        let mut file = File::open(path).ok()?;
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => None,
            Err(_) => Some(read_holder(&mut file).unwrap_or_default()),
        }
    }
}

/// Makes `folder`, readable for its owner only.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn read_holder(file: &mut File) -> Option<Holder> {
    let mut bytes = Vec::new();
    file.rewind().ok()?;
    file.take(MAX_HOLDER_BYTES).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

//! Claims of the embedded log: a locked file for each stream that is held, with the holder's description in it.
//!
//! ```text
//!   <dir>/holders/ev.<tenant>.<project>.<class>.<id>.json
//! ```
//!
//! The lock (`flock`) belongs to the open file, not to the process: two handles of one process exclude each other too,
//! and the system frees it when the process ends, however it ends. The content is only what the second one is told.
//!
//! Invariant: a lock counts only while its file stands under its name. Whoever lets go of a stream takes the name away
//! while it still has the lock, so that nothing is left behind; whoever gets the lock of a file that has lost its name
//! begins anew.

use super::failure::unusable_dir;
use crate::blob::{io_failed, make_private_dir};
use crate::id::StreamId;
use crate::log::holder::MAX_HOLDER_BYTES;
use crate::log::{Claim, ClaimError, Holder, LogError};
use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait for the description of a holder that has the lock already: a few instructions lie between the two.
const DESCRIBING: Duration = Duration::from_millis(100);

/// How often to look meanwhile.
const LOOK: Duration = Duration::from_millis(2);

/// Claims `stream` in the log's folder `dir`. Blocks for [`DESCRIBING`] at most.
pub(super) fn claim(dir: &Path, stream: &StreamId, holder: &Holder) -> Result<Claim, ClaimError> {
    let holders = dir.join("holders");
    make_private_dir(&holders).map_err(|e| unusable_dir(&holders, &e))?;
    let path = holders.join(format!("{}.json", stream.subject()));
    let until = Instant::now() + DESCRIBING;
    loop {
        let mut file = open(&path)?;
        match file.try_lock() {
            Ok(()) if stands_at(&file, &path) => {
                if let Err(e) = describe(&mut file, holder) {
                    // The lock is what counts; whoever comes second is told less.
                    tracing::warn!(path = %path.display(), error = %e, "cannot write who holds the stream");
                }
                return Ok(Claim::new(stream.clone(), Hold { file, path }));
            }
            // Its last holder let go of it after it was opened here.
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                if let Some(other) = described(&mut file) {
                    return Err(ClaimError::Held(other));
                }
            }
            Err(TryLockError::Error(e)) => return Err(io_failed(&path, &e).into()),
        }
        if Instant::now() >= until {
            return Err(ClaimError::Held(Holder::unknown()));
        }
        std::thread::sleep(LOOK);
    }
}

/// A lock, given back when this is dropped.
struct Hold {
    file: File,
    path: PathBuf,
}

impl Drop for Hold {
    fn drop(&mut self) {
        if stands_at(&self.file, &self.path)
            && let Err(e) = fs::remove_file(&self.path)
        {
            tracing::debug!(path = %self.path.display(), error = %e, "a holder's file is left behind");
        }
        // Not left to closing alone: a child process that is being started has the file open for a moment, too.
        if let Err(e) = self.file.unlock() {
            tracing::warn!(path = %self.path.display(), error = %e, "cannot give a lock back before the file is closed");
        }
    }
}

/// Opens the file, or makes it. What is no plain file is not touched, and never waited for.
fn open(path: &Path) -> Result<File, LogError> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(flags);
    let unfit = |why: &dyn std::fmt::Display| LogError::Unfit {
        location: path.display().to_string(),
        why: format!("{why}\nhint: remove it; it is only made while a session runs"),
    };
    let file = options.open(path).map_err(|e| match e.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => io_failed(path, &e),
        _ => unfit(&e),
    })?;
    if !file.metadata().map_err(|e| io_failed(path, &e))?.is_file() {
        return Err(unfit(&"it is not a plain file"));
    }
    Ok(file)
}

/// Whether `path` leads to this very file.
fn stands_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(named)) = (file.metadata(), fs::symlink_metadata(path)) else { return false };
    (open.dev(), open.ino()) == (named.dev(), named.ino())
}

fn describe(file: &mut File, holder: &Holder) -> io::Result<()> {
    // What a killed process left.
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&holder.to_json())
}

/// The holder that the file describes; `None` when there is no description, or not yet.
fn described(file: &mut File) -> Option<Holder> {
    let mut bytes = Vec::new();
    file.take(MAX_HOLDER_BYTES as u64 + 1).read_to_end(&mut bytes).ok()?;
    Holder::from_json(&bytes)
}

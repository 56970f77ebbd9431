//! The bound on all checkpoints together: the sessions that were written to longest ago lose theirs first. Blocks.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What all sessions may take, in bytes.
pub(super) const MAX_BYTES: u64 = 1024 * 1024 * 1024;

/// A session's folder.
struct Shelf {
    path: PathBuf,
    bytes: u64,
    written: SystemTime,
}

/// Removes folders of sessions beneath `root` (one folder a log, one a session) until all take at most `max_bytes`. The folder
/// `but` stays.
pub(super) fn bound(root: &Path, max_bytes: u64, but: &Path) {
    let logs = fs::read_dir(root).into_iter().flatten().flatten();
    let sessions = logs.flat_map(|log| fs::read_dir(log.path()).into_iter().flatten().flatten());
    let mut shelves: Vec<Shelf> = sessions.filter_map(|session| shelf(session.path())).collect();
    shelves.sort_by_key(|shelf| std::cmp::Reverse(shelf.written));
    let mut bytes: u64 = shelves.iter().map(|shelf| shelf.bytes).sum();
    while bytes > max_bytes {
        let Some(oldest) = shelves.pop() else { return };
        if oldest.path == but {
            continue;
        }
        match fs::remove_dir_all(&oldest.path) {
            Ok(()) => bytes -= oldest.bytes,
            Err(error) => tracing::debug!(path = %oldest.path.display(), %error, "old checkpoints stay"),
        }
    }
}

fn shelf(path: PathBuf) -> Option<Shelf> {
    let mut shelf = Shelf { bytes: 0, written: SystemTime::UNIX_EPOCH, path };
    for file in fs::read_dir(&shelf.path).ok()?.flatten() {
        let Ok(meta) = file.metadata() else { continue };
        shelf.bytes = shelf.bytes.saturating_add(meta.len());
        shelf.written = shelf.written.max(meta.modified().unwrap_or(SystemTime::UNIX_EPOCH));
    }
    Some(shelf)
}

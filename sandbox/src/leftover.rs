//! Temporary files on the host that a crash would leave: named after the program that made them, and removed by the next
//! one that works in the same folder.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::cgroup::{owner_is_gone, owner_mark};

const PREFIX: &str = ".retrace-temporary-";

/// A new file in this folder that goes away when it is dropped.
pub(crate) fn temporary(dir: &Path) -> io::Result<NamedTempFile> {
    sweep_once(dir);
    tempfile::Builder::new().prefix(&format!("{PREFIX}{}-", owner_mark())).tempfile_in(dir)
}

/// Removes what programs that are gone have left here; each folder is looked at once.
fn sweep_once(dir: &Path) {
    static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    if SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(dir.to_path_buf()) {
        sweep(dir);
    }
}

pub(crate) fn sweep(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let mark = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.rsplit_once('-'));
        if mark.is_some_and(|(mark, _)| owner_is_gone(mark)) {
            // Another program may be at it as well.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
#[path = "leftover_tests.rs"]
mod leftover_tests;

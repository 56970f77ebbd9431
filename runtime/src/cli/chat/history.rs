//! The history of what was typed: a file of the user's own that nobody else may read, without anything that holds a secret
//! and without long pastes.

use super::paste::Pastes;
use reedline::{FileBackedHistory, History, HistoryItem, HistoryItemId, HistorySessionId, SearchQuery};
use retrace_events::redact::Redactor;
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// How many lines are kept.
const LINES: usize = 1_000;

/// A line longer than this is not kept, in bytes.
const LONGEST: usize = 16 * 1024;

/// A file larger than this is begun anew, in bytes.
const LARGEST_FILE: u64 = 32 * 1024 * 1024;

/// The history.
pub(super) struct GuardedHistory {
    inner: FileBackedHistory,
    redactor: Arc<Redactor>,
    pastes: Arc<Mutex<Pastes>>,
}

impl GuardedHistory {
    /// The history in `file`, or one in memory when the file cannot be used; then the reason comes along.
    pub(super) fn open(file: &Path, redactor: Arc<Redactor>, pastes: Arc<Mutex<Pastes>>) -> (Self, Option<String>) {
        let refused = |why: &dyn std::fmt::Display| Some(format!("history is not kept: {}: {why}", file.display()));
        let (inner, why) = match prepare(file) {
            Err(error) => (FileBackedHistory::default(), refused(&error)),
            Ok(()) => match FileBackedHistory::with_file(LINES, file.to_owned()) {
                Ok(inner) => (inner, None),
                Err(error) => (FileBackedHistory::default(), refused(&error)),
            },
        };
        (Self { inner, redactor, pastes }, why)
    }

    /// The line as it is kept; `None` when it is not.
    fn kept(&self, line: &str) -> Option<String> {
        let whole = self.pastes.lock().unwrap_or_else(PoisonError::into_inner).put_back(line);
        let plain = whole.len() <= LONGEST && self.redactor.redact(&whole) == whole;
        plain.then_some(whole)
    }
}

/// Makes sure that the file is there and is nobody else's to read.
fn prepare(file: &Path) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let opened = std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(file)?;
    let meta = opened.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    if meta.permissions().mode() & 0o077 != 0 {
        opened.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    if meta.len() > LARGEST_FILE {
        opened.set_len(0)?;
    }
    Ok(())
}

impl History for GuardedHistory {
    fn save(&mut self, mut item: HistoryItem) -> reedline::Result<HistoryItem> {
        match self.kept(&item.command_line) {
            Some(line) => {
                item.command_line = line;
                self.inner.save(item)
            }
            None => Ok(item),
        }
    }

    fn load(&self, id: HistoryItemId) -> reedline::Result<HistoryItem> {
        self.inner.load(id)
    }

    fn count(&self, query: SearchQuery) -> reedline::Result<i64> {
        self.inner.count(query)
    }

    fn search(&self, query: SearchQuery) -> reedline::Result<Vec<HistoryItem>> {
        self.inner.search(query)
    }

    fn update(&mut self, id: HistoryItemId, updater: &dyn Fn(HistoryItem) -> HistoryItem) -> reedline::Result<()> {
        self.inner.update(id, updater)
    }

    fn clear(&mut self) -> reedline::Result<()> {
        self.inner.clear()
    }

    fn delete(&mut self, id: HistoryItemId) -> reedline::Result<()> {
        self.inner.delete(id)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.inner.sync()
    }

    fn session(&self) -> Option<HistorySessionId> {
        self.inner.session()
    }
}

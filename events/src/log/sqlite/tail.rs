//! Wakes those who follow the log when something was committed, here or in another process.
//!
//! This process's own commits are announced at once. For those of others a thread asks `PRAGMA data_version`, which
//! SQLite changes with every commit of another connection and answers from shared memory without touching the disk.
//! Watching the files instead would be more code per system, and a file changes before its commit can be seen. The
//! thread runs only while somebody follows.

use super::schema;
use crate::log::LogError;
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::watch;

/// How late another process's commit may be noticed.
const POLL: Duration = Duration::from_millis(20);

/// The announcer of one log.
#[derive(Debug)]
pub(super) struct Tail {
    file: PathBuf,
    /// How often something may have been committed.
    changes: watch::Sender<u64>,
    /// Whether the thread runs.
    watching: Mutex<bool>,
}

impl Tail {
    /// Of the log in `file`.
    pub(super) fn new(file: PathBuf) -> Self {
        Self { file, changes: watch::Sender::new(0), watching: Mutex::new(false) }
    }

    /// Something was committed.
    pub(super) fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// Changes each time something may have been committed.
    pub(super) fn watch(tail: &Arc<Self>) -> Result<watch::Receiver<u64>, LogError> {
        // Subscribed first: the thread ends only when it finds nobody, which it decides under the same lock.
        let receiver = tail.changes.subscribe();
        let mut watching = tail.watching.lock().unwrap_or_else(PoisonError::into_inner);
        if !*watching {
            let connection =
                schema::open_reader(&tail.file).map_err(|e| super::failure::sqlite_failed(&tail.file, &e))?;
            let weak = Arc::downgrade(tail);
            let thread = std::thread::Builder::new().name("retrace-tail".to_owned());
            thread.spawn(move || poll(&weak, &connection)).map_err(|e| crate::blob::io_failed(&tail.file, &e))?;
            *watching = true;
        }
        Ok(receiver)
    }

    /// How often something may have been committed.
    #[cfg(test)]
    pub(super) fn changes(&self) -> u64 {
        *self.changes.borrow()
    }

    /// Whether the thread runs.
    #[cfg(test)]
    pub(super) fn is_watching(&self) -> bool {
        *self.watching.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nobody follows any more; then the thread counts as ended.
    fn is_forsaken(&self) -> bool {
        let mut watching = self.watching.lock().unwrap_or_else(PoisonError::into_inner);
        *watching = self.changes.receiver_count() > 0;
        !*watching
    }
}

fn poll(tail: &Weak<Tail>, connection: &Connection) {
    let mut seen = None;
    loop {
        let Some(tail) = tail.upgrade() else { return };
        if tail.is_forsaken() {
            return;
        }
        // An error is news too: whoever follows will read, meet it, and report it.
        let version = connection.pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0)).ok();
        if version.is_none() || version != seen {
            tail.changed();
        }
        seen = version;
        drop(tail);
        std::thread::sleep(POLL);
    }
}

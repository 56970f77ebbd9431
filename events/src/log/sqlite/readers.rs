//! Connections for reading, kept and used again. SQLite lets any number read beside the one that writes.

use super::failure::sqlite_failed;
use super::query::Reader;
use super::schema;
use crate::blob::{FileBlobs, off_thread};
use crate::log::LogError;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// How many read at a time; the others wait. More would only fight for the same disk.
const MAX_READERS: usize = 8;

/// The reading connections of one log.
#[derive(Debug)]
pub(super) struct Readers {
    file: PathBuf,
    blobs: FileBlobs,
    idle: Mutex<Vec<Reader>>,
    turns: Semaphore,
}

impl Readers {
    /// No connections yet; they are opened as they are needed.
    pub(super) fn new(file: PathBuf, blobs: FileBlobs) -> Self {
        Self { file, blobs, idle: Mutex::default(), turns: Semaphore::new(MAX_READERS) }
    }

    /// Where the log is.
    pub(super) fn location(&self) -> String {
        self.file.display().to_string()
    }

    /// Runs `ask` on a connection, off the async threads.
    pub(super) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        ask: impl FnOnce(&Reader) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, LogError> {
        // The semaphore is never closed; should it be, there is merely no limit.
        let _turn = self.turns.acquire().await;
        let readers = Arc::clone(self);
        off_thread(&self.file, move || {
            let reader = readers.take()?;
            let answer = ask(&reader);
            readers.idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
            answer
        })
        .await
    }

    fn take(&self) -> Result<Reader, LogError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(reader) = idle {
            return Ok(reader);
        }
        let connection = schema::open_reader(&self.file).map_err(|e| sqlite_failed(&self.file, &e))?;
        Ok(Reader { file: self.file.clone(), connection, blobs: self.blobs.clone() })
    }
}

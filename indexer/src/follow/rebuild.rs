//! Making an index again, and checking one against a clean rebuild.
//!
//! The new index is built beside the old one, which answers meanwhile, and takes its place by a rename.

use super::feeder::Feeder;
use super::follow_error::FollowError;
use super::follower::MEMORY_BYTES;
use super::index_check::IndexCheck;
use super::index_folder::IndexFolder;
use super::index_note::IndexNote;
use super::log_feed::{FollowProgress, LogFeed};
use super::writer_lock::{LockOutcome, WriterLock, make_private};
use crate::keyword::KeywordIndex;
use retrace_events::EventLog;
use retrace_events::log::{Holder, Position};
use retrace_events::redact::Redactor;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Builds indexes beside the one that is used.
#[derive(Debug)]
pub struct Rebuild {
    folder: IndexFolder,
    log: Arc<dyn EventLog>,
    redactor: Arc<Redactor>,
    _lock: WriterLock,
}

impl Rebuild {
    /// Takes the index in `folder` for this process.
    ///
    /// # Errors
    /// [`FollowError::Busy`] when another process writes it.
    pub fn begin(
        log: Arc<dyn EventLog>,
        folder: &IndexFolder,
        redactor: Arc<Redactor>,
        holder: &Holder,
    ) -> Result<Self, FollowError> {
        let lock = match WriterLock::take(&folder.lock_file(), holder).map_err(|error| at(folder.path(), error))? {
            LockOutcome::Taken(lock) => lock,
            LockOutcome::Held(holder) => return Err(FollowError::Busy(holder)),
        };
        Ok(Self { folder: folder.clone(), log, redactor, _lock: lock })
    }

    /// Makes the index again from the whole log.
    ///
    /// # Errors
    /// When log or folder fails; the old index is then still there.
    pub async fn run(&self, progress: &mut (dyn FnMut(FollowProgress) + Send)) -> Result<IndexNote, FollowError> {
        let end = self.log.end().await?;
        let beside = self.build_beside("new", end, progress).await?;
        let (keyword, old) = (self.folder.keyword(), self.beside("old"));
        remove(&old)?;
        match std::fs::rename(&keyword, &old) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(&keyword, error)),
            _ => {}
        }
        std::fs::rename(&beside.path, &keyword).map_err(|error| at(&keyword, error))?;
        remove(&old)?;
        Ok(beside.note)
    }

    /// Builds the index again as far as the present one has read, and compares document by document.
    ///
    /// # Errors
    /// When log or folder fails, or the present index cannot be read.
    pub async fn check(&self, progress: &mut (dyn FnMut(FollowProgress) + Send)) -> Result<IndexCheck, FollowError> {
        let Some(present) = KeywordIndex::open(&self.folder.keyword())? else {
            return Ok(IndexCheck::default());
        };
        let text = present.note();
        // Killed before its first commit, it holds nothing yet.
        let note = if text.is_empty() { Some(IndexNote::empty()) } else { IndexNote::parse(&text) };
        let note = note.ok_or_else(|| FollowError::Outdated(self.folder.keyword()))?;
        let beside = self.build_beside("check", note.position, progress).await?;
        let check = match KeywordIndex::open(&beside.path)? {
            Some(clean) => IndexCheck::compare(&present, &clean)?,
            None => IndexCheck::default(),
        };
        remove(&beside.path)?;
        Ok(check)
    }

    async fn build_beside(
        &self,
        name: &str,
        end: Position,
        progress: &mut (dyn FnMut(FollowProgress) + Send),
    ) -> Result<Built, FollowError> {
        let path = self.beside(name);
        remove(&path)?;
        make_private(&path).map_err(|error| at(&path, error))?;
        let feeder = Feeder::open(&path, Arc::clone(&self.redactor), MEMORY_BYTES)?;
        let mut feed = LogFeed { log: Arc::clone(&self.log), feeder };
        feed.feed_until(end, progress).await?;
        Ok(Built { note: feed.feeder.finish()?, path })
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("keyword.{name}"))
    }
}

struct Built {
    path: PathBuf,
    note: IndexNote,
}

fn remove(folder: &Path) -> Result<(), FollowError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(folder, error)),
        _ => Ok(()),
    }
}

fn at(path: &Path, source: io::Error) -> FollowError {
    FollowError::Folder { path: path.to_path_buf(), source }
}

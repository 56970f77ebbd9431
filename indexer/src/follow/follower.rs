//! The follower: reads the log from where the index stands, feeds the index, and goes on as events come.
//!
//! One process follows at a time; the others read what it commits. Each commit holds the documents and the position
//! they reflect, so a follower that was killed at any point goes on without a gap and without a double. Dropping
//! the future of [`Follower::catch_up`] or [`Follower::live`] is the way to stop: what was not committed is read again.

use super::feeder::Feeder;
use super::follow_error::FollowError;
use super::index_folder::IndexFolder;
use super::index_note::{IndexNote, Witness};
use super::log_feed::{FollowProgress, LogFeed};
use super::writer_lock::{LockOutcome, WriterLock};
use crate::keyword::KeywordError;
use futures::StreamExt as _;
use retrace_events::log::{Holder, StreamFilter};
use retrace_events::redact::Redactor;
use retrace_events::{EventLog, LogError};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long an event waits for others before it is committed.
const LIVE_WAIT: Duration = Duration::from_millis(300);

/// How long a dropped writer may still be joining segments.
const MERGE_WAIT: Duration = Duration::from_secs(2);

/// What the writer may use for documents that are not on the disk yet, in bytes: following, and catching up.
pub(crate) const MEMORY_BYTES: usize = 64 * 1024 * 1024;

/// Follows one log into one index.
#[derive(Debug)]
pub struct Follower {
    feed: LogFeed,
    /// Why the index is made anew, when it is.
    begun_anew: Option<String>,
    _lock: WriterLock,
}

impl Follower {
    /// Takes the index in `folder` for this process. What is damaged, of another version, or contradicts the log is
    /// removed, and the index begins anew; [`Self::begun_anew`] says so.
    ///
    /// # Errors
    /// [`FollowError::Busy`] when another process follows; otherwise when folder or log cannot be used.
    pub async fn open(
        log: Arc<dyn EventLog>,
        folder: &IndexFolder,
        redactor: Arc<Redactor>,
        holder: &Holder,
    ) -> Result<Self, FollowError> {
        let unusable = |source| FollowError::Folder { path: folder.path().to_path_buf(), source };
        let lock = match WriterLock::take(&folder.lock_file(), holder).map_err(unusable)? {
            LockOutcome::Taken(lock) => lock,
            LockOutcome::Held(holder) => return Err(FollowError::Busy(holder)),
        };
        let keyword = folder.keyword();
        let (feeder, begun_anew) = match Feeder::open(&keyword, Arc::clone(&redactor), MEMORY_BYTES) {
            Ok(feeder) => match feeder.note().compare(log.as_ref()).await? {
                Witness::Agrees => (feeder, None),
                Witness::Contradicts => {
                    let seen = feeder.note().position.0;
                    // Not merely dropped: what still merges segments would write into the folder that goes.
                    let _ = feeder.finish();
                    // Vectors know their events by position, which says nothing about another log.
                    remove(&folder.vectors())?;
                    let why = format!(
                        "it has seen event {seen}, which the log does not hold any more: the log is another one or has lost its end"
                    );
                    (anew(&keyword, redactor)?, Some(why))
                }
            },
            Err(error) if error.is_cured_by_rebuilding() => {
                let why = error.to_string();
                (anew(&keyword, redactor)?, Some(why))
            }
            Err(error) => return Err(error),
        };
        Ok(Self { feed: LogFeed { log, feeder }, begun_anew, _lock: lock })
    }

    /// Why the index was begun anew, when it was.
    #[must_use]
    pub fn begun_anew(&self) -> Option<&str> {
        self.begun_anew.as_deref()
    }

    /// What the index has seen.
    #[must_use]
    pub const fn note(&self) -> &IndexNote {
        self.feed.feeder.note()
    }

    /// Reads everything the log has now, and commits it.
    ///
    /// # Errors
    /// When the log or the index fails; what was committed stays.
    pub async fn catch_up(&mut self, progress: &mut (dyn FnMut(FollowProgress) + Send)) -> Result<(), FollowError> {
        let end = self.feed.log.end().await?;
        self.feed.feed_until(end, progress).await
    }

    /// Feeds what the log has and commits nothing, as a follower that is killed.
    #[cfg(test)]
    pub(crate) async fn feed_without_commit(&mut self) -> Result<(), FollowError> {
        let page = self.feed.log.read_all(self.note().position, usize::MAX).await?;
        for (position, envelope) in page {
            self.feed.feed(position, envelope).await?;
        }
        Ok(())
    }

    /// Follows until it is dropped or something fails: every event is found within a second of its append.
    ///
    /// # Errors
    /// When the log or the index fails.
    pub async fn live(&mut self) -> Result<(), FollowError> {
        loop {
            self.catch_up(&mut |_| {}).await?;
            let mut events = self.feed.log.follow(StreamFilter::default(), self.note().position).await?;
            let mut due: Option<Instant> = None;
            loop {
                let wake = due.unwrap_or_else(|| Instant::now() + Duration::from_secs(3600));
                tokio::select! {
                    next = events.next() => match next {
                        Some(Ok((position, envelope))) => {
                            self.feed.feed(position, envelope).await?;
                            due = due.or_else(|| Some(Instant::now() + LIVE_WAIT));
                        }
                        // `catch_up` knows how to pass over one that is damaged.
                        Some(Err(LogError::Damaged { .. })) | None => break,
                        Some(Err(error)) => return Err(error.into()),
                    },
                    () = tokio::time::sleep_until(wake), if due.is_some() => {
                        self.feed.feeder.commit()?;
                        due = None;
                    }
                }
            }
        }
    }
}

fn anew(keyword: &Path, redactor: Arc<Redactor>) -> Result<Feeder, FollowError> {
    remove(keyword)?;
    Feeder::open(keyword, redactor, MEMORY_BYTES)
}

/// Removes `folder` and what is in it. A writer of this process that was dropped a moment ago may still be joining segments
/// there: it is waited for.
fn remove(folder: &Path) -> Result<(), FollowError> {
    let until = Instant::now() + MERGE_WAIT;
    loop {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() == std::io::ErrorKind::DirectoryNotEmpty && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(FollowError::Folder { path: folder.to_path_buf(), source });
            }
            Ok(()) | Err(_) => return Ok(()),
        }
    }
}

impl FollowError {
    /// Whether an index made anew would do.
    pub(crate) const fn is_cured_by_rebuilding(&self) -> bool {
        match self {
            Self::Outdated(_) | Self::Keyword(KeywordError::Damaged { .. } | KeywordError::OtherVersion { .. }) => true,
            Self::Busy(_) | Self::Folder { .. } | Self::Keyword(_) | Self::Log(_) => false,
        }
    }
}

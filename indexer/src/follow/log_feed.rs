//! Reads a log page by page into an index, up to a given position. What cannot be read is passed over and counted.

use super::feeder::Feeder;
use super::follow_error::FollowError;
use retrace_events::log::Position;
use retrace_events::{Envelope, EventLog, LogError};
use std::sync::Arc;

/// How many events are read at a time.
const PAGE: usize = 2_000;

/// A commit is made after so many bytes of text ...
const COMMIT_TEXT_BYTES: u64 = 64 * 1024 * 1024;

/// ... or so many events, whichever comes first.
const COMMIT_EVENTS: u64 = 100_000;

/// How far an index is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FollowProgress {
    /// The position read last.
    pub position: Position,
    /// The last position of the log.
    pub end: Position,
    /// Events read in this run.
    pub events: u64,
    /// Documents made of them.
    pub documents: u64,
}

/// A log, and the index it is fed to.
#[derive(Debug)]
pub(crate) struct LogFeed {
    pub(crate) log: Arc<dyn EventLog>,
    pub(crate) feeder: Feeder,
}

impl LogFeed {
    /// Reads everything up to `end` and commits it.
    ///
    /// # Errors
    /// When the log or the index fails; what was committed stays.
    pub(crate) async fn feed_until(
        &mut self,
        end: Position,
        progress: &mut (dyn FnMut(FollowProgress) + Send),
    ) -> Result<(), FollowError> {
        let (mut events, mut documents) = (0, 0);
        while self.feeder.note().position < end {
            let before = self.feeder.pending();
            let read = self.page(end).await?;
            let after = self.feeder.pending();
            events += after.events - before.events;
            documents += after.documents - before.documents;
            if after.text_bytes >= COMMIT_TEXT_BYTES || after.events >= COMMIT_EVENTS {
                self.feeder.commit()?;
            }
            progress(FollowProgress { position: self.feeder.note().position, end, events, documents });
            if read == 0 {
                break;
            }
        }
        if self.feeder.is_dirty() {
            self.feeder.commit()?;
        }
        Ok(())
    }

    /// Feeds one event.
    ///
    /// # Errors
    /// As [`Feeder::feed`].
    pub(crate) async fn feed(&mut self, position: Position, envelope: Envelope) -> Result<(), FollowError> {
        self.feeder.feed(self.log.as_ref(), position, envelope).await
    }

    /// Feeds one page of events up to `end`; how many.
    async fn page(&mut self, end: Position) -> Result<usize, FollowError> {
        let after = self.feeder.note().position;
        match self.log.read_all(after, PAGE).await {
            Ok(page) => {
                let read = page.len();
                for (position, envelope) in page.into_iter().take_while(|(position, _)| *position <= end) {
                    self.feed(position, envelope).await?;
                }
                Ok(read)
            }
            Err(LogError::Damaged { .. }) => self.one_by_one(after, end).await,
            Err(error) => Err(error.into()),
        }
    }

    /// Goes on to just behind the first event that cannot be read. Damage is reported by whoever reads the session; an
    /// index that stopped at it would hide everything that came after.
    async fn one_by_one(&mut self, after: Position, end: Position) -> Result<usize, FollowError> {
        let mut at = after;
        while at < end {
            match self.log.read_all(at, 1).await {
                Ok(found) => {
                    let Some((position, envelope)) = found.into_iter().next() else { return Ok(0) };
                    at = position;
                    self.feed(position, envelope).await?;
                }
                Err(LogError::Damaged { .. }) => {
                    self.feeder.skip(Position(at.0 + 1));
                    return Ok(1);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(1)
    }
}

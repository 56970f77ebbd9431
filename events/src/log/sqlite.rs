//! The embedded log: one SQLite file, blobs as files beside it, nothing to install.
//!
//! ```text
//!   <dir>/log.db        streams and events      <dir>/blobs/ab/cdef…   payloads over 256 KiB, outputs, attachments
//!   <dir>/holders/      who runs a session now
//! ```
//!
//! **Order.** A position is the `AUTOINCREMENT` row id of an event. SQLite lets one transaction write at a time, over
//! all processes, and each takes the write lock before it draws its first row id (`BEGIN IMMEDIATE`); so row ids are
//! committed in the order they are drawn, and whoever has seen position p will never be shown a new one below it.
//!
//! **Durability.** WAL with `synchronous=FULL`: a commit returns after its pages are synced.
//!
//! **Throughput.** One thread writes ([`committer`]) and puts all appends that wait into one transaction, so that
//! many writers share a sync. Readers have connections of their own and block nobody.
//!
//! Not for network file systems: WAL needs memory shared between all processes that use the file.

mod claim_file;
mod committer;
mod deleting;
mod failure;
mod query;
mod readers;
mod schema;
mod tail;
#[cfg(test)]
mod tests;

use super::batch::CheckedBatch;
use super::chain::{Chain, StoredEvent};
use super::{Claim, ClaimError, Holder};
use super::{Deletion, Durability, EventLog, Head, LogError, Position, Positioned, StreamFilter, StreamInfo};
use crate::blob::{BlobStore, FileBlobs, make_private_dir, off_thread};
use crate::envelope::Envelope;
use crate::id::StreamId;
use async_trait::async_trait;
use committer::{Committer, Row};
use futures::stream::{self, BoxStream, StreamExt};
use query::Limits;
use readers::Readers;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tail::Tail;

/// A payload over this size is kept in the blob store: large rows make SQLite's log grow and its checkpoints slow.
const SPILL_BYTES: usize = 256 * 1024;

/// How much a follower reads at a time.
const FOLLOW: Limits = Limits { events: 512, bytes: 8 * 1024 * 1024 };

/// The embedded log. Any number of them, in any number of processes, may be open on the same folder.
#[derive(Debug)]
pub struct SqliteLog {
    dir: PathBuf,
    identity: String,
    committer: Committer,
    readers: Arc<Readers>,
    tail: Arc<Tail>,
    blobs: FileBlobs,
}

impl SqliteLog {
    /// Opens the log in the folder `dir`; makes both when they are not there. Blocks.
    ///
    /// # Errors
    /// [`LogError::Newer`] when a newer version made it, [`LogError::Unfit`] when the file is not ours or the folder
    /// cannot be used, [`LogError::DamagedStore`] when the file is broken, [`LogError::Full`] when there is no space.
    pub fn open(dir: &Path) -> Result<Self, LogError> {
        make_private_dir(dir).map_err(|e| failure::unusable_dir(dir, &e))?;
        failure::refuse_network_filesystem(dir)?;
        let file = dir.join("log.db");
        let connection = schema::open_or_create(&file)?;
        let blobs = FileBlobs::open(&dir.join("blobs"))?;
        let tail = Arc::new(Tail::new(file.clone()));
        let committer = Committer::start(&file, connection, Arc::clone(&tail))?;
        let readers = Arc::new(Readers::new(file.clone(), blobs.clone()));
        let identity = identity_of(dir, &file)?;
        Ok(Self { dir: dir.to_owned(), identity, committer, readers, tail, blobs })
    }

    async fn append_as(&self, batch: &[Envelope], begins_again: bool) -> Result<(), LogError> {
        let Some(batch) = CheckedBatch::check(batch)? else { return Ok(()) };
        let (stream, first_seq, prev_hash, head) = (batch.stream.clone(), batch.first_seq, batch.prev_hash, batch.head);
        let rows = self.rows(batch).await?;
        self.committer.append(committer::Append { stream, first_seq, prev_hash, head, rows, begins_again }).await
    }

    /// The rows of a batch, their large payloads stored already.
    async fn rows(&self, batch: CheckedBatch<'_>) -> Result<Vec<Row>, LogError> {
        let mut rows = Vec::with_capacity(batch.events.len());
        for event in batch.events {
            let (envelope, mut bytes, mut payload_blob) = (event.envelope, event.bytes, None);
            if envelope.payload.len() > SPILL_BYTES {
                payload_blob = Some(self.blobs.put(&envelope.payload).await?.hash);
                bytes = StoredEvent::stub(envelope)?;
            }
            rows.push(Row::of(envelope, StoredEvent { bytes, hash: event.hash, payload_blob }));
        }
        Ok(rows)
    }
}

#[async_trait]
impl EventLog for SqliteLog {
    async fn append(&self, batch: &[Envelope]) -> Result<(), LogError> {
        self.append_as(batch, false).await
    }

    async fn begin_again(&self, batch: &[Envelope]) -> Result<(), LogError> {
        self.append_as(batch, true).await
    }

    async fn delete(&self, deletion: &Deletion) -> Result<(), LogError> {
        let (file, deletion) = (self.dir.join("log.db"), deletion.clone());
        let deleted = off_thread(&self.dir, move || deleting::delete(&file, &deletion)).await;
        self.tail.changed();
        deleted
    }

    async fn deleted(&self, filter: &StreamFilter) -> Result<Vec<StreamInfo>, LogError> {
        let filter = filter.clone();
        self.readers.run(move |reader| reader.streams(&filter, true)).await
    }

    async fn head(&self, stream: &StreamId) -> Result<Option<Head>, LogError> {
        let stream = stream.clone();
        self.readers.run(move |reader| reader.head(&stream)).await
    }

    async fn read(&self, stream: &StreamId, from_seq: u64, limit: usize) -> Result<Vec<Envelope>, LogError> {
        let stream = stream.clone();
        self.readers.run(move |reader| reader.read(&stream, from_seq, limit)).await
    }

    async fn read_all(&self, after: Position, limit: usize) -> Result<Vec<Positioned>, LogError> {
        let limits = Limits { events: limit, bytes: usize::MAX };
        let read =
            move |reader: &query::Reader| reader.page(&StreamFilter::default(), after, limits, &mut Chain::default());
        Ok(self.readers.run(read).await?.events)
    }

    async fn end(&self) -> Result<Position, LogError> {
        self.readers.run(|reader| reader.end()).await
    }

    async fn follow(
        &self,
        filter: StreamFilter,
        after: Position,
    ) -> Result<BoxStream<'static, Result<Positioned, LogError>>, LogError> {
        let mut changes = Tail::watch(&self.tail)?;
        // The first look comes without waiting.
        changes.mark_changed();
        let readers = Arc::clone(&self.readers);
        let start = Some((readers, changes, Arc::new(filter), Chain::default(), after));
        let pages = stream::unfold(start, |state| async {
            let (readers, mut changes, filter, mut chain, after) = state?;
            // Marked as seen before the reading, so that what is committed during it wakes us again. The readers hold
            // no sender: when the log itself is dropped, the stream goes on only until it has caught up.
            if changes.changed().await.is_err() {
                let location = readers.location();
                return Some((vec![Err(LogError::Unavailable { location, why: "it was closed".to_owned() })], None));
            }
            let meant = Arc::clone(&filter);
            let read = move |reader: &query::Reader| {
                let page = reader.page(&meant, after, FOLLOW, &mut chain)?;
                Ok((page, chain))
            };
            match readers.run(read).await {
                Ok((page, chain)) => {
                    if page.more {
                        changes.mark_changed();
                    }
                    Some((
                        page.events.into_iter().map(Ok).collect(),
                        Some((readers, changes, filter, chain, page.reached)),
                    ))
                }
                Err(e) => Some((vec![Err(e)], None)),
            }
        });
        Ok(pages.flat_map(stream::iter).boxed())
    }

    async fn streams(&self, filter: &StreamFilter) -> Result<Vec<StreamInfo>, LogError> {
        let filter = filter.clone();
        self.readers.run(move |reader| reader.streams(&filter, false)).await
    }

    async fn claim(&self, stream: &StreamId, holder: &Holder) -> Result<Claim, ClaimError> {
        let (dir, stream, holder) = (self.dir.clone(), stream.clone(), holder.clone());
        off_thread(&self.dir, move || Ok(claim_file::claim(&dir, &stream, &holder))).await?
    }

    fn blobs(&self) -> &dyn BlobStore {
        &self.blobs
    }

    fn durability(&self) -> Durability {
        Durability::PowerLoss
    }

    fn location(&self) -> String {
        self.dir.display().to_string()
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }
}

/// Where the file is and which one: a log that was moved away and another one that has its name by now are two.
fn identity_of(dir: &Path, file: &Path) -> Result<String, LogError> {
    let found = file.metadata().and_then(|meta| Ok((meta, dir.canonicalize()?)));
    let (meta, dir) = found.map_err(|e| crate::blob::io_failed(file, &e))?;
    Ok(format!("{} {}:{}", dir.display(), meta.dev(), meta.ino()))
}

/// Opens the log off the async threads.
pub(super) async fn open(dir: &Path) -> Result<SqliteLog, LogError> {
    let owned = dir.to_owned();
    off_thread(dir, move || SqliteLog::open(&owned)).await
}

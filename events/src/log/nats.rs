//! The JetStream log: one stream, `retrace`, over the subjects `ev.>`, and an Object Store for blobs.
//!
//! **Order.** A position is the sequence number JetStream gave the message; a server hands out messages in that order
//! and none before it is committed.
//!
//! **Fence.** Each event stream is one subject. An append names the sequence number of the subject's last message
//! (`Nats-Expected-Last-Subject-Sequence`), which this handle looked at and found to be the event that the new one
//! follows; the server refuses it when another has been stored since. A batch is a JetStream atomic batch.
//!
//! **Doubt.** A time-out, a refused expectation and a duplicate id all mean: look at the subject's last message, which
//! the stream's leader tells, and decide by its hash ([`append`]).
//!
//! **Complete reading.** JetStream skips messages that it cannot read any more, without a word. So a read first asks
//! the leader what the last message is, counts, and compares ([`read`]).
//!
//! **Presence.** Whoever holds a stream answers questions about it, by plain messages ([`presence`]).
//!
//! **Durability.** By default a server acks before it syncs. [`durable`] finds out whether every server that holds the
//! stream runs with `sync_interval: always`, and the log is refused when that is not so or not known, unless the
//! options say otherwise.

mod api;
mod append;
mod connect;
mod deleting;
mod durable;
mod fetch;
mod follow;
mod message;
mod named_objects;
mod nats_options;
mod object_blobs;
mod presence;
mod read;
mod servers;
mod storage;

pub use nats_options::NatsOptions;

use super::batch::CheckedBatch;
use super::chain::Chain;
use super::{Claim, ClaimError, Holder};
use super::{Deletion, Durability, EventLog, Head, LogError, Position, Positioned, StreamFilter, StreamInfo};
use crate::blob::{BlobStore, NamedObjects};
use crate::envelope::Envelope;
use crate::id::StreamId;
use api::Remote;
use async_trait::async_trait;
use futures::stream::BoxStream;
use read::Limits;
use std::sync::Arc;

/// The name of the JetStream stream.
pub(crate) const STREAM: &str = "retrace";

/// All subjects of events.
pub(crate) const ALL_EVENTS: &str = "ev.>";

/// A log on a NATS server or cluster. Any number of them, on any number of machines, may be open at a time.
#[derive(Debug)]
pub struct NatsLog {
    remote: Arc<Remote>,
    durability: Durability,
    identity: String,
}

impl NatsLog {
    /// Connects, checks that the server is fit to hold a log, and makes what is missing there.
    ///
    /// # Errors
    /// [`LogError::Unavailable`] when no server answers within about 5 seconds; [`LogError::Unfit`] when it is too
    /// old, has no JetStream, refuses us, holds a stream of that name made differently, or its acks are not known to
    /// be durable; [`LogError::Newer`] when a newer version made the stream.
    pub async fn connect(options: &NatsOptions) -> Result<Self, LogError> {
        let connection = connect::connect(options).await?;
        let (remote, info) = storage::open(connection, options).await?;
        let durability = durable::check(&remote, &info, options).await?;
        // Behind one address there may be another server tomorrow.
        let identity = format!("{} {}", remote.location, info.created.unix_timestamp_nanos());
        Ok(Self { remote: Arc::new(remote), durability, identity })
    }

    /// How many messages the server has lost or was told to delete; anything but deletions and purges that somebody knows of
    /// is damage, and [`crate::verify`] tells where.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn deleted_messages(&self) -> Result<u64, LogError> {
        Ok(self.remote.stream_state(false).await?.num_deleted)
    }
}

#[async_trait]
impl EventLog for NatsLog {
    async fn append(&self, batch: &[Envelope]) -> Result<(), LogError> {
        let Some(batch) = CheckedBatch::check(batch)? else { return Ok(()) };
        self.remote.append(batch, false).await
    }

    async fn begin_again(&self, batch: &[Envelope]) -> Result<(), LogError> {
        let Some(batch) = CheckedBatch::check(batch)? else { return Ok(()) };
        self.remote.append(batch, true).await
    }

    async fn delete(&self, deletion: &Deletion) -> Result<(), LogError> {
        self.remote.delete(deletion).await
    }

    async fn deleted(&self, filter: &StreamFilter) -> Result<Vec<StreamInfo>, LogError> {
        self.remote.streams(filter, true).await
    }

    async fn head(&self, stream: &StreamId) -> Result<Option<Head>, LogError> {
        Ok(self.remote.living(stream).await?.map(|last| last.head))
    }

    async fn read(&self, stream: &StreamId, from_seq: u64, limit: usize) -> Result<Vec<Envelope>, LogError> {
        self.remote.read(stream, from_seq, limit).await
    }

    async fn read_all(&self, after: Position, limit: usize) -> Result<Vec<Positioned>, LogError> {
        let limits = Limits { events: limit, bytes: usize::MAX };
        Ok(self.remote.page(ALL_EVENTS, after.0, limits, &mut Chain::default()).await?.events)
    }

    async fn end(&self) -> Result<Position, LogError> {
        Ok(Position(self.remote.stream_state(false).await?.last_seq))
    }

    async fn follow(
        &self,
        filter: StreamFilter,
        after: Position,
    ) -> Result<BoxStream<'static, Result<Positioned, LogError>>, LogError> {
        follow::follow(Arc::clone(&self.remote), &filter, after).await
    }

    async fn streams(&self, filter: &StreamFilter) -> Result<Vec<StreamInfo>, LogError> {
        self.remote.streams(filter, false).await
    }

    async fn claim(&self, stream: &StreamId, holder: &Holder) -> Result<Claim, ClaimError> {
        self.remote.claim(stream, holder).await
    }

    fn blobs(&self) -> &dyn BlobStore {
        &self.remote.blobs
    }

    fn durability(&self) -> Durability {
        self.durability.clone()
    }

    fn location(&self) -> String {
        self.remote.location.clone()
    }

    fn objects(&self) -> Option<&dyn NamedObjects> {
        Some(&self.remote.blobs)
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }
}

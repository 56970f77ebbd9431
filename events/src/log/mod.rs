//! The contract of an event log, which every backend keeps and one suite (`testing::conformance`) checks.
//!
//! ```text
//!   stream A:   0 ── 1 ── 2 ── 3        seq: per stream, from 0, without gaps; each event holds the hash of the
//!   stream B:        0 ── 1 ── 2             one before it (prev_hash)
//!   position:   1 2  3    4 ...         one order over all streams: what readers and indexes follow
//! ```
//!
//! **Order.** `seq` is dense in a stream. [`Position`] grows with every event over all streams, not necessarily by one;
//! within a stream it grows with `seq`. A reader that has seen position p will never be shown a new event at or
//! below p.
//!
//! **Durability.** When [`EventLog::append`] returns `Ok`, the events survive a crash of the process and a loss of power,
//! as far as [`EventLog::durability`] says so.
//!
//! **Fence.** An append MUST be refused with [`LogError::Fenced`], and nothing stored, unless the first event's `seq` is
//! one more than the stream's last and its `prev_hash` is that event's hash (for an empty stream: `seq` 0; its
//! `prev_hash` is [`Hash::GENESIS`] or, for a fork, the parent's). So of two writers exactly one goes on.
//!
//! **Idempotence.** Appending the very events that stand at the end of the stream already (same ids, same hashes) MUST
//! return `Ok` and store nothing. So a writer whose ack was lost repeats the append as it was.
//!
//! **Atomicity.** A batch is stored whole or not at all, and no reader sees a part of it.
//!
//! **Time-outs.** [`LogError::Unavailable`] never means "not written". Backends look for the events before they return
//! it; a caller that gets it repeats the same append or reads the stream's head.
//!
//! **Size.** A batch of up to [`MAX_BATCH_EVENTS`] events with [`MAX_BATCH_BYTES`] bytes of payload is taken. A payload of up to [`crate::codec::MAX_PAYLOAD_BYTES`] is taken; where a backend's own limit is lower it keeps the
//! payload in its blob store, and readers do not see the difference.
//!
//! **Presence.** A [`Claim`] tells others that a process runs a session; [`EventLog::claim`] gives at most one for a
//! stream, as far as that can be known without waiting. It is free again at once when it is dropped or its process ends,
//! however it ends (also by `kill -9`, or with its machine, as soon as its connection is closed): there is no time-out
//! that has to pass. The second one is told at once who holds the stream. It is a courtesy and protects nothing: after a
//! split of the network, a reconnect, or a file that somebody removed, two may hold one stream, and a writer needs no
//! claim at all. The fence is what decides.
//!
//! **Deletion.** A stream is deleted whole ([`EventLog::delete`]). For whoever asks for it, it is not there any more; who
//! appends to it, from whichever event on, gets [`LogError::Deleted`]. `read_all` and `follow` show one event in its
//! place ([`Deletion::stands_in`]) at a position of its own; it may stand behind events that are gone. A stream that begins
//! again does so with number 0. Other streams keep their events, numbers, positions and hashes.
//!
//! **Damage.** `read`, `read_all` and `follow` compare each event with the hash stored beside it, and each event of a stream
//! with the one before it that the same call returned, and return [`LogError::Damaged`] rather than skip. The whole
//! chain is checked by [`crate::verify`]. A position beyond the last one the log has ever given is
//! [`LogError::DamagedStore`]: the log has lost its end since, or the position is another log's.

mod batch;
pub(crate) mod chain;
mod claim;
mod deletion;
mod durability;
mod holder;
mod log_location;
mod memory_log;
mod nats;
mod position;
mod sqlite;
mod streams;

pub use batch::{MAX_BATCH_BYTES, MAX_BATCH_EVENTS, MAX_KIND_BYTES};
pub use claim::{Claim, ClaimError};
pub use deletion::Deletion;
pub use durability::Durability;
pub use holder::Holder;
pub use log_location::{LogLocation, open_log};
pub use memory_log::{Fault, MemoryLog};
pub use nats::{NatsLog, NatsOptions};
pub use position::{Head, Position};
pub use sqlite::SqliteLog;
pub use streams::{StreamFilter, StreamInfo};

use crate::blob::{BlobStore, NamedObjects};
use crate::codec::CodecError;
use crate::envelope::Envelope;
use crate::hash::Hash;
use crate::id::StreamId;
use async_trait::async_trait;
use futures::stream::BoxStream;

/// An event and where it stands in the order over all streams.
pub type Positioned = (Position, Envelope);

/// The log. See the [module's documentation](self) for what every backend promises.
#[async_trait]
pub trait EventLog: Send + Sync + std::fmt::Debug {
    /// Appends `batch`, in order, to the stream that all its events name. An empty batch does nothing.
    ///
    /// # Errors
    /// See the module's documentation: fence, idempotence, time-outs, size.
    async fn append(&self, batch: &[Envelope]) -> Result<(), LogError>;

    /// The last event of `stream`; `None` when there is none. Reads what was written before (never stale).
    ///
    /// # Errors
    /// When the log cannot be asked or the event is damaged.
    async fn head(&self, stream: &StreamId) -> Result<Option<Head>, LogError>;

    /// Up to `limit` events of `stream` from `from_seq` on. Reads what was written before.
    ///
    /// # Errors
    /// When the log cannot be asked or an event is damaged or missing.
    async fn read(&self, stream: &StreamId, from_seq: u64, limit: usize) -> Result<Vec<Envelope>, LogError>;

    /// Up to `limit` events after position `after`, over all streams.
    ///
    /// # Errors
    /// As [`Self::read`].
    async fn read_all(&self, after: Position, limit: usize) -> Result<Vec<Positioned>, LogError>;

    /// The position of the last event over all streams; 0 before the first. Whoever follows from there on sees all that
    /// is appended after this call, and nothing that was acknowledged before it.
    ///
    /// # Errors
    /// When the log cannot be asked.
    async fn end(&self) -> Result<Position, LogError>;

    /// All events after position `after` in the streams `filter` means: first those there are, then new ones as they
    /// are appended, by this or any other process. Ends only with an error.
    ///
    /// # Errors
    /// When the log cannot be asked.
    async fn follow(
        &self,
        filter: StreamFilter,
        after: Position,
    ) -> Result<BoxStream<'static, Result<Positioned, LogError>>, LogError>;

    /// The streams `filter` means, the one written last first.
    ///
    /// # Errors
    /// When the log cannot be asked.
    async fn streams(&self, filter: &StreamFilter) -> Result<Vec<StreamInfo>, LogError>;

    /// Claims `stream` for `holder`, which describes this process. Does not wait for one that holds it already.
    ///
    /// # Errors
    /// [`ClaimError::Held`] when somebody holds it, of this process or another; when it is not known who (it does not
    /// answer within about 2 seconds, or not in a way that can be understood), [`Holder::is_unknown`] is true.
    /// [`ClaimError::Log`] when the log cannot be asked.
    async fn claim(&self, stream: &StreamId, holder: &Holder) -> Result<Claim, ClaimError>;

    /// Deletes a stream. Safe to call again, by anybody, until it has returned `Ok`: then nothing of it is left but its
    /// tombstone. A stream without events gets one too, so that it stays without.
    ///
    /// Blobs are left alone: others may need them.
    ///
    /// # Errors
    /// When the log cannot be asked; the stream may be deleted all the same, and some of its bytes left.
    async fn delete(&self, deletion: &Deletion) -> Result<(), LogError> {
        let why = format!("it cannot delete {}", deletion.stream);
        Err(LogError::Unfit { location: self.location(), why })
    }

    /// The deleted streams that `filter` means, in no order; [`StreamInfo::head`] is the tombstone.
    ///
    /// # Errors
    /// When the log cannot be asked.
    async fn deleted(&self, _filter: &StreamFilter) -> Result<Vec<StreamInfo>, LogError> {
        Ok(Vec::new())
    }

    /// As [`Self::append`], for somebody who was told to bring a stream back: where it was deleted, a batch that begins with
    /// event 0 takes the place of the tombstone. Never for a writer that merely goes on.
    ///
    /// # Errors
    /// As [`Self::append`].
    async fn begin_again(&self, batch: &[Envelope]) -> Result<(), LogError> {
        self.append(batch).await
    }

    /// Where large things are kept by name, so that other hosts can have them; `None` when the log is of this machine only.
    fn objects(&self) -> Option<&dyn NamedObjects> {
        None
    }

    /// Names this very log, for whoever keeps something on its behalf: two logs never have the same, one log seldom two.
    fn identity(&self) -> String {
        self.location()
    }

    /// The blob store that belongs to the log.
    fn blobs(&self) -> &dyn BlobStore;

    /// What an ack is worth.
    fn durability(&self) -> Durability;

    /// Where the log is, for people, without secrets.
    fn location(&self) -> String;
}

/// Why the log did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// Someone else wrote the stream: this writer must stop.
    #[error("{stream} was written by another process: its next event is {actual_next}, this writer's was {tried}")]
    Fenced {
        /// The stream.
        stream: StreamId,
        /// The sequence number of the refused event.
        tried: u64,
        /// The one it would have had to have.
        actual_next: u64,
    },
    /// The stream was deleted: nothing is appended to it any more.
    #[error("{stream} was deleted")]
    Deleted {
        /// The stream.
        stream: StreamId,
    },
    /// An event is not what it was when it was written, or is gone.
    #[error("{stream} is damaged at event {seq}: {what}")]
    Damaged {
        /// The stream.
        stream: String,
        /// The event.
        seq: u64,
        /// What is wrong.
        what: String,
    },
    /// The log itself is damaged, and no stream can be named.
    #[error("the log at {location} is damaged: {what}")]
    DamagedStore {
        /// Where it is.
        location: String,
        /// What is wrong.
        what: String,
    },
    /// The log, or an event that would have to be understood, was written by a newer version.
    #[error("{what} was written by a newer version of retrace")]
    Newer {
        /// What it is.
        what: String,
    },
    /// A fork whose parent is not in this log, or only its beginning is.
    #[error("session {session} was forked from session {parent}, which is not in this log")]
    NoParent {
        /// The fork's id.
        session: String,
        /// The id of the session it comes from.
        parent: String,
    },
    /// There is no space; nothing was stored.
    #[error("no space left for the log at {location}: {why}")]
    Full {
        /// Where the log is.
        location: String,
        /// What the system says.
        why: String,
    },
    /// The log cannot be reached, or did not answer in time. Whether an append was stored is unknown.
    #[error("the log at {location} did not answer: {why}")]
    Unavailable {
        /// Where it is.
        location: String,
        /// What was seen.
        why: String,
    },
    /// The log's server or file is not fit for its task (too old, not durable, not ours).
    #[error("the log at {location} cannot be used: {why}")]
    Unfit {
        /// Where it is.
        location: String,
        /// Why not.
        why: String,
    },
    /// There is no such blob.
    #[error("there is no blob {0}")]
    NoSuchBlob(Hash),
    /// A batch that no log could take.
    #[error("not a batch: {0}")]
    InvalidBatch(String),
    /// Bytes that could not be made or understood.
    #[error(transparent)]
    Codec(#[from] CodecError),
}

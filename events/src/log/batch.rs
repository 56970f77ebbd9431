//! What every backend checks before it stores a batch, so that all of them refuse the same things in the same words.
//!
//! Invariant: a [`CheckedBatch`] is one unbroken piece of one stream's chain. So two batches with the same last hash
//! are the same batch, and a backend need only compare the last hash to know a repeated append.

use super::deletion::DELETED;
use super::{Head, LogError};
use crate::codec::{self, CodecError, MAX_PAYLOAD_BYTES};
use crate::envelope::Envelope;
use crate::hash::Hash;
use crate::id::StreamId;
use std::collections::HashSet;

/// The most events of one batch; JetStream's own limit for an atomic batch, and the same everywhere, so that what
/// runs on one backend runs on the others.
pub const MAX_BATCH_EVENTS: usize = 1_000;

/// The most payload bytes of one batch: two of the largest payloads.
pub const MAX_BATCH_BYTES: usize = 2 * MAX_PAYLOAD_BYTES;

/// The longest kind, in bytes. Kinds are short words; the limit keeps a hostile one out of indexes.
pub const MAX_KIND_BYTES: usize = 256;

/// The kind whose event may follow from another stream's.
const FORKED: &str = "session.forked";

/// An event of a checked batch.
#[derive(Debug)]
pub(crate) struct CheckedEvent<'a> {
    pub(crate) envelope: &'a Envelope,
    /// The canonical encoding.
    pub(crate) bytes: Vec<u8>,
    /// The hash of `bytes`.
    pub(crate) hash: Hash,
}

/// A batch that any log could take.
#[derive(Debug)]
pub(crate) struct CheckedBatch<'a> {
    pub(crate) stream: &'a StreamId,
    pub(crate) first_seq: u64,
    pub(crate) prev_hash: Hash,
    pub(crate) head: Head,
    pub(crate) events: Vec<CheckedEvent<'a>>,
}

/// What a log has to do with a batch, given its stream's last event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It follows: store it.
    Store,
    /// It stands at the end already: a repeated append.
    AlreadyStored,
    /// Someone else wrote the stream.
    Fenced {
        /// The sequence number the first event would have had to have.
        actual_next: u64,
    },
    /// The stream was deleted.
    Deleted,
}

/// What a batch says of its place in its stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    pub(crate) first_seq: u64,
    pub(crate) prev_hash: Hash,
    /// Number and hash of its last event.
    pub(crate) last: (u64, Hash),
    /// Whether it may take the place of a tombstone.
    pub(crate) begins_again: bool,
}

/// The last event of a stream, as far as a batch has to know it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending {
    pub(crate) seq: u64,
    pub(crate) hash: Hash,
    /// Whether it is a tombstone.
    pub(crate) is_deleted: bool,
}

impl<'a> CheckedBatch<'a> {
    /// Checks `batch`; `None` when it is empty.
    pub(crate) fn check(batch: &'a [Envelope]) -> Result<Option<Self>, LogError> {
        if let Some(tombstone) = batch.iter().find(|envelope| envelope.kind == DELETED) {
            return Err(invalid(format!(
                "event {} says that the stream was deleted, which no writer may",
                tombstone.seq
            )));
        }
        Self::check_any(batch)
    }

    /// As [`Self::check`], for a deletion's own event.
    pub(crate) fn check_any(batch: &'a [Envelope]) -> Result<Option<Self>, LogError> {
        let [first, ..] = batch else { return Ok(None) };
        if batch.len() > MAX_BATCH_EVENTS {
            return Err(invalid(format!("{} events; the most is {MAX_BATCH_EVENTS}", batch.len())));
        }
        let size_bytes: usize = batch.iter().map(|envelope| envelope.payload.len()).sum();
        if size_bytes > MAX_BATCH_BYTES {
            return Err(invalid(format!("{size_bytes} bytes of payload; the most is {MAX_BATCH_BYTES}")));
        }
        if first.seq == 0 && first.prev_hash != Hash::GENESIS && first.kind != FORKED {
            return Err(invalid(format!("only a `{FORKED}` event may begin a stream with a parent's hash")));
        }
        let mut ids = HashSet::with_capacity(batch.len());
        let mut events: Vec<CheckedEvent<'a>> = Vec::with_capacity(batch.len());
        for envelope in batch {
            if !ids.insert(envelope.id) {
                return Err(invalid(format!("event id {} stands in it twice", envelope.id)));
            }
            if envelope.stream != first.stream {
                return Err(invalid(format!("it names two streams, {} and {}", first.stream, envelope.stream)));
            }
            if let Some(before) = events.last() {
                let follows = before.envelope.seq.checked_add(1) == Some(envelope.seq);
                if !follows || envelope.prev_hash != before.hash {
                    return Err(invalid(format!(
                        "event {} does not follow from event {}",
                        envelope.seq, before.envelope.seq
                    )));
                }
            }
            events.push(check_event(envelope)?);
        }
        let Some(last) = events.last() else { return Ok(None) };
        let head = Head { seq: last.envelope.seq, hash: last.hash, at: last.envelope.at };
        Ok(Some(Self { stream: &first.stream, first_seq: first.seq, prev_hash: first.prev_hash, head, events }))
    }

    /// What the batch says of its place.
    pub(crate) const fn link(&self, begins_again: bool) -> Link {
        let last = (self.head.seq, self.head.hash);
        Link { first_seq: self.first_seq, prev_hash: self.prev_hash, last, begins_again }
    }
}

impl Link {
    /// What to do with the batch in a stream that ends with `ending`.
    pub(crate) fn verdict(&self, ending: Option<Ending>) -> Verdict {
        match ending {
            None if self.first_seq == 0 => Verdict::Store,
            None => Verdict::Fenced { actual_next: 0 },
            Some(Ending { is_deleted: true, .. }) if self.begins_again && self.first_seq == 0 => Verdict::Store,
            Some(Ending { is_deleted: true, .. }) => Verdict::Deleted,
            Some(Ending { seq, hash, .. }) if self.follows(seq, hash) => Verdict::Store,
            Some(Ending { seq, hash, .. }) if (seq, hash) == self.last => Verdict::AlreadyStored,
            Some(Ending { seq, .. }) => Verdict::Fenced { actual_next: seq + 1 },
        }
    }

    fn follows(&self, seq: u64, hash: Hash) -> bool {
        self.first_seq.checked_sub(1) == Some(seq) && self.prev_hash == hash
    }
}

/// The error for an id that another event has.
pub(crate) fn id_taken(id: crate::id::EventId) -> LogError {
    invalid(format!("event id {id} was used for another event already"))
}

pub(crate) fn invalid(why: String) -> LogError {
    LogError::InvalidBatch(why)
}

fn check_event(envelope: &Envelope) -> Result<CheckedEvent<'_>, LogError> {
    let size_bytes = envelope.payload.len();
    if size_bytes > MAX_PAYLOAD_BYTES {
        return Err(CodecError::TooLarge { size_bytes, limit_bytes: MAX_PAYLOAD_BYTES }.into());
    }
    if envelope.kind.is_empty() || envelope.kind.len() > MAX_KIND_BYTES {
        let found = envelope.kind.len();
        return Err(invalid(format!(
            "the kind of event {} has {found} bytes, not 1 to {MAX_KIND_BYTES}",
            envelope.seq
        )));
    }
    // Databases hold signed numbers; nothing real comes near the limit.
    if i64::try_from(envelope.seq).is_err() || i64::try_from(envelope.at.0).is_err() {
        return Err(invalid(format!("sequence number {} or time {} is out of range", envelope.seq, envelope.at.0)));
    }
    let bytes = codec::encode_envelope(envelope)?;
    let hash = Hash::of(&bytes);
    Ok(CheckedEvent { envelope, bytes, hash })
}

//! The writer of one stream: gives events their place, time, id and link in the chain, and appends them.

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;

use crate::codec::Decoded;
use crate::envelope::{Envelope, Event};
use crate::hash::Hash;
use crate::id::{EventId, StreamId};
use crate::log::{EventLog, LogError};
use crate::mint::Mint;
use crate::payload::Payload;
use std::sync::Arc;

/// How often an append is repeated when its ack is lost, before the caller hears of it.
const ATTEMPTS: u32 = 3;

/// The only writer of a stream. Two of them for one stream: the second to append is fenced, and stays so.
#[derive(Debug)]
pub struct Writer {
    log: Arc<dyn EventLog>,
    mint: Arc<dyn Mint>,
    stream: StreamId,
    next_seq: u64,
    prev_hash: Hash,
}

impl Writer {
    /// A writer that goes on behind the event `last` (sequence number and hash), which the caller has read.
    #[must_use]
    pub fn resume(log: Arc<dyn EventLog>, mint: Arc<dyn Mint>, stream: StreamId, last: (u64, Hash)) -> Self {
        Self { log, mint, stream, next_seq: last.0 + 1, prev_hash: last.1 }
    }

    /// A writer of a stream that has no events yet. `prev_hash` is [`Hash::GENESIS`], or the parent's for a fork.
    #[must_use]
    pub fn create(log: Arc<dyn EventLog>, mint: Arc<dyn Mint>, stream: StreamId, prev_hash: Hash) -> Self {
        Self { log, mint, stream, next_seq: 0, prev_hash }
    }

    /// The stream.
    #[must_use]
    pub const fn stream(&self) -> &StreamId {
        &self.stream
    }

    /// The log it writes to.
    #[must_use]
    pub const fn log(&self) -> &Arc<dyn EventLog> {
        &self.log
    }

    /// The source of its time and ids.
    #[must_use]
    pub const fn mint(&self) -> &Arc<dyn Mint> {
        &self.mint
    }

    /// The sequence number the next event will have.
    #[must_use]
    pub const fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Appends `payloads` as one atomic batch, each with its cause, and returns the events as they were stored.
    ///
    /// # Errors
    /// As [`EventLog::append`]; a lost ack is repeated a few times first.
    pub async fn append(&mut self, payloads: Vec<(Payload, Option<EventId>)>) -> Result<Vec<Event>, LogError> {
        let mut events = Vec::with_capacity(payloads.len());
        let (mut seq, mut prev_hash) = (self.next_seq, self.prev_hash);
        for (payload, cause) in payloads {
            let kind = payload.kind();
            let envelope = Envelope {
                id: self.mint.event_id(),
                stream: self.stream.clone(),
                seq,
                at: self.mint.now(),
                kind: kind.to_owned(),
                schema: Payload::schema_of(kind).unwrap_or_default(),
                cause,
                prev_hash,
                payload: payload.encode()?,
            };
            let hash = envelope.hash()?;
            events.push(Event { envelope, hash, payload: Decoded::Known(Box::new(payload)) });
            (seq, prev_hash) = (seq + 1, hash);
        }
        let batch: Vec<Envelope> = events.iter().map(|event| event.envelope.clone()).collect();
        append_surely(self.log.as_ref(), &batch).await?;
        (self.next_seq, self.prev_hash) = (seq, prev_hash);
        Ok(events)
    }
}

/// Appends `batch`, and the same again when the log does not answer: it stores it once.
pub(crate) async fn append_surely(log: &dyn EventLog, batch: &[Envelope]) -> Result<(), LogError> {
    let mut attempt = 1;
    loop {
        match log.append(batch).await {
            Err(LogError::Unavailable { location, why }) if attempt < ATTEMPTS => {
                tracing::warn!(%location, %why, attempt, "append not acknowledged, repeating it");
                attempt += 1;
            }
            other => return other,
        }
    }
}

//! Appending, and finding out what became of an append that was not acknowledged.
//!
//! Invariant: the expectation sent with a batch is the position of a message that was read and found to be the event
//! before it. So whatever this handle remembers, or was told late, the server refuses a batch that does not follow.

use super::api::{Ack, Last, Remote};
use super::message::Outgoing;
use crate::blob::BlobStore;
use crate::id::StreamId;
use crate::log::batch::{CheckedBatch, Link, Verdict, id_taken};
use crate::log::{Deletion, LogError};
use async_nats::HeaderMap;
use std::sync::PoisonError;
use std::time::Duration;
use tokio::time::Instant;

/// How long an append may take in all before the caller hears that its fate is unknown.
const APPEND: Duration = Duration::from_secs(12);

/// How long to wait before asking again when an earlier try may still be on its way.
const PAUSE: Duration = Duration::from_millis(50);

/// The largest payload sent inside a message, in bytes; servers take messages of 1 MiB by default.
const INLINE_BYTES: usize = 900 * 1024;

/// What the headers around a payload may take, in bytes.
const AROUND_BYTES: usize = 16 * 1024;

/// The most bytes of one batch that the server has to hold until its commit.
const BATCH_BYTES: usize = 32 * 1024 * 1024;

/// The most streams of which a handle knows that it began them again.
const MAX_BEGUN: usize = 100_000;

const EXPECTED: &str = "Nats-Expected-Last-Subject-Sequence";
const BATCH_ID: &str = "Nats-Batch-Id";
const BATCH_SEQUENCE: &str = "Nats-Batch-Sequence";
const BATCH_COMMIT: &str = "Nats-Batch-Commit";

/// Another message was stored since, or this very one was.
const WRONG_LAST_SEQUENCE: [u64; 2] = [10_071, 10_164];
/// An id in an atomic batch was seen before.
const BATCH_DUPLICATE: u64 = 10_201;
/// The batch was given up by the server (too slow, a message lost on the way): nothing is stored.
const BATCH_INCOMPLETE: [u64; 2] = [10_176, 10_211];
/// The stream or the account has reached a limit.
const FULL: [u64; 6] = [10_002, 10_023, 10_028, 10_047, 10_077, 10_122];

/// What a try to publish told us.
enum Told {
    /// Stored, at this position.
    Stored(u64),
    /// No answer, or one that leaves open whether it is stored.
    Doubt,
    /// An id of it was used before; this very batch may have been stored.
    Duplicate,
}

impl Remote {
    /// As [`crate::log::EventLog::append`], or, with `begins_again`, as [`crate::log::EventLog::begin_again`].
    pub(super) async fn append(&self, batch: CheckedBatch<'_>, begins_again: bool) -> Result<(), LogError> {
        let (stream, head, first_id) =
            (batch.stream.clone(), batch.head, batch.events.first().map(|event| event.envelope.id));
        let is_deleted = batch.events.last().is_some_and(|event| Deletion::stands_in(event.envelope));
        let fence = Fence(batch.link(begins_again));
        // What we remember saves a question when it fits; when it does not, it proves nothing.
        let mut last = self.recall(&stream);
        if fence.verdict(last) != Verdict::Store {
            last = self.last_of(&stream).await?;
        }
        let deadline = Instant::now() + APPEND;
        let mut messages = None;
        let mut batch = Some(batch);
        loop {
            match fence.verdict(last) {
                Verdict::Store => {}
                Verdict::AlreadyStored => return Ok(()),
                Verdict::Fenced { actual_next } => {
                    return Err(LogError::Fenced { stream, tried: fence.0.first_seq, actual_next });
                }
                Verdict::Deleted => return Err(LogError::Deleted { stream }),
            }
            if let Some(batch) = batch.take() {
                if let Some(tombstone) = last.filter(|last| last.is_deleted) {
                    // What a deletion that was broken off has left.
                    self.purge(&stream, tombstone.position).await?;
                    self.note_life(&stream, tombstone.position);
                }
                messages = Some(self.messages(batch).await?);
            }
            let told = self.try_publish(&stream.subject(), messages.as_deref().unwrap_or_default(), last).await?;
            if let Told::Stored(position) = told {
                self.remember(&stream, Last { head, position, is_deleted });
                if let Some(tombstone) = last.filter(|last| last.is_deleted) {
                    self.forget_tombstone(&stream, tombstone).await;
                }
                return Ok(());
            }
            last = self.last_of(&stream).await?;
            if fence.verdict(last) == Verdict::Store {
                if let (Told::Duplicate, Some(id)) = (&told, first_id) {
                    // It was not this batch that used the id: the stream ends just before it.
                    return Err(id_taken(id));
                }
                if Instant::now() >= deadline {
                    return Err(self.unavailable(&"the append was not acknowledged"));
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// The batch's messages; payloads that are too large for one are stored first.
    async fn messages(&self, batch: CheckedBatch<'_>) -> Result<Vec<Outgoing>, LogError> {
        let server_limit = self.client.max_payload().saturating_sub(AROUND_BYTES);
        let inline_bytes = INLINE_BYTES.min(server_limit).min(BATCH_BYTES / batch.events.len().max(1));
        let mut messages = Vec::with_capacity(batch.events.len());
        let life = self.begun_again.lock().unwrap_or_else(PoisonError::into_inner).get(batch.stream).copied();
        for event in batch.events {
            let blob = if event.bytes.len() > inline_bytes {
                Some(self.blobs.put(&event.envelope.payload).await?.hash)
            } else {
                None
            };
            messages.push(Outgoing::new(event, blob, life)?);
        }
        Ok(messages)
    }

    async fn try_publish(&self, subject: &str, messages: &[Outgoing], last: Option<Last>) -> Result<Told, LogError> {
        let Some((final_message, earlier)) = messages.split_last() else { return Ok(Told::Doubt) };
        // The semaphore is never closed; should it be, there is merely no order.
        let _turn = self.turns.acquire().await;
        let expected = last.map_or(0, |last| last.position);
        // Ids of batches are ours alone: a try that was cut off is never gone on with.
        let batch_id = (!earlier.is_empty()).then(|| uuid::Uuid::now_v7().simple().to_string());
        let headers_of = |index: usize, message: &Outgoing| -> HeaderMap {
            let mut headers = message.headers.clone();
            if index == 0 {
                headers.insert(EXPECTED, expected.to_string());
            }
            if let Some(id) = &batch_id {
                headers.insert(BATCH_ID, id.as_str());
                headers.insert(BATCH_SEQUENCE, (index + 1).to_string());
            }
            headers
        };
        for (index, message) in earlier.iter().enumerate() {
            let headers = headers_of(index, message);
            if index == 0 {
                // The first is answered, so that a server that knows no batches is found before more is sent.
                let Some(ack) = self.publish(subject, headers, message.body.clone()).await? else {
                    return Ok(Told::Doubt);
                };
                if ack.error.is_some() {
                    return self.told(ack);
                }
            } else {
                let sent = self.client.publish_with_headers(subject.to_owned(), headers, message.body.clone()).await;
                sent.map_err(|e| self.unavailable(&e))?;
            }
        }
        let mut headers = headers_of(earlier.len(), final_message);
        if batch_id.is_some() {
            headers.insert(BATCH_COMMIT, "1");
        }
        match self.publish(subject, headers, final_message.body.clone()).await? {
            Some(ack) => self.told(ack),
            None => Ok(Told::Doubt),
        }
    }

    /// Notes that a stream begins again, in the place of a tombstone.
    fn note_life(&self, stream: &StreamId, tombstone: u64) {
        let mut begun = self.begun_again.lock().unwrap_or_else(PoisonError::into_inner);
        if begun.len() >= MAX_BEGUN {
            begun.clear();
        }
        begun.insert(stream.clone(), tombstone);
    }

    /// Takes the tombstone out of a stream that has begun again. Where it stays, readers pass over it.
    async fn forget_tombstone(&self, stream: &StreamId, tombstone: Last) {
        if let Err(error) = self.purge(stream, tombstone.position + 1).await {
            tracing::debug!(%stream, %error, "a tombstone stays behind a stream that has begun again");
        }
    }

    fn told(&self, ack: Ack) -> Result<Told, LogError> {
        let Some(error) = ack.error else {
            return Ok(match ack {
                Ack { duplicate: true, .. } => Told::Duplicate,
                // Position 0 does not exist: an empty answer where an ack was due.
                Ack { seq: 0, .. } => Told::Doubt,
                Ack { seq, .. } => Told::Stored(seq),
            });
        };
        let code = error.error_code().0;
        if WRONG_LAST_SEQUENCE.contains(&code) || BATCH_INCOMPLETE.contains(&code) {
            return Ok(Told::Doubt);
        }
        if code == BATCH_DUPLICATE {
            return Ok(Told::Duplicate);
        }
        if FULL.contains(&code) {
            let why = format!("{error}\nhint: raise the stream's max_bytes, or the server's max_file_store");
            return Err(LogError::Full { location: self.location.clone(), why });
        }
        Err(self.unavailable(&error))
    }
}

/// What the batch has to meet.
struct Fence(Link);

impl Fence {
    fn verdict(&self, last: Option<Last>) -> Verdict {
        self.0.verdict(last.map(|last| last.ending()))
    }
}

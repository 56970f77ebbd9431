//! Reading, completely: how much there must be comes from the stream's leader, and what is missing is damage.

use super::ALL_EVENTS;
use super::api::{Last, Remote, subject_of};
use super::fetch::BATCH;
use super::message::Incoming;
use crate::blob::BlobStore;
use crate::envelope::Envelope;
use crate::id::StreamId;
use crate::log::chain::{Chain, damaged, lost_tail, payload_of};
use crate::log::{LogError, Position, Positioned, StreamFilter, StreamInfo};
use futures::TryStreamExt;
use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

/// How much is read at most: a page ends with the event that reaches either.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) events: usize,
    pub(super) bytes: usize,
}

/// What was read of the order over all streams.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) events: Vec<Positioned>,
    /// Whether there is more already.
    pub(super) more: bool,
}

impl Remote {
    /// As [`crate::log::EventLog::read`].
    pub(super) async fn read(&self, stream: &StreamId, from_seq: u64, limit: usize) -> Result<Vec<Envelope>, LogError> {
        match self.read_there(stream, from_seq, limit).await {
            // It may have been deleted while it was read.
            Err(LogError::Damaged { .. }) if self.last_of(stream).await?.is_some_and(|last| last.is_deleted) => {
                Ok(Vec::new())
            }
            read => read,
        }
    }

    async fn read_there(&self, stream: &StreamId, from_seq: u64, limit: usize) -> Result<Vec<Envelope>, LogError> {
        let subject = stream.subject();
        let Some(last) = self.living(stream).await? else { return Ok(Vec::new()) };
        let expected = (last.head.seq + 1).saturating_sub(from_seq).min(limit as u64);
        if expected == 0 {
            return Ok(Vec::new());
        }
        let expected = usize::try_from(expected).unwrap_or(usize::MAX);
        let mut position = self.locate(&subject, from_seq, last).await?;
        let (mut events, mut chain) = (Vec::with_capacity(expected.min(BATCH)), Chain::default());
        while events.len() < expected {
            for message in self.some_messages(&subject, position, expected - events.len()).await? {
                let seq = from_seq + events.len() as u64;
                if message.seq != seq {
                    if message.is_tombstone() {
                        position = message.position + 1;
                        continue;
                    }
                    return Err(damaged(
                        &subject,
                        seq,
                        &format!("it is missing; event {} stands in its place", message.seq),
                    ));
                }
                position = message.position + 1;
                events.push(self.restore(&message, &mut chain).await?);
            }
        }
        Ok(events)
    }

    /// What stands on `subject`, which may hold wildcards, after the position `after`.
    pub(super) async fn page(
        &self,
        subject: &str,
        after: u64,
        limits: Limits,
        chain: &mut Chain,
    ) -> Result<Page, LogError> {
        let last = self.last_message(subject).await?.map_or(0, |message| message.position);
        if after > last {
            // Messages that were purged may have been the last of their subjects, but not of the whole stream.
            let given = self.stream_state(false).await?.last_seq;
            if after > given {
                return Err(lost_tail(self.location.clone(), after, given));
            }
        }
        let (mut events, mut bytes, mut reached) = (Vec::new(), 0, after);
        while reached < last && events.len() < limits.events && (bytes < limits.bytes || events.is_empty()) {
            let messages = match self.some_messages(subject, reached + 1, limits.events - events.len()).await {
                Err(LogError::Damaged { stream, .. }) if stream == subject => return Err(self.unreadable(reached + 1)),
                other => other?,
            };
            for message in messages {
                if subject == ALL_EVENTS && message.position > reached + 1 {
                    self.check_gap(reached + 1, message.position).await?;
                }
                reached = message.position;
                bytes += message.stored.bytes.len();
                events.push((Position(message.position), self.restore(&message, chain).await?));
            }
        }
        Ok(Page { events, more: reached < last })
    }

    /// The streams that `filter` means: the deleted ones, or the others.
    pub(super) async fn streams(&self, filter: &StreamFilter, deleted: bool) -> Result<Vec<StreamInfo>, LogError> {
        let listed = self.stream.info_builder().subjects(subject_of(filter)).fetch().await;
        let listed = listed.map_err(|e| self.unavailable(&e))?;
        let subjects: Vec<(String, usize)> = listed.try_collect().await.map_err(|e| self.unavailable(&e))?;
        let subjects: Vec<String> = subjects.into_iter().map(|(subject, _)| subject).collect();
        let mut found = Vec::with_capacity(subjects.len());
        for some in subjects.chunks(BATCH) {
            for message in self.fetch_last(some).await? {
                let last = message.last()?;
                if last.is_deleted == deleted {
                    found.push((last.position, StreamInfo { stream: message.stream()?, head: last.head }));
                }
            }
        }
        found.sort_by_key(|(position, _)| std::cmp::Reverse(*position));
        Ok(found.into_iter().map(|(_, info)| info).collect())
    }

    /// At least one message from `position` on, of a subject that has some there. What a replica does not have, the
    /// leader is asked for; when even that has none, the message is lost.
    async fn some_messages(&self, subject: &str, position: u64, count: usize) -> Result<Vec<Incoming>, LogError> {
        let messages = self.fetch(subject, position, count).await?;
        if !messages.is_empty() {
            return Ok(messages);
        }
        let message = self.next_message(subject, position).await?;
        message
            .map(|message| vec![message])
            .ok_or_else(|| damaged(subject, 0, &format!("nothing can be read from position {position} on")))
    }

    /// A position at or before event `from_seq`, and behind the one before it. A stream's events stand between those
    /// of others, so it is found by halving: about 20 short questions in a log of a million events.
    async fn locate(&self, subject: &str, from_seq: u64, last: Last) -> Result<u64, LogError> {
        if from_seq == 0 {
            return Ok(1);
        }
        let (mut low, mut high) = (1, last.position);
        if from_seq == last.head.seq {
            return Ok(high);
        }
        while low < high {
            let middle = low + (high - low) / 2;
            let Some(found) = self.next_message(subject, middle).await? else { break };
            // A stream that has begun again stands behind its tombstone.
            let order = if found.is_tombstone() { std::cmp::Ordering::Less } else { found.seq.cmp(&from_seq) };
            match order {
                std::cmp::Ordering::Equal => return Ok(found.position),
                std::cmp::Ordering::Less => low = found.position + 1,
                std::cmp::Ordering::Greater => high = middle - 1,
            }
        }
        Ok(low)
    }

    async fn restore(&self, message: &Incoming, chain: &mut Chain) -> Result<Envelope, LogError> {
        let payload = match message.stored.payload_blob {
            None => None,
            Some(blob) => {
                let read = self.blobs.read(blob, 0..u64::MAX).await;
                Some(payload_of(&message.subject, message.seq, read)?)
            }
        };
        let envelope = message.stored.restore(&message.subject, message.seq, payload)?;
        chain.see(&envelope, message.stored.hash)?;
        Ok(envelope)
    }

    /// Positions that are not there are either known to be deleted (a purged session) or lost.
    async fn check_gap(&self, from: u64, to: u64) -> Result<(), LogError> {
        let known = Arc::clone(&self.deleted.lock().unwrap_or_else(PoisonError::into_inner));
        if (from..to).all(|position| known.contains(&position)) {
            return Ok(());
        }
        let state = self.stream_state(true).await?;
        let first = state.first_seq;
        let deleted: Arc<HashSet<u64>> = Arc::new(state.deleted.unwrap_or_default().into_iter().collect());
        *self.deleted.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&deleted);
        match (from.max(first)..to).find(|position| !deleted.contains(position)) {
            None => Ok(()),
            Some(position) => Err(self.unreadable(position)),
        }
    }

    fn unreadable(&self, position: u64) -> LogError {
        let what = format!("the event at position {position} cannot be read any more");
        LogError::DamagedStore { location: self.location.clone(), what }
    }
}

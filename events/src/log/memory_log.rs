//! The log in memory, for tests: stricter than those that store.
//!
//! Beyond the contract it refuses what a correct writer never does: an event id that any stream has already, time
//! that goes backwards in a stream, a payload that is not what its kind says, and a blob that is named but not
//! there. It can be told to lose an ack, to fail, or to be full. It keeps nothing when it is dropped.

use super::batch::{CheckedBatch, Ending, Verdict, id_taken, invalid};
use super::chain::{Chain, StoredEvent, lost_tail};
use super::{Claim, ClaimError, Holder};
use super::{Deletion, Durability, EventLog, Head, LogError, Position, Positioned, StreamFilter, StreamInfo};
use crate::blob::{BlobStore, MemoryBlobs, MemoryObjects, NamedObjects, referenced_blobs};
use crate::codec::{Decoded, decode_payload};
use crate::envelope::Envelope;
use crate::id::{EventId, StreamId, Timestamp};
use async_trait::async_trait;
use futures::stream::{self, BoxStream, StreamExt};
use std::collections::{HashMap, HashSet, VecDeque, hash_map::Entry};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// What goes wrong with an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The batch is stored, but the writer hears [`LogError::Unavailable`].
    LoseAck,
    /// Nothing is stored, and the writer hears [`LogError::Unavailable`].
    NotStored,
    /// Nothing is stored, and the writer hears [`LogError::Full`].
    Full,
}

/// A log in memory. Clones share it, as handles of several processes share a stored one.
#[derive(Debug, Clone)]
pub struct MemoryLog {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    length: watch::Sender<usize>,
    blobs: MemoryBlobs,
    objects: MemoryObjects,
    /// Tells this log from all others.
    id: uuid::Uuid,
    /// Who holds which stream.
    holders: Mutex<HashMap<StreamId, Holder>>,
}

impl Shared {
    fn holders(&self) -> MutexGuard<'_, HashMap<StreamId, Holder>> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream that is held, until this is dropped.
struct Hold {
    shared: Arc<Shared>,
    stream: StreamId,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.shared.holders().remove(&self.stream);
    }
}

#[derive(Debug, Default)]
struct State {
    /// Position n is at index n - 1; `None` where a test removed an event.
    events: Vec<Option<(StreamId, u64, StoredEvent)>>,
    /// The positions of each stream's events, by sequence number.
    streams: HashMap<StreamId, Stream>,
    ids: HashSet<EventId>,
    faults: VecDeque<Fault>,
}

#[derive(Debug)]
struct Stream {
    head: Head,
    /// Whether `head` is a tombstone, and nothing else is left.
    is_deleted: bool,
    positions: Vec<usize>,
}

impl State {
    /// The stream, unless it was deleted.
    fn living(&self, stream: &StreamId) -> Option<&Stream> {
        self.streams.get(stream).filter(|stream| !stream.is_deleted)
    }

    /// Takes away all events of a stream, its tombstone too.
    fn clear(&mut self, stream: &StreamId) {
        let Some(gone) = self.streams.remove(stream) else { return };
        for position in gone.positions {
            let slot = self.events.get_mut(position).and_then(Option::take);
            if let Some(envelope) = slot.and_then(|(_, _, stored)| crate::codec::decode_envelope(&stored.bytes).ok()) {
                self.ids.remove(&envelope.id);
            }
        }
    }
}

impl Default for MemoryLog {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryLog {
    /// An empty log.
    #[must_use]
    pub fn new() -> Self {
        let shared = Shared {
            state: Mutex::default(),
            length: watch::Sender::new(0),
            blobs: MemoryBlobs::default(),
            objects: MemoryObjects::default(),
            id: uuid::Uuid::now_v7(),
            holders: Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Makes the next append that would store something fail with `fault`; several queue up.
    pub fn fail_next(&self, fault: Fault) {
        self.state().faults.push_back(fault);
    }

    /// Damages the stored bytes of an event: a test's stand-in for a bad disk. Does nothing when it is not there.
    pub fn flip_byte(&self, stream: &StreamId, seq: u64) {
        self.with_event(stream, seq, |slot| {
            if let Some(byte) = slot.as_mut().and_then(|(_, _, stored)| stored.bytes.last_mut()) {
                *byte ^= 1;
            }
        });
    }

    /// Takes away an event without a trace: a test's stand-in for a bad disk. Does nothing when it is not there.
    pub fn remove_event(&self, stream: &StreamId, seq: u64) {
        self.with_event(stream, seq, |slot| *slot = None);
    }

    fn with_event(&self, stream: &StreamId, seq: u64, act: impl FnOnce(&mut Option<(StreamId, u64, StoredEvent)>)) {
        let mut state = self.state();
        let index = usize::try_from(seq).ok();
        let position = index.and_then(|index| state.streams.get(stream)?.positions.get(index).copied());
        if let Some(slot) = position.and_then(|position| state.events.get_mut(position)) {
            act(slot);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append_as(&self, batch: &[Envelope], begins_again: bool) -> Result<(), LogError> {
        let Some(batch) = CheckedBatch::check(batch)? else { return Ok(()) };
        let mut state = self.state();
        let ending = state.streams.get(batch.stream).map(|stream| Ending {
            seq: stream.head.seq,
            hash: stream.head.hash,
            is_deleted: stream.is_deleted,
        });
        match batch.link(begins_again).verdict(ending) {
            Verdict::AlreadyStored => return Ok(()),
            Verdict::Fenced { actual_next } => {
                return Err(LogError::Fenced { stream: batch.stream.clone(), tried: batch.first_seq, actual_next });
            }
            Verdict::Deleted => return Err(LogError::Deleted { stream: batch.stream.clone() }),
            Verdict::Store => {}
        }
        self.check_strictly(&state, &batch)?;
        match state.faults.pop_front() {
            None => self.store(&mut state, batch),
            Some(Fault::LoseAck) => {
                self.store(&mut state, batch);
                return Err(self.unavailable("the ack was lost, as a test asked for"));
            }
            Some(Fault::NotStored) => return Err(self.unavailable("nothing was stored, as a test asked for")),
            Some(Fault::Full) => {
                return Err(LogError::Full { location: self.location(), why: "a test asked for it".to_owned() });
            }
        }
        Ok(())
    }

    fn unavailable(&self, why: &str) -> LogError {
        LogError::Unavailable { location: self.location(), why: why.to_owned() }
    }

    /// What production does not check.
    fn check_strictly(&self, state: &State, batch: &CheckedBatch<'_>) -> Result<(), LogError> {
        let mut before = state.living(batch.stream).map_or(Timestamp(0), |stream| stream.head.at);
        for event in &batch.events {
            let envelope = event.envelope;
            if state.ids.contains(&envelope.id) {
                return Err(id_taken(envelope.id));
            }
            if envelope.at < before {
                return Err(invalid(format!("time goes backwards at event {}", envelope.seq)));
            }
            before = envelope.at;
            match decode_payload(&envelope.kind, envelope.schema, &envelope.payload)? {
                Decoded::Newer => {}
                Decoded::Known(payload) => {
                    let missing = referenced_blobs(&payload).into_iter().find(|blob| !self.shared.blobs.has(*blob));
                    if let Some(blob) = missing {
                        return Err(LogError::NoSuchBlob(blob.hash));
                    }
                }
            }
        }
        Ok(())
    }

    fn store(&self, state: &mut State, batch: CheckedBatch<'_>) {
        if state.streams.get(batch.stream).is_some_and(|stream| stream.is_deleted) {
            state.clear(batch.stream);
        }
        let first_position = state.events.len();
        for event in batch.events {
            state.ids.insert(event.envelope.id);
            let stored = StoredEvent { bytes: event.bytes, hash: event.hash, payload_blob: None };
            state.events.push(Some((batch.stream.clone(), event.envelope.seq, stored)));
        }
        let positions = first_position..state.events.len();
        let stream = state.streams.entry(batch.stream.clone());
        let stream = stream.or_insert_with(|| Stream { head: batch.head, is_deleted: false, positions: Vec::new() });
        stream.head = batch.head;
        stream.positions.extend(positions);
        self.shared.length.send_replace(state.events.len());
    }

    /// Up to `limit` events after `after`, and how long the log was when they were read.
    fn page(&self, after: Position, limit: usize, chain: &mut Chain) -> Result<(Vec<Positioned>, Position), LogError> {
        let state = self.state();
        let start = usize::try_from(after.0).unwrap_or(usize::MAX);
        if start > state.events.len() {
            return Err(lost_tail(self.location(), after.0, state.events.len() as u64));
        }
        let slots =
            state.events.iter().enumerate().skip(start).filter_map(|(index, slot)| Some((index, slot.as_ref()?)));
        let mut page = Vec::new();
        for (index, (stream, seq, stored)) in slots.take(limit) {
            let envelope = stored.restore(&stream.subject(), *seq, None)?;
            chain.see(&envelope, stored.hash)?;
            page.push((Position(index as u64 + 1), envelope));
        }
        Ok((page, Position(state.events.len() as u64)))
    }
}

#[async_trait]
impl EventLog for MemoryLog {
    async fn append(&self, batch: &[Envelope]) -> Result<(), LogError> {
        self.append_as(batch, false)
    }

    async fn begin_again(&self, batch: &[Envelope]) -> Result<(), LogError> {
        self.append_as(batch, true)
    }

    async fn delete(&self, deletion: &Deletion) -> Result<(), LogError> {
        let mut state = self.state();
        let head = match state.streams.get(&deletion.stream) {
            Some(stream) if stream.is_deleted => return Ok(()),
            stream => stream.map(|stream| stream.head),
        };
        state.clear(&deletion.stream);
        if let Some(tombstone) = CheckedBatch::check_any(&[deletion.tombstone(head)])? {
            self.store(&mut state, tombstone);
        }
        if let Some(stream) = state.streams.get_mut(&deletion.stream) {
            stream.is_deleted = true;
        }
        Ok(())
    }

    async fn deleted(&self, filter: &StreamFilter) -> Result<Vec<StreamInfo>, LogError> {
        let state = self.state();
        let meant = state.streams.iter().filter(|(stream, s)| s.is_deleted && filter.matches(stream));
        Ok(meant.map(|(id, s)| StreamInfo { stream: id.clone(), head: s.head }).collect())
    }

    async fn head(&self, stream: &StreamId) -> Result<Option<Head>, LogError> {
        Ok(self.state().living(stream).map(|stream| stream.head))
    }

    async fn read(&self, stream: &StreamId, from_seq: u64, limit: usize) -> Result<Vec<Envelope>, LogError> {
        let state = self.state();
        let Some(entry) = state.living(stream) else { return Ok(Vec::new()) };
        let (subject, mut chain) = (stream.subject(), Chain::default());
        let from = usize::try_from(from_seq).unwrap_or(usize::MAX);
        let mut page = Vec::new();
        for (index, position) in entry.positions.iter().enumerate().skip(from).take(limit) {
            let seq = index as u64;
            let Some(Some((_, _, stored))) = state.events.get(*position) else {
                return Err(super::chain::damaged(&subject, seq, "it is missing"));
            };
            let envelope = stored.restore(&subject, seq, None)?;
            chain.see(&envelope, stored.hash)?;
            page.push(envelope);
        }
        Ok(page)
    }

    async fn read_all(&self, after: Position, limit: usize) -> Result<Vec<Positioned>, LogError> {
        Ok(self.page(after, limit, &mut Chain::default())?.0)
    }

    async fn end(&self) -> Result<Position, LogError> {
        Ok(Position(self.state().events.len() as u64))
    }

    async fn follow(
        &self,
        filter: StreamFilter,
        after: Position,
    ) -> Result<BoxStream<'static, Result<Positioned, LogError>>, LogError> {
        let length = self.shared.length.subscribe();
        let start = Some((self.clone(), length, Chain::default(), after, false));
        let pages = stream::unfold(start, |state| async {
            let (log, mut length, mut chain, after, looked) = state?;
            // The first look does not wait, so that a position beyond the end is noticed. The log is in the state, so
            // its sender lives and waiting cannot fail.
            if looked {
                let _ = length.wait_for(|length| *length as u64 > after.0).await;
            }
            match log.page(after, usize::MAX, &mut chain) {
                // Not the length as it is by now: what was appended since is not in the page.
                Ok((page, reached)) => {
                    Some((page.into_iter().map(Ok).collect(), Some((log, length, chain, reached, true))))
                }
                Err(e) => Some((vec![Err(e)], None)),
            }
        });
        let events = pages.flat_map(stream::iter);
        let meant =
            move |event: &Result<Positioned, LogError>| event.as_ref().map_or(true, |(_, e)| filter.matches(&e.stream));
        Ok(events.filter(move |event| futures::future::ready(meant(event))).boxed())
    }

    async fn streams(&self, filter: &StreamFilter) -> Result<Vec<StreamInfo>, LogError> {
        let state = self.state();
        let meant = state.streams.iter().filter(|(stream, s)| !s.is_deleted && filter.matches(stream));
        let mut infos: Vec<_> = meant
            .map(|(id, s)| (s.positions.last().copied(), StreamInfo { stream: id.clone(), head: s.head }))
            .collect();
        infos.sort_by_key(|(position, _)| std::cmp::Reverse(*position));
        Ok(infos.into_iter().map(|(_, info)| info).collect())
    }

    async fn claim(&self, stream: &StreamId, holder: &Holder) -> Result<Claim, ClaimError> {
        match self.shared.holders().entry(stream.clone()) {
            Entry::Occupied(other) => Err(ClaimError::Held(other.get().clone())),
            Entry::Vacant(free) => {
                free.insert(holder.clone().bounded());
                Ok(Claim::new(stream.clone(), Hold { shared: Arc::clone(&self.shared), stream: stream.clone() }))
            }
        }
    }

    fn blobs(&self) -> &dyn BlobStore {
        &self.shared.blobs
    }

    fn objects(&self) -> Option<&dyn NamedObjects> {
        Some(&self.shared.objects)
    }

    fn identity(&self) -> String {
        format!("memory {}", self.shared.id)
    }

    fn durability(&self) -> Durability {
        Durability::Volatile
    }

    fn location(&self) -> String {
        "memory".to_owned()
    }
}

//! A log in memory whose acks get lost while others write, and whose tail breaks.

use crate::blob::BlobStore;
use crate::envelope::Envelope;
use crate::id::StreamId;
use crate::log::{
    Claim, ClaimError, Durability, EventLog, Head, Holder, LogError, MemoryLog, Position, Positioned, StreamFilter,
    StreamInfo,
};
use crate::testing::EventMaker;
use async_trait::async_trait;
use futures::stream::{BoxStream, StreamExt};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// What another sender does around an append of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meddling {
    /// It writes before.
    Before,
    /// It writes after, and our ack is lost.
    AfterAndAckLost,
    /// It writes after, and we hear that we were overtaken, as after a lost ack that the log itself looked for.
    AfterAndFenced,
    /// It does nothing, and our append is not stored.
    NotStored,
    /// It does nothing, and our ack is lost.
    AckLost,
}

#[derive(Debug)]
pub(super) struct FaultyLog {
    pub(super) inner: MemoryLog,
    meddling: Mutex<Vec<Meddling>>,
    seed: AtomicU64,
    /// How many events a tail gives before it breaks.
    pub(super) tail_events: AtomicUsize,
    /// Whether reading fails.
    pub(super) is_away: AtomicBool,
    pub(super) appends: AtomicUsize,
}

impl FaultyLog {
    pub(super) fn new(inner: MemoryLog) -> Self {
        Self {
            inner,
            meddling: Mutex::default(),
            seed: AtomicU64::new(1_000),
            tail_events: AtomicUsize::new(usize::MAX),
            is_away: AtomicBool::new(false),
            appends: AtomicUsize::new(0),
        }
    }

    /// What happens around the next appends, one each.
    pub(super) fn meddle(&self, meddling: &[Meddling]) {
        self.meddling.lock().unwrap().extend(meddling.iter().rev());
    }

    /// Another sender's event: of a kind that says so.
    async fn write_as_another(&self, stream: &StreamId) {
        let seed = self.seed.fetch_add(1, Ordering::SeqCst);
        let mut maker = match self.inner.head(stream).await.unwrap() {
            None => EventMaker::new(stream.clone(), seed),
            Some(head) => EventMaker::behind(stream.clone(), seed, (head.seq, head.hash)),
        };
        let other = crate::payload::control::ControlPromptSent { text: "another".to_owned(), attachments: Vec::new() };
        self.inner.append(&[maker.payload(&other.into(), None)]).await.unwrap();
    }

    fn away(&self) -> LogError {
        LogError::Unavailable { location: "a test".to_owned(), why: "as it was asked to be".to_owned() }
    }

    fn check(&self) -> Result<(), LogError> {
        if self.is_away.load(Ordering::SeqCst) { Err(self.away()) } else { Ok(()) }
    }
}

#[async_trait]
impl EventLog for FaultyLog {
    async fn append(&self, batch: &[Envelope]) -> Result<(), LogError> {
        self.appends.fetch_add(1, Ordering::SeqCst);
        let stream = &batch[0].stream;
        let meddling = self.meddling.lock().unwrap().pop();
        match meddling {
            None => self.inner.append(batch).await,
            Some(Meddling::NotStored) => Err(self.away()),
            Some(Meddling::AckLost) => {
                self.inner.append(batch).await?;
                Err(self.away())
            }
            Some(Meddling::Before) => {
                self.write_as_another(stream).await;
                self.inner.append(batch).await
            }
            Some(Meddling::AfterAndAckLost) => {
                self.inner.append(batch).await?;
                self.write_as_another(stream).await;
                Err(self.away())
            }
            Some(Meddling::AfterAndFenced) => {
                self.inner.append(batch).await?;
                self.write_as_another(stream).await;
                Err(LogError::Fenced { stream: stream.clone(), tried: batch[0].seq, actual_next: batch[0].seq + 2 })
            }
        }
    }
    async fn head(&self, stream: &StreamId) -> Result<Option<Head>, LogError> {
        self.check()?;
        self.inner.head(stream).await
    }
    async fn read(&self, stream: &StreamId, from_seq: u64, limit: usize) -> Result<Vec<Envelope>, LogError> {
        self.check()?;
        self.inner.read(stream, from_seq, limit).await
    }
    async fn read_all(&self, after: Position, limit: usize) -> Result<Vec<Positioned>, LogError> {
        self.inner.read_all(after, limit).await
    }
    async fn end(&self) -> Result<Position, LogError> {
        self.check()?;
        self.inner.end().await
    }
    async fn follow(
        &self,
        filter: StreamFilter,
        after: Position,
    ) -> Result<BoxStream<'static, Result<Positioned, LogError>>, LogError> {
        self.check()?;
        let broken = futures::stream::iter([Err(self.away())]);
        let tail = self.inner.follow(filter, after).await?;
        Ok(tail.take(self.tail_events.load(Ordering::SeqCst)).chain(broken).boxed())
    }
    async fn streams(&self, filter: &StreamFilter) -> Result<Vec<StreamInfo>, LogError> {
        self.inner.streams(filter).await
    }
    async fn claim(&self, stream: &StreamId, holder: &Holder) -> Result<Claim, ClaimError> {
        self.inner.claim(stream, holder).await
    }
    fn blobs(&self) -> &dyn BlobStore {
        self.inner.blobs()
    }
    fn durability(&self) -> Durability {
        Durability::Volatile
    }
    fn location(&self) -> String {
        "a test".to_owned()
    }
}

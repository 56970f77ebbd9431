//! A log in memory that lets other tasks run before each append, so that an agent can be dropped between any two events.

use async_trait::async_trait;
use futures::stream::{self, BoxStream, StreamExt};
use retrace_events::log::{
    Claim, ClaimError, Durability, Head, Holder, MemoryLog, Position, Positioned, StreamFilter, StreamInfo,
};
use retrace_events::{BlobStore, Envelope, EventLog, LogError, StreamId};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::Notify;

/// Gives way, and then does what the log inside does.
#[derive(Debug)]
pub(super) struct PausingLog {
    log: MemoryLog,
    /// Where it looks who holds a session.
    claims: MemoryLog,
    silence: Silence,
}

/// Makes a log silent: who follows it is cut off, and so many further questions go unanswered.
#[derive(Debug, Clone, Default)]
pub(super) struct Silence {
    left: Arc<AtomicU32>,
    cut: Arc<Notify>,
}

impl Silence {
    /// Begins now.
    pub(super) fn begin(&self, questions: u32) {
        self.left.store(questions, Ordering::SeqCst);
        self.cut.notify_waiters();
    }

    fn answer(&self) -> Result<(), LogError> {
        let silent = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        if silent { Err(gone()) } else { Ok(()) }
    }
}

fn gone() -> LogError {
    LogError::Unavailable { location: "here".to_owned(), why: "a test asked for it".to_owned() }
}

impl PausingLog {
    /// Over `log`.
    pub(super) fn of(log: &MemoryLog) -> Self {
        Self { log: log.clone(), claims: log.clone(), silence: Silence::default() }
    }

    /// Over `log`, without seeing who else holds a session, as on the other side of a broken network.
    pub(super) fn unseeing(log: &MemoryLog) -> Self {
        Self { log: log.clone(), claims: MemoryLog::new(), silence: Silence::default() }
    }

    /// What makes it silent.
    pub(super) fn silence(&self) -> Silence {
        self.silence.clone()
    }
}

#[async_trait]
impl EventLog for PausingLog {
    async fn append(&self, batch: &[Envelope]) -> Result<(), LogError> {
        tokio::task::yield_now().await;
        self.log.append(batch).await
    }
    async fn head(&self, stream: &StreamId) -> Result<Option<Head>, LogError> {
        self.log.head(stream).await
    }
    async fn read(&self, stream: &StreamId, from_seq: u64, limit: usize) -> Result<Vec<Envelope>, LogError> {
        self.silence.answer()?;
        self.log.read(stream, from_seq, limit).await
    }
    async fn read_all(&self, after: Position, limit: usize) -> Result<Vec<Positioned>, LogError> {
        self.log.read_all(after, limit).await
    }
    async fn follow(
        &self,
        filter: StreamFilter,
        after: Position,
    ) -> Result<BoxStream<'static, Result<Positioned, LogError>>, LogError> {
        self.silence.answer()?;
        let events = self.log.follow(filter, after).await?;
        let cut = Arc::clone(&self.silence.cut);
        let cut = stream::once(async move {
            cut.notified().await;
            Err(gone())
        });
        Ok(stream::select(events, cut.boxed()).boxed())
    }
    async fn streams(&self, filter: &StreamFilter) -> Result<Vec<StreamInfo>, LogError> {
        self.log.streams(filter).await
    }
    async fn end(&self) -> Result<Position, LogError> {
        self.log.end().await
    }
    async fn claim(&self, stream: &StreamId, holder: &Holder) -> Result<Claim, ClaimError> {
        self.claims.claim(stream, holder).await
    }
    fn blobs(&self) -> &dyn BlobStore {
        self.log.blobs()
    }
    fn durability(&self) -> Durability {
        self.log.durability()
    }
    fn location(&self) -> String {
        self.log.location()
    }
}

//! A log in memory that lets other tasks run before each append, so that an agent can be dropped between any two events.

use async_trait::async_trait;
use futures::stream::BoxStream;
use retrace_events::log::{Durability, Head, MemoryLog, Position, Positioned, StreamFilter, StreamInfo};
use retrace_events::{BlobStore, Envelope, EventLog, LogError, StreamId};

/// Gives way, and then does what the log inside does.
#[derive(Debug)]
pub(super) struct PausingLog(pub(super) MemoryLog);

#[async_trait]
impl EventLog for PausingLog {
    async fn append(&self, batch: &[Envelope]) -> Result<(), LogError> {
        tokio::task::yield_now().await;
        self.0.append(batch).await
    }
    async fn head(&self, stream: &StreamId) -> Result<Option<Head>, LogError> {
        self.0.head(stream).await
    }
    async fn read(&self, stream: &StreamId, from_seq: u64, limit: usize) -> Result<Vec<Envelope>, LogError> {
        self.0.read(stream, from_seq, limit).await
    }
    async fn read_all(&self, after: Position, limit: usize) -> Result<Vec<Positioned>, LogError> {
        self.0.read_all(after, limit).await
    }
    async fn follow(
        &self,
        filter: StreamFilter,
        after: Position,
    ) -> Result<BoxStream<'static, Result<Positioned, LogError>>, LogError> {
        self.0.follow(filter, after).await
    }
    async fn streams(&self, filter: &StreamFilter) -> Result<Vec<StreamInfo>, LogError> {
        self.0.streams(filter).await
    }
    fn blobs(&self) -> &dyn BlobStore {
        self.0.blobs()
    }
    fn durability(&self) -> Durability {
        self.0.durability()
    }
    fn location(&self) -> String {
        self.0.location()
    }
}

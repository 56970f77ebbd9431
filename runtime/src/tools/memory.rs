//! What tools can be told of the past: the one question there is, and what comes back.
//!
//! Tools do not know who remembers, nor how; where nobody does, [`NoMemory`] says so.

use async_trait::async_trait;
use retrace_events::StreamId;
use retrace_indexer::{Filter, Hit};

/// A question about the past.
#[derive(Debug, Clone, Default)]
pub struct MemoryQuestion {
    /// What is looked for, in the words of a query.
    pub query: String,
    /// What the answers must be like, beside what the query says itself.
    pub filter: Filter,
    /// Only this session: a unique beginning of its id.
    pub session: Option<String>,
    /// How many answers at most.
    pub limit: usize,
    /// How many tokens they may have together.
    pub budget_tokens: usize,
    /// Whether the newest events matter so much that the answer may take a second longer.
    pub patient: bool,
}

/// What is remembered.
#[derive(Debug, Clone, Default)]
pub struct Memories {
    /// The answers, the best first.
    pub hits: Vec<Hit>,
    /// What whoever asks should know of them.
    pub notices: Vec<String>,
    /// How many of the newest events could not be looked at, because the index does not have them yet.
    pub behind: u64,
}

/// Why nothing could be looked up, in words for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// There is nothing to look into.
    #[error("there is no index of past work here")]
    Absent,
    /// The session that was named is not one of those that may be asked about.
    #[error("there is no session `{0}` in this workspace")]
    NoSuchSession(String),
    /// The name fits several sessions.
    #[error("`{0}` fits {1} sessions of this workspace: give more of the id")]
    Ambiguous(String, usize),
    /// The index or the log failed.
    #[error("past work cannot be searched now: {0}")]
    Failed(String),
}

/// Remembers past work: the sessions of this workspace, the one that asks, those it was forked from, and this workspace's
/// code. Nothing of other workspaces.
#[async_trait]
pub trait Memory: Send + Sync {
    /// What is remembered that fits, for the session `own`.
    ///
    /// # Errors
    /// When nothing could be looked up.
    async fn search(&self, own: &StreamId, question: MemoryQuestion) -> Result<Memories, MemoryError>;
}

/// Where there is no index.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoMemory;

#[async_trait]
impl Memory for NoMemory {
    async fn search(&self, _own: &StreamId, _question: MemoryQuestion) -> Result<Memories, MemoryError> {
        Err(MemoryError::Absent)
    }
}

//! `summary.*`: nodes of the summary tree that a model wrote.

use crate::id::{EventId, StreamId};
use serde::{Deserialize, Serialize};

subject! {
    /// Summaries.
    Summary {
        /// A node was written.
        Written(SummaryWritten) = "summary.written", 1;
    }
}

/// A node of a session's summary tree. Immutable: another text for the same node is another event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryWritten {
    /// The session's stream.
    pub session: StreamId,
    /// 0 for leaves.
    pub level: u32,
    /// Its place among the nodes of its level, from 0.
    pub index: u64,
    /// The first event it covers.
    pub first_seq: u64,
    /// The last event it covers.
    pub last_seq: u64,
    /// The words.
    pub text: String,
    /// Events the text rests on.
    pub evidence: Vec<EventId>,
    /// What wrote it: `extractive`, or a model's id.
    pub by: String,
    /// What it cost, in millionths of a US dollar.
    pub cost_microusd: u64,
}

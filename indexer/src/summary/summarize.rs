//! Words for the upper levels of the tree: the trait, and the summarizer that needs no model.

use super::summary_node::{EXTRACTIVE, SummaryNode};
use async_trait::async_trait;

/// The longest text of the extractive summarizer, in characters.
const MAX_CHARS: usize = 4_000;

/// A node that wants words, and the nodes it stands for.
#[derive(Debug, Clone, Copy)]
pub struct SummaryGroup<'a> {
    /// The node, with the digest that was merged for it.
    pub node: &'a SummaryNode,
    /// The eight nodes below it, oldest first, with their words where they have some.
    pub children: &'a [SummaryNode],
}

/// Words for a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryWords {
    /// The words, redacted.
    pub text: String,
    /// What found them: [`EXTRACTIVE`], or a model's id.
    pub by: String,
    /// What they cost, in millionths of a US dollar.
    pub cost_microusd: u64,
}

/// Why there are no words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct SummarizeError {
    /// In words, redacted, on one line.
    pub why: String,
    /// Whether the same may succeed later.
    pub is_transient: bool,
    /// What it may have cost nevertheless, in millionths of a US dollar.
    pub cost_microusd: u64,
}

/// Finds words for a node. What it is given comes from models, tools and files, and is to be treated as such.
#[async_trait]
pub trait Summarize: Send + Sync + std::fmt::Debug {
    /// The words for a node.
    ///
    /// # Errors
    /// When none could be found.
    async fn summarize(&self, group: SummaryGroup<'_>) -> Result<SummaryWords, SummarizeError>;
}

/// Says what the digest says. Costs nothing and never fails.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extractive;

#[async_trait]
impl Summarize for Extractive {
    async fn summarize(&self, group: SummaryGroup<'_>) -> Result<SummaryWords, SummarizeError> {
        Ok(SummaryWords { text: group.node.text(MAX_CHARS), by: EXTRACTIVE.to_owned(), cost_microusd: 0 })
    }
}

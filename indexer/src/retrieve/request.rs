//! What retrieval is asked.

use crate::query::{Filter, Query};

/// A question to everything that is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchRequest {
    /// What is looked for. A model that reads only the head of a long text reads this one from its beginning: the newest and
    /// most important words belong there.
    pub query: Query,
    /// What a hit must be, together with the query's own filter.
    pub filter: Filter,
    /// The session that asks: its own past counts most.
    pub own: Option<String>,
    /// The sessions it was forked from.
    pub lineage: Vec<String>,
    /// The most hits; bounded by [`SearchRequest::MAX_HITS`].
    pub limit: usize,
    /// The most tokens that the texts of all hits may take together, four bytes to a token. With a budget a long text is cut to
    /// its best passage; without, it comes whole.
    pub budget_tokens: Option<usize>,
    /// The moment of asking, in milliseconds since 1970.
    pub now_ms: i64,
    /// Whether to tell what was asked and how long it took, as notices.
    pub explain: bool,
}

impl SearchRequest {
    /// The most hits of one search.
    pub const MAX_HITS: usize = 200;
    /// The most tokens of one hit's text under a budget.
    pub const MAX_PASSAGE_TOKENS: usize = 400;
}

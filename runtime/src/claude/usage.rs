//! Token counts of one answer, as the API reports them.
//!
//! The counts in a stream are cumulative: a later report replaces an earlier one, it is never added.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Tokens and server-tool calls of one answer. Missing fields of the API count as 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Input tokens that were neither written to the cache nor read from it.
    pub input_tokens: u64,
    /// Output tokens, thinking included.
    pub output_tokens: u64,
    /// Input tokens written to the cache, all lifetimes together.
    pub cache_creation_input_tokens: u64,
    /// The part of the written tokens that lives 5 minutes.
    pub cache_creation_5m_input_tokens: u64,
    /// The part of the written tokens that lives 1 hour.
    pub cache_creation_1h_input_tokens: u64,
    /// Input tokens read from the cache.
    pub cache_read_input_tokens: u64,
    /// The part of the output tokens that was thinking (0 when the API did not say).
    pub thinking_tokens: u64,
    /// Searches made by the API's own web search tool.
    pub web_search_requests: u64,
    /// Pages fetched by the API's own web fetch tool.
    pub web_fetch_requests: u64,
}

impl Usage {
    /// Takes over every count that `report` (a `usage` object of the API) contains; what it leaves out stays.
    pub fn absorb(&mut self, report: &Value) {
        let set = |slot: &mut u64, value: Option<&Value>| {
            if let Some(count) = value.and_then(Value::as_u64) {
                *slot = count;
            }
        };
        set(&mut self.input_tokens, report.get("input_tokens"));
        set(&mut self.output_tokens, report.get("output_tokens"));
        set(&mut self.cache_creation_input_tokens, report.get("cache_creation_input_tokens"));
        set(&mut self.cache_read_input_tokens, report.get("cache_read_input_tokens"));
        if let Some(split) = report.get("cache_creation") {
            set(&mut self.cache_creation_5m_input_tokens, split.get("ephemeral_5m_input_tokens"));
            set(&mut self.cache_creation_1h_input_tokens, split.get("ephemeral_1h_input_tokens"));
        }
        if let Some(details) = report.get("output_tokens_details") {
            set(&mut self.thinking_tokens, details.get("thinking_tokens"));
        }
        if let Some(server) = report.get("server_tool_use") {
            set(&mut self.web_search_requests, server.get("web_search_requests"));
            set(&mut self.web_fetch_requests, server.get("web_fetch_requests"));
        }
    }

    /// What `report` says that writing a summary used: the sum of its compactions, which are no part of its other counts. `None`
    /// when it lists no iterations at all.
    #[must_use]
    pub(super) fn of_compactions(report: &Value) -> Option<Self> {
        let iterations = report.get("iterations")?.as_array()?;
        let mut sum = Self::default();
        for iteration in iterations {
            if iteration.get("type").and_then(Value::as_str) == Some("compaction") {
                let mut one = Self::default();
                one.absorb(iteration);
                sum = sum.and(&one);
            }
        }
        Some(sum)
    }

    /// The sum.
    #[must_use]
    pub(super) fn and(&self, other: &Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cache_creation_input_tokens: self
                .cache_creation_input_tokens
                .saturating_add(other.cache_creation_input_tokens),
            cache_creation_5m_input_tokens: self
                .cache_creation_5m_input_tokens
                .saturating_add(other.cache_creation_5m_input_tokens),
            cache_creation_1h_input_tokens: self
                .cache_creation_1h_input_tokens
                .saturating_add(other.cache_creation_1h_input_tokens),
            cache_read_input_tokens: self.cache_read_input_tokens.saturating_add(other.cache_read_input_tokens),
            thinking_tokens: self.thinking_tokens.saturating_add(other.thinking_tokens),
            web_search_requests: self.web_search_requests.saturating_add(other.web_search_requests),
            web_fetch_requests: self.web_fetch_requests.saturating_add(other.web_fetch_requests),
        }
    }

    /// Tokens written to the 5-minute cache, counting what the API did not assign to a lifetime as 5 minutes
    /// (its default lifetime).
    #[must_use]
    pub fn cache_write_5m(&self) -> u64 {
        self.cache_creation_input_tokens
            .saturating_sub(self.cache_creation_1h_input_tokens)
            .max(self.cache_creation_5m_input_tokens)
    }

    /// All input tokens: fresh, written to the cache and read from it.
    #[must_use]
    pub fn total_input_tokens(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.cache_write_5m())
            .saturating_add(self.cache_creation_1h_input_tokens)
            .saturating_add(self.cache_read_input_tokens)
    }
}

//! The settings a session runs under, as they are logged: `resume` uses these unless it is told otherwise.

use serde::{Deserialize, Serialize};

/// Everything that decides how a session behaves, without secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The model's id, passed to the API as it is.
    pub model: String,
    /// The most tokens one answer may have.
    pub max_tokens: u32,
    /// The API's thinking setting as raw JSON; `None` sends none.
    pub thinking: Option<String>,
    /// How much effort the model is asked to make, in the API's word; `None` asks for nothing.
    pub effort: Option<String>,
    /// Where requests go.
    pub base_url: String,
    /// The sandbox that was asked for: `auto`, `krun`, `container`, `process` or `none`.
    pub sandbox: String,
    /// When a person is asked before a call: `auto`, `ask` or `allow`.
    pub approvals: String,
    /// Limits of the whole session.
    pub budget: Budget,
    /// Limits of the session together with the one it was forked from and all other forks of that one.
    pub tree_budget: Budget,
    /// The longest a command may run when the model names no time, in milliseconds.
    pub command_timeout_ms: u64,
    /// How often a failed request is tried, the first time included.
    pub max_attempts: u32,
}

/// Limits of a session; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Budget {
    /// Answered requests.
    pub max_steps: Option<u32>,
    /// Tokens in and out, cached ones included.
    pub max_tokens: Option<u64>,
    /// Money, in millionths of a US dollar.
    pub max_cost_microusd: Option<u64>,
    /// Time spent in turns, in milliseconds.
    pub max_time_ms: Option<u64>,
}

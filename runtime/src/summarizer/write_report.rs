//! How much may be written at a time, and what was.

use retrace_events::LogError;
use retrace_events::log::Holder;

/// How much may be written at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteLimits {
    /// The most nodes that words are asked for.
    pub max_nodes: u32,
    /// The most money, in millionths of a US dollar: no request is begun once as much is spent. `None` is no limit.
    pub max_cost_microusd: Option<u64>,
}

impl Default for WriteLimits {
    /// A few nodes, as they come up at the end of a turn.
    fn default() -> Self {
        Self { max_nodes: 8, max_cost_microusd: None }
    }
}

/// What was written.
#[derive(Debug, Default)]
pub struct WriteReport {
    /// How many nodes got words.
    pub written: u32,
    /// What their words cost, in millionths of a US dollar.
    pub cost_microusd: u64,
    /// The most that requests without words may have cost besides.
    pub unknown_cost_microusd: u64,
    /// Why more could not be written; `None` when nothing is missing.
    pub stopped: Option<WriteStop>,
}

/// Why writing stopped before nothing was missing.
#[derive(Debug, thiserror::Error)]
pub enum WriteStop {
    /// The limits of this time are reached.
    #[error("the limit of this time is reached")]
    Limit,
    /// Another process writes them.
    #[error("they are being written by {0}")]
    Held(Holder),
    /// No words could be had.
    #[error("no summary could be had: {0}")]
    Refused(String),
    /// The log cannot be read or written.
    #[error(transparent)]
    Log(#[from] LogError),
}

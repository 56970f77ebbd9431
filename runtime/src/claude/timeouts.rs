//! How long the client waits.

use std::time::Duration;

/// How long the client waits for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection, TLS included.
    pub connect: Duration,
    /// For the next byte of the answer, its first one too.
    pub idle: Duration,
    /// For the whole attempt.
    pub whole: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), idle: Duration::from_secs(90), whole: Duration::from_mins(10) }
    }
}

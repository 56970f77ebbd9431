//! What requests turned out to cost in tokens, so that the next one can be estimated from its bytes.

use crate::id::{EventId, Timestamp};
use serde::{Deserialize, Serialize};

/// A request that was sent: how long it was, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentRequest {
    /// Its event.
    pub event: EventId,
    /// Its body's length in bytes.
    pub body_bytes: u64,
    /// When it was logged.
    pub at: Timestamp,
}

/// The last request of the present model that was answered: its bytes, and the tokens the API counted in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// Its body's length in bytes.
    pub body_bytes: u64,
    /// The tokens of its input, whether read from a cache or not.
    pub input_tokens: u64,
}

impl Measured {
    /// What a body of `body_bytes` will have, at the same rate, rounded up.
    #[must_use]
    pub fn tokens_of(&self, body_bytes: u64) -> u64 {
        let tokens = u128::from(body_bytes) * u128::from(self.input_tokens);
        u64::try_from(tokens.div_ceil(u128::from(self.body_bytes.max(1)))).unwrap_or(u64::MAX)
    }
}

//! How far a request got before it failed.

use serde::{Deserialize, Serialize};

/// How far the request got, which decides whether it may have been billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sent {
    /// No byte of the request was taken: surely not billed.
    Nothing,
    /// The request was sent at least in part and nothing came back: unknown.
    Unanswered,
    /// The server refused it with an error status: not billed.
    Refused,
    /// The server accepted it and sent headers, but no part of the answer: may be billed.
    Accepted,
    /// Part of the answer came: billed at least in part.
    Partly,
}

impl Sent {
    /// Whether the request may cost money.
    #[must_use]
    pub fn may_be_billed(self) -> bool {
        match self {
            Self::Nothing | Self::Refused => false,
            Self::Unanswered | Self::Accepted | Self::Partly => true,
        }
    }
}

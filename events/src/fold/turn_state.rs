//! The turn that is going on: from a prompt to its end.

use crate::id::{EventId, Timestamp};
use crate::payload::turn::TurnFailure;
use serde::{Deserialize, Serialize};

/// A turn that is not over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnState {
    /// The prompt that opened it.
    pub prompt: EventId,
    /// When it began.
    pub started_at: Timestamp,
    /// What it waits for.
    pub stage: Stage,
    /// Attempts at the present request that came to nothing.
    pub failed_attempts: u32,
    /// Answers in a row that were cut at their token limit.
    pub cut_answers: u32,
    /// Requests made in it, failed ones included.
    pub requests: u32,
    /// Epochs that were begun since the last whole answer because a request could not be had in the one before.
    pub recoveries: u32,
    /// The detector's rules the model was warned of in it.
    pub warned: Vec<String>,
    /// Whether the log has said in it which files it found; until then they are told by an event that is still to come.
    pub files_told: bool,
}

impl Stage {
    /// Whether the turn could only end. An epoch that begins here gives it another chance.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        match self {
            Self::Answered { .. } | Self::GaveUp { .. } => true,
            Self::Ask { .. } | Self::Waiting { .. } | Self::Calls => false,
        }
    }
}

/// What a turn waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// A request can be made, not before the given moment (after a failure).
    Ask {
        /// The earliest moment.
        not_before: Timestamp,
    },
    /// A request was logged, and has neither answer nor failure.
    Waiting {
        /// The request.
        request: EventId,
        /// The most it can have cost, in millionths of a US dollar.
        cost_bound_microusd: u64,
    },
    /// The newest answer has calls without a result.
    Calls,
    /// The newest answer has no calls: the turn is to end.
    Answered {
        /// The API's word for why it stopped.
        stop_reason: String,
    },
    /// A request failed and is not to be tried again.
    GaveUp {
        /// How it failed.
        failure: TurnFailure,
        /// What was said.
        message: String,
    },
}

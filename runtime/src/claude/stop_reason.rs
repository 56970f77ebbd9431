//! Why an answer stopped, with values newer than this program kept as they came.

use serde::{Deserialize, Serialize};

/// Why the model stopped. Values this program does not know are kept as they came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum StopReason {
    /// The turn is complete.
    EndTurn,
    /// `max_tokens` was reached.
    MaxTokens,
    /// One of the request's stop sequences was produced.
    StopSequence,
    /// Tool calls wait for their results.
    ToolUse,
    /// A long turn was paused by the API; sending it back as it is goes on with it.
    PauseTurn,
    /// The model refuses; see `stop_details`.
    Refusal,
    /// The context window is full.
    ModelContextWindowExceeded,
    /// The API wrote a compaction block (beta).
    Compaction,
    /// A value newer than this program.
    Unknown(String),
}

impl StopReason {
    /// The value as the API spells it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence => "stop_sequence",
            Self::ToolUse => "tool_use",
            Self::PauseTurn => "pause_turn",
            Self::Refusal => "refusal",
            Self::ModelContextWindowExceeded => "model_context_window_exceeded",
            Self::Compaction => "compaction",
            Self::Unknown(other) => other,
        }
    }
}

impl From<String> for StopReason {
    fn from(text: String) -> Self {
        match text.as_str() {
            "end_turn" => Self::EndTurn,
            "max_tokens" => Self::MaxTokens,
            "stop_sequence" => Self::StopSequence,
            "tool_use" => Self::ToolUse,
            "pause_turn" => Self::PauseTurn,
            "refusal" => Self::Refusal,
            "model_context_window_exceeded" => Self::ModelContextWindowExceeded,
            "compaction" => Self::Compaction,
            _ => Self::Unknown(text),
        }
    }
}

impl From<StopReason> for String {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::Unknown(other) => other,
            known => known.as_str().to_owned(),
        }
    }
}

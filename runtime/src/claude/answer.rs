//! A finished answer and the typed view of its parts.

use serde::{Deserialize, Serialize};

use super::Usage;

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

/// One content block as this program reads it; what goes back to the API is `content_json`, never this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Text for the user.
    Text {
        /// The text.
        text: String,
    },
    /// Thinking; the text may be empty while the signature is not.
    Thinking {
        /// The readable text.
        text: String,
        /// The opaque signature.
        signature: String,
    },
    /// Thinking that only the API can read.
    RedactedThinking {
        /// The opaque data.
        data: String,
    },
    /// A tool call.
    ToolUse {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// The input: always the JSON text of an object, the same text that stands in `content_json`.
        input_json: String,
        /// What came instead of a JSON object, exactly; `input_json` is `{}` then and no tool may be run.
        broken_input: Option<String>,
    },
    /// A block of a kind this program does not interpret.
    Other {
        /// The block's `type`.
        kind: String,
        /// The block as raw JSON text.
        json: String,
    },
}

/// A complete answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The content as the JSON text of an array, to be sent back exactly so. Unknown fields and number spellings are kept.
    /// A tool call whose input was no JSON object carries `{}` here (see [`Block::ToolUse`]).
    pub content_json: String,
    /// The typed view of the same blocks.
    pub blocks: Vec<Block>,
    /// Why the model stopped.
    pub stop_reason: StopReason,
    /// Which stop sequence was produced, if any.
    pub stop_sequence: Option<String>,
    /// Details of the stop, as raw JSON text.
    pub stop_details: Option<String>,
    /// What was used.
    pub usage: Usage,
    /// The model that answered.
    pub model: String,
    /// The message's id.
    pub message_id: String,
    /// The request's id at the API.
    pub request_id: Option<String>,
}

impl Answer {
    /// The tool calls that may be run: those with a sound input.
    pub fn tool_calls(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.blocks.iter().filter_map(|block| match block {
            Block::ToolUse { id, name, input_json, broken_input: None } => {
                Some((id.as_str(), name.as_str(), input_json.as_str()))
            }
            Block::ToolUse { .. }
            | Block::Text { .. }
            | Block::Thinking { .. }
            | Block::RedactedThinking { .. }
            | Block::Other { .. } => None,
        })
    }
}

/// What had arrived of an answer that was never finished. For people and for the books only: it is not sent back and no
/// tool is run from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partial {
    /// The blocks so far, as the JSON text of an array; the last one may be cut.
    pub content_json: String,
    /// The usage reported so far; the real one may be higher.
    pub usage: Usage,
    /// The model that was answering, if the stream said so.
    pub model: Option<String>,
    /// The message's id, if the stream said so.
    pub message_id: Option<String>,
}

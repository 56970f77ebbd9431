//! A finished answer.

use super::{Block, StopReason, Usage};

/// A complete answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The content as the JSON text of an array, to be sent back exactly so. Unknown fields and number spellings are
    /// kept. A tool call whose input was no JSON object carries `{}` here (see [`Block::ToolUse`]).
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

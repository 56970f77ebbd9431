//! The tool calls of the newest answer, until all of them have a result.

use crate::id::CallId;
use crate::payload::tool::ToolEffect;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallProgress {
    /// The model asked for it; nothing was done.
    Asked,
    /// `tool.called` is in the log: its effect may have begun.
    Begun(ToolEffect),
    /// It has a result.
    Done,
}

/// Whether somebody has decided on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallApproval {
    /// Nobody was asked.
    Undecided,
    /// Somebody was asked and has not said anything.
    Asked,
    /// It may be carried out.
    Given,
}

/// A call of the newest answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenCall {
    /// The model's id of it.
    pub id: CallId,
    /// The tool.
    pub tool: String,
    /// The input as raw JSON.
    pub input: String,
    /// How far it has come.
    pub progress: CallProgress,
    /// Whether somebody has decided on it.
    pub approval: CallApproval,
}

impl OpenCall {
    /// Whether it was begun and may have changed files.
    #[must_use]
    pub fn may_have_written(&self) -> bool {
        self.progress == CallProgress::Begun(ToolEffect::Writes)
    }
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type")]
    kind: String,
    id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

/// The tool calls in the raw content of an answer, in order. Content that is no array of blocks has none.
pub(super) fn calls_in(content: &str) -> Vec<OpenCall> {
    let blocks: Vec<Block<'_>> = serde_json::from_str(content).unwrap_or_default();
    let call = |block: Block<'_>| {
        Some(OpenCall {
            id: CallId(block.id?),
            tool: block.name?,
            input: block.input.map_or_else(|| "{}".to_owned(), |input| input.get().to_owned()),
            progress: CallProgress::Asked,
            approval: CallApproval::Undecided,
        })
    };
    blocks.into_iter().filter(|block| block.kind == "tool_use").filter_map(call).collect()
}

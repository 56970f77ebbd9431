//! The content of an answer, which is raw JSON, as text.

use super::clean;
use retrace_events::redact::Redactor;
use serde::Deserialize;
use serde_json::value::RawValue;

/// What an answer says, redacted and clean.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct AnswerText {
    /// Its text blocks, joined by line ends.
    pub(crate) text: String,
    /// Its thinking, joined by line ends.
    pub(crate) thinking: String,
}

/// A call that an answer asks for, as it came.
#[derive(Deserialize)]
pub(super) struct AnswerCall {
    /// The model's id of it.
    pub(super) id: String,
    /// The tool.
    pub(super) name: String,
    /// The input as raw JSON.
    pub(super) input: Box<RawValue>,
}

impl AnswerCall {
    /// The calls in `content`, a JSON array of blocks, in order. Blocks of another shape are left out.
    pub(super) fn read(content: &str) -> Vec<Self> {
        let blocks: Vec<&RawValue> = serde_json::from_str(content).unwrap_or_default();
        blocks.into_iter().filter_map(|block| serde_json::from_str(block.get()).ok()).collect()
    }
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    thinking: Option<String>,
}

impl AnswerText {
    /// Reads `content`, a JSON array of blocks. Content that is something else has no text.
    #[must_use]
    pub(crate) fn read(content: &str, redactor: &Redactor) -> Self {
        Self::read_with(content, " ", redactor)
    }

    /// As [`Self::read`], with `tab` in the place of tabs.
    #[must_use]
    pub(super) fn read_with(content: &str, tab: &str, redactor: &Redactor) -> Self {
        let blocks: Vec<Block> = serde_json::from_str(content).unwrap_or_default();
        let join = |part: fn(&Block) -> Option<&String>, kind: &str| {
            let parts: Vec<&str> =
                blocks.iter().filter(|block| block.kind == kind).filter_map(part).map(String::as_str).collect();
            clean::text(&redactor.redact(parts.join("\n").trim()).replace('\t', tab))
        };
        Self {
            text: join(|block| block.text.as_ref(), "text"),
            thinking: join(|block| block.thinking.as_ref(), "thinking"),
        }
    }
}

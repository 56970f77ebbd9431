//! The content of an answer, which is raw JSON, as text.

use super::clean;
use retrace_events::redact::Redactor;
use serde::Deserialize;

/// What an answer says, redacted and clean.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct AnswerText {
    /// Its text blocks, joined by line ends.
    pub(crate) text: String,
    /// Its thinking, joined by line ends.
    pub(crate) thinking: String,
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
        let blocks: Vec<Block> = serde_json::from_str(content).unwrap_or_default();
        let join = |part: fn(&Block) -> Option<&String>, kind: &str| {
            let parts: Vec<&str> =
                blocks.iter().filter(|block| block.kind == kind).filter_map(part).map(String::as_str).collect();
            clean::text(&redactor.redact(parts.join("\n").trim()))
        };
        Self {
            text: join(|block| block.text.as_ref(), "text"),
            thinking: join(|block| block.thinking.as_ref(), "thinking"),
        }
    }
}

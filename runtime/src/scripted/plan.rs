//! The answer to play: a step with its captures filled in, ids given and thinking signed.
//!
//! Ids are hashes of the conversation so far, so the same request always gets the same ids and no two calls of one
//! conversation share one.

use serde_json::{Value, json};

use super::captured::Captured;
use super::prefix_hash::PrefixHash;
use super::signature::SigningKey;
use super::step::{Step, StepBlock, ToolInput};
use super::summarized::Summarized;

/// An answer ready to be sent.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) message_id: String,
    pub(super) blocks: Vec<PlannedBlock>,
    pub(super) stop_reason: String,
    pub(super) stop_sequence: Option<String>,
    pub(super) stop_details: Value,
    pub(super) output_tokens: u64,
}

/// One block of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PlannedBlock {
    Text { text: String },
    Thinking { text: String, signature: String },
    RedactedThinking { data: String },
    ToolUse { id: String, name: String, input_json: String },
    Summary { content: String, signature: String },
}

/// How a request wants thinking to come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThinkingDisplay {
    /// No thinking at all.
    Off,
    /// Blocks with a signature and no text.
    Omitted,
    /// Blocks with their text.
    Shown,
}

impl PlannedBlock {
    /// The block as JSON. Input that is no JSON object stands as `{}`, which is what a client can send back.
    pub(super) fn json(&self) -> Value {
        match self {
            Self::Text { text } => json!({ "type": "text", "text": text }),
            Self::Thinking { text, signature } => {
                json!({ "type": "thinking", "thinking": text, "signature": signature })
            }
            Self::RedactedThinking { data } => json!({ "type": "redacted_thinking", "data": data }),
            Self::Summary { content, signature } => {
                json!({ "type": "compaction", "content": content, "signature": signature })
            }
            Self::ToolUse { id, name, input_json } => {
                let input = serde_json::from_str::<Value>(input_json).ok().filter(Value::is_object);
                json!({ "type": "tool_use", "id": id, "name": name, "input": input.unwrap_or_else(|| json!({})) })
            }
        }
    }

    fn size_bytes(&self) -> usize {
        match self {
            Self::Text { text } | Self::Thinking { text, .. } => text.len(),
            Self::RedactedThinking { data } => data.len(),
            Self::Summary { content, .. } => content.len(),
            Self::ToolUse { name, input_json, .. } => name.len() + input_json.len() + 16,
        }
    }
}

impl Plan {
    /// The plan of `step` after the conversation hashed in `prefix`.
    pub(super) fn new(
        step: &Step,
        captures: &Captured,
        mut prefix: PrefixHash,
        key: &SigningKey,
        display: ThinkingDisplay,
    ) -> Self {
        let seed = prefix.digest();
        let mut blocks = Vec::new();
        for (index, block) in step.blocks.iter().enumerate() {
            let planned = match block {
                StepBlock::Text { text } => PlannedBlock::Text { text: captures.fill(text) },
                StepBlock::Thinking { .. } | StepBlock::RedactedThinking if display == ThinkingDisplay::Off => continue,
                StepBlock::Thinking { text } => {
                    let text = if display == ThinkingDisplay::Shown { captures.fill(text) } else { String::new() };
                    PlannedBlock::Thinking { signature: key.sign(&prefix, &text), text }
                }
                StepBlock::RedactedThinking => PlannedBlock::RedactedThinking { data: key.sign(&prefix, "") },
                StepBlock::ToolUse { name, input } => PlannedBlock::ToolUse {
                    id: id("toolu", &seed, index),
                    name: captures.fill(name),
                    input_json: match input {
                        ToolInput::Object(input) => captures.fill_json(input).to_string(),
                        ToolInput::Raw(raw) => captures.fill(raw),
                    },
                },
            };
            prefix.add("assistant", &planned.json());
            blocks.push(planned);
        }
        let size_bytes: usize = blocks.iter().map(PlannedBlock::size_bytes).sum();
        Self {
            message_id: id("msg", &seed, 0),
            blocks,
            stop_reason: step.stop_reason.clone(),
            stop_sequence: step.stop_sequence.clone(),
            stop_details: step.stop_details.clone(),
            output_tokens: step.usage.output_tokens.unwrap_or(1 + size_bytes as u64 / 4),
        }
    }

    /// The plan of a summary of the conversation hashed in `prefix`; without one where the script says that it stops otherwise.
    pub(super) fn summary(
        step: &Step,
        content: String,
        prefix: &PrefixHash,
        key: &SigningKey,
        stands_for: &Summarized,
    ) -> Self {
        let signature = stands_for.sign(key, &content);
        let blocks = if step.stop_reason == "compaction" {
            vec![PlannedBlock::Summary { content, signature }]
        } else {
            Vec::new()
        };
        let size_bytes: usize = blocks.iter().map(PlannedBlock::size_bytes).sum();
        Self {
            message_id: id("msg", &prefix.digest(), usize::MAX),
            blocks,
            stop_reason: step.stop_reason.clone(),
            stop_sequence: None,
            stop_details: Value::Null,
            output_tokens: step.usage.output_tokens.unwrap_or(1 + size_bytes as u64 / 4),
        }
    }

    /// The answer to `max_tokens: 0`, which only fills the cache.
    pub(super) fn produce_nothing(&mut self) {
        self.blocks.clear();
        "max_tokens".clone_into(&mut self.stop_reason);
        self.output_tokens = 0;
    }
}

/// An id that depends on nothing but the conversation and the block's position.
fn id(kind: &str, seed: &[u8; 32], index: usize) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("retrace scripted server: ids v1");
    hasher.update(kind.as_bytes()).update(seed).update(&(index as u64).to_le_bytes());
    format!("{kind}_01{}", &hasher.finalize().to_hex()[..22])
}

//! The words in an answer's raw content. What it calls is left to the calls' own events.

use super::unit::Unit;
use crate::document::DocumentKind;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The most blocks of an answer that are looked at.
const MAX_BLOCKS: usize = 1_000;

/// A block, as far as it has words.
#[derive(Deserialize)]
struct Block {
    r#type: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    thinking: String,
}

/// The units of an answer whose content blocks are the JSON array `content`. What is not understood is left out: a newer
/// API's blocks, or content that is damaged.
pub(super) fn answer_units(content: &str) -> Vec<Unit> {
    let blocks: Vec<&RawValue> = serde_json::from_str(content).unwrap_or_default();
    let blocks = blocks.into_iter().take(MAX_BLOCKS);
    blocks.filter_map(|block| unit(serde_json::from_str(block.get()).ok()?)).collect()
}

fn unit(block: Block) -> Option<Unit> {
    let (kind, text) = match block.r#type.as_str() {
        "text" => (DocumentKind::Answer, block.text),
        "thinking" => (DocumentKind::Thinking, block.thinking),
        _ => return None,
    };
    Some(Unit { kind, text, ..Unit::default() })
}

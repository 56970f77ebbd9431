//! Answers of an earlier epoch: what of them can be given back.

use super::render::RenderError;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Deserialize)]
struct Block {
    r#type: String,
    #[serde(default)]
    text: Option<String>,
}

impl Block {
    /// Thinking is bound to the prefix it came after. Blank words, which a model does produce, the API does not take
    /// back; in the epoch they came in they must stay all the same, since thinking may be bound to them.
    fn stays(&self) -> bool {
        match self.r#type.as_str() {
            "thinking" | "redacted_thinking" => false,
            "text" => self.text.as_ref().is_some_and(|text| !text.trim().is_empty()),
            _ => true,
        }
    }
}

/// The content without thinking, its other blocks byte for byte; `None` when nothing is left.
pub(super) fn without_thinking(content: &str) -> Result<Option<Box<RawValue>>, RenderError> {
    let not_json = |source| RenderError::NotJson { what: "answer", source };
    let blocks: Vec<&RawValue> = serde_json::from_str(content).map_err(not_json)?;
    let mut kept = Vec::with_capacity(blocks.len());
    for block in blocks {
        let seen: Block = serde_json::from_str(block.get()).map_err(not_json)?;
        if seen.stays() {
            kept.push(block.get());
        }
    }
    if kept.is_empty() {
        return Ok(None);
    }
    RawValue::from_string(format!("[{}]", kept.join(","))).map(Some).map_err(not_json)
}

/// The content as it is given back in its own epoch: byte for byte, but for blank words, which the API does not take. With
/// thinking in it nothing is left out, since thinking may be bound to what stands beside it.
pub(super) fn as_it_came(content: &str) -> Result<Option<Cow<'_, RawValue>>, RenderError> {
    let not_json = |source| RenderError::NotJson { what: "answer", source };
    let blocks: Vec<&RawValue> = serde_json::from_str(content).map_err(not_json)?;
    let seen: Vec<Block> =
        blocks.iter().map(|block| serde_json::from_str(block.get())).collect::<Result<_, _>>().map_err(not_json)?;
    let thinks = seen.iter().any(|block| matches!(block.r#type.as_str(), "thinking" | "redacted_thinking"));
    if thinks || seen.iter().all(Block::stays) {
        // A refusal can come without any content, and the API takes no empty message back.
        let present = !seen.is_empty();
        return present
            .then(|| serde_json::from_str(content))
            .transpose()
            .map(|raw| raw.map(Cow::Borrowed))
            .map_err(not_json);
    }
    Ok(without_thinking(content)?.map(Cow::Owned))
}

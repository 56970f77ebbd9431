//! The content of a conversation in one canonical form, and the running hash over it.
//!
//! Two requests that mean the same conversation have the same form: keys sorted, `cache_control` marks left out, a
//! string standing for one text block, and messages of one role in a row read as one turn. What the model or a tool
//! wrote (`input` of a call, schemas) is kept whole, even where it has a key named `cache_control`.

use serde_json::Value;

/// A hash over system, tools and blocks in order, readable at any point.
#[derive(Debug, Clone)]
pub(super) struct PrefixHash(blake3::Hasher);

impl PrefixHash {
    /// Starts with what stands before the first message.
    pub(super) fn new(request: &Value) -> Self {
        let mut prefix = Self(blake3::Hasher::new_derive_key("retrace scripted server: conversation prefix v1"));
        for block in texts_or_blocks(request.get("system")) {
            prefix.add("system", &block);
        }
        for tool in request.get("tools").and_then(Value::as_array).into_iter().flatten() {
            prefix.add("tool", &unmarked(tool));
        }
        prefix
    }

    /// Adds one block (already without marks) of a message by `role`.
    pub(super) fn add(&mut self, role: &str, block: &Value) {
        let mut text = String::new();
        write_canonical(block, &mut text);
        for part in [role, &text] {
            self.0.update(&(part.len() as u64).to_le_bytes());
            self.0.update(part.as_bytes());
        }
    }

    /// The hash of all that was added so far.
    pub(super) fn digest(&self) -> [u8; 32] {
        *self.0.finalize().as_bytes()
    }
}

/// The blocks of a message's or system's content, without their marks.
pub(super) fn texts_or_blocks(content: Option<&Value>) -> Vec<Value> {
    match content {
        Some(Value::String(text)) => vec![serde_json::json!({ "type": "text", "text": text })],
        Some(Value::Array(blocks)) => blocks.iter().map(unmarked).collect(),
        Some(_) | None => Vec::new(),
    }
}

/// `block` without its `cache_control`, and a tool result without those of the blocks inside.
pub(super) fn unmarked(block: &Value) -> Value {
    let mut block = block.clone();
    let Some(fields) = block.as_object_mut() else { return block };
    fields.shift_remove("cache_control");
    // An optional field that is null says the same as one that is missing.
    fields.retain(|_, value| !value.is_null());
    if fields.get("type").and_then(Value::as_str) == Some("tool_result")
        && let Some(content) = fields.get("content").cloned()
    {
        fields.insert("content".to_owned(), Value::Array(texts_or_blocks(Some(&content))));
    }
    block
}

/// JSON text with sorted keys and no white space.
fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().collect();
            keys.sort();
            out.push('{');
            for (index, key) in keys.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write_canonical(&fields[key.as_str()], out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => out.push_str(&value.to_string()),
    }
}

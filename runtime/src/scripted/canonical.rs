//! The content of a conversation in one canonical form.
//!
//! Two requests that mean the same conversation have the same form: keys sorted, `cache_control` marks left out, a
//! string standing for one text block, and messages of one role in a row read as one turn. What the model or a tool
//! wrote (`input` of a call, schemas) is kept whole, even where it has a key named `cache_control`.

use serde_json::Value;

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
pub(super) fn write_canonical(value: &Value, out: &mut String) {
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

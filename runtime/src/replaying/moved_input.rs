//! Calls name the workspace by where it was, as the model was told it, and now it is elsewhere: such paths are moved in what is
//! handed to a tool, except in texts that become files.

use super::normaliser::moved;
use serde_json::Value;

/// Fields of a call's input that become files, or are looked for in them: the paths in them are the file's.
const CONTENTS: [&str; 3] = ["content", "old_string", "new_string"];

/// A call's input with paths of the workspace moved, except in what becomes a file.
pub(super) fn moved_input(input: Value, from: &str, to: &str) -> Value {
    match input {
        Value::String(text) => Value::String(moved(&text, from, to).into_owned()),
        Value::Array(items) => items.into_iter().map(|item| moved_input(item, from, to)).collect(),
        Value::Object(fields) => {
            let field = |(name, value): (String, Value)| {
                let value = if CONTENTS.contains(&name.as_str()) { value } else { moved_input(value, from, to) };
                (name, value)
            };
            fields.into_iter().map(field).collect()
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    }
}

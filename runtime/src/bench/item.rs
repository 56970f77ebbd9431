//! What stands in a recorded session, one item after the other: what people said, what the model thought, said and called,
//! and what came of it.

use super::characters;
use serde_json::{Map, Value};

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ItemKind {
    /// A person's prompt.
    User,
    /// Something that a program said in the place of a person.
    Meta,
    /// What the model said.
    Assistant,
    /// What it thought.
    Thinking,
    /// A call.
    ToolCall,
    /// What came of a call.
    ToolResult,
    /// A summary that took the place of what stood before it.
    Summary,
}

impl ItemKind {
    /// The kind that is written so in recordings; `None` when there is none.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "user" => Self::User,
            "meta" => Self::Meta,
            "assistant" => Self::Assistant,
            "thinking" => Self::Thinking,
            "tool_call" => Self::ToolCall,
            "tool_result" => Self::ToolResult,
            "summary" => Self::Summary,
            _ => return None,
        })
    }

    /// Whether the model made it.
    #[must_use]
    pub const fn is_answer(self) -> bool {
        match self {
            Self::Assistant | Self::Thinking | Self::ToolCall => true,
            Self::User | Self::Meta | Self::ToolResult | Self::Summary => false,
        }
    }
}

/// One item of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// The tool of a call or a result; empty when it is not known.
    pub tool: String,
    /// The file it is about; empty when it is about none.
    pub path: String,
    /// Its words; of a call all strings of its input, a line each.
    pub text: String,
    /// The fields of a call's input; empty for everything else.
    pub call: Map<String, Value>,
    /// When it was recorded, in milliseconds since 1970. Never before the item in front of it.
    pub at_ms: u64,
    /// The characters of its text.
    pub chars: usize,
    /// About how many tokens its text has.
    pub tokens: u64,
}

impl Item {
    /// An item. The text of a call is its input as JSON; one that is no JSON stays as it is.
    #[must_use]
    pub fn new(kind: ItemKind, tool: &str, path: &str, text: &str, at_ms: u64) -> Self {
        let (mut text, mut call) = (text.to_owned(), Map::new());
        if kind == ItemKind::ToolCall
            && let Ok(input) = serde_json::from_str::<Value>(&text)
        {
            let mut strings = Vec::new();
            gather(&input, &mut strings);
            text = strings.join("\n");
            if let Value::Object(fields) = input {
                call = fields;
            }
        }
        let chars = characters::length(&text);
        let tokens = characters::tokens_of(chars);
        Self { kind, tool: tool.to_owned(), path: path.to_owned(), text, call, at_ms, chars, tokens }
    }

    /// The texts that a call replaces in files: what it must know word for word.
    #[must_use]
    pub fn replaced(&self) -> Vec<&str> {
        let edits = self.call.get("edits").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
        let all = std::iter::once(&self.call).chain(edits);
        all.filter_map(|edit| edit.get("old_string").and_then(Value::as_str)).collect()
    }

    /// The text of a field of a call's input.
    #[must_use]
    pub fn input(&self, field: &str) -> Option<&str> {
        self.call.get(field).and_then(Value::as_str)
    }
}

/// All strings in `value`, in order, without the names of fields.
fn gather<'a>(value: &'a Value, strings: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => strings.push(text),
        Value::Array(values) => values.iter().for_each(|value| gather(value, strings)),
        Value::Object(fields) => fields.values().for_each(|value| gather(value, strings)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

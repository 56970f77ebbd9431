//! What the model is told about a tool, and how its input is read back.
//!
//! The JSON schema is derived from the input type, so that schema and parser cannot disagree. The text of all tools
//! stands at the very beginning of every request and is logged with the epoch, so [`tools_json`] must give the same
//! bytes for the same tools: nothing here depends on time, order of hashing, or the machine.

use super::{Tool, ToolResult};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A tool as the model is told of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSchema {
    /// The name the model calls it by.
    pub name: String,
    /// What it does, when to use it, its limits and what comes back.
    pub description: String,
    /// The JSON schema of its input: always an object without unknown fields.
    pub input_schema: Value,
}

impl ToolSchema {
    /// The schema of a tool whose input is `Input`.
    pub(super) fn of<Input: JsonSchema>(name: &str, description: &str) -> Self {
        let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
        Self { name: name.to_owned(), description, input_schema: input_schema::<Input>() }
    }
}

/// The `tools` array of a request as raw JSON, in the order given, the same bytes each time.
#[must_use]
pub fn tools_json(tools: &[Arc<dyn Tool>]) -> String {
    let schemas = tools.iter().map(|tool| serde_json::to_value(tool.schema()).unwrap_or_default());
    Value::Array(schemas.collect()).to_string()
}

/// Reads a call's input; one that does not fit is the result the model is told.
pub(super) fn parse<Input: DeserializeOwned + JsonSchema>(name: &str, input: Value) -> Result<Input, Box<ToolResult>> {
    serde_json::from_value(input).map_err(|error| {
        let schema = input_schema::<Input>();
        let text = format!("invalid input for {name}: {error}\nfields: {}", field_list(&schema));
        Box::new(ToolResult::error(text))
    })
}

/// `command (string, required), timeout_ms (integer)`.
fn field_list(schema: &Value) -> String {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = schema["properties"].as_object().into_iter().flatten().map(|(name, field)| {
        let kind = field["type"].as_str().unwrap_or("any");
        let need = if required.contains(&name.as_str()) { ", required" } else { "" };
        format!("{name} ({kind}{need})")
    });
    fields.collect::<Vec<_>>().join(", ")
}

fn input_schema<Input: JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<Input>().to_value();
    if let Value::Object(root) = &mut schema {
        plain(root);
        // A struct's own doc comment describes the type to programmers, not the input to the model.
        root.remove("description");
    }
    schema
}

/// Takes out what the API does not need: titles, formats and the `null` of optional fields (which may simply be left
/// out).
fn plain(schema: &mut Map<String, Value>) {
    let useless = |key: &str, value: &Value| matches!(key, "title" | "format") || (key == "default" && value.is_null());
    schema.retain(|key, value| !useless(key, value));
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            plain(property);
        }
    }
    if let Some(Value::Object(items)) = schema.get_mut("items") {
        plain(items);
    }
}

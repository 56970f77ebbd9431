//! Tool definitions and `tool_choice`.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::shape::{array, below, boolean, is_name, object, one_of, only, optional, required, string};
use super::thinking;
use crate::claude::{ModelRow, ThinkingType};
use crate::scripted::api_error::ApiError;

/// The longest tool name, in characters.
const MAX_NAME: usize = 128;

const CUSTOM_FIELDS: [&str; 10] = [
    "type",
    "name",
    "description",
    "input_schema",
    "cache_control",
    "strict",
    "defer_loading",
    "eager_input_streaming",
    "allowed_callers",
    "input_examples",
];

/// Tools whose schema the API itself knows.
const KNOWN_TYPES: [&str; 22] = [
    "bash_20250124",
    "browser_toolset_20260801",
    "code_execution_20250522",
    "code_execution_20250825",
    "code_execution_20260120",
    "code_execution_20260521",
    "computer_toolset_20260801",
    "memory_20250818",
    "text_editor_20250124",
    "text_editor_20250429",
    "text_editor_20250728",
    "tool_search_tool_bm25",
    "tool_search_tool_bm25_20251119",
    "tool_search_tool_regex",
    "tool_search_tool_regex_20251119",
    "web_fetch_20250910",
    "web_fetch_20260209",
    "web_fetch_20260309",
    "web_fetch_20260318",
    "web_search_20250305",
    "web_search_20260209",
    "web_search_20260318",
];

pub(super) fn check(fields: &Map<String, Value>, row: &ModelRow) -> Result<(), ApiError> {
    let mut names = HashSet::new();
    if let Some(tools) = fields.get("tools") {
        for (index, tool) in array(tools, "tools")?.iter().enumerate() {
            let path = below("tools", index);
            let tool = object(tool, &path)?;
            let name = match optional(tool, "type").map(|kind| string(kind, &below(&path, "type"))).transpose()? {
                None | Some("custom") => check_custom(tool, &path)?,
                Some(kind) if KNOWN_TYPES.contains(&kind) => tool.get("name").and_then(Value::as_str).unwrap_or(kind),
                Some(kind) => {
                    let message =
                        format!("Input tag '{kind}' found using 'type' does not match any of the expected tags");
                    return Err(ApiError::at(&path, message));
                }
            };
            if !names.insert(name) {
                return Err(ApiError::at("tools", "Tool names must be unique."));
            }
        }
    }
    match fields.get("tool_choice") {
        Some(choice) => check_choice(object(choice, "tool_choice")?, &names, fields, row),
        None => Ok(()),
    }
}

fn check_custom<'a>(tool: &'a Map<String, Value>, path: &str) -> Result<&'a str, ApiError> {
    only(tool, path, &CUSTOM_FIELDS)?;
    let name_path = below(path, "name");
    let name = string(required(tool, path, "name")?, &name_path)?;
    if !is_name(name, MAX_NAME) {
        return Err(ApiError::at(&name_path, "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"));
    }
    if let Some(description) = tool.get("description") {
        string(description, &below(path, "description"))?;
    }
    for flag in ["strict", "defer_loading", "eager_input_streaming"] {
        optional(tool, flag).map(|value| boolean(value, &below(path, flag))).transpose()?;
    }
    let schema_path = below(path, "input_schema");
    let schema = object(required(tool, path, "input_schema")?, &schema_path)?;
    let type_path = below(&schema_path, "type");
    one_of(required(schema, &schema_path, "type")?, &type_path, &["object"])?;
    if let Some(properties) = optional(schema, "properties") {
        object(properties, &below(&schema_path, "properties"))?;
    }
    if let Some(list) = optional(schema, "required") {
        let list_path = below(&schema_path, "required");
        for (index, item) in array(list, &list_path)?.iter().enumerate() {
            string(item, &below(&list_path, index))?;
        }
    }
    Ok(name)
}

fn check_choice(
    choice: &Map<String, Value>,
    names: &HashSet<&str>,
    fields: &Map<String, Value>,
    row: &ModelRow,
) -> Result<(), ApiError> {
    let kind = one_of(required(choice, "tool_choice", "type")?, "tool_choice.type", &["auto", "any", "tool", "none"])?;
    let allowed: &[&str] = match kind {
        "none" => &["type"],
        "tool" => &["type", "name", "disable_parallel_tool_use"],
        _ => &["type", "disable_parallel_tool_use"],
    };
    only(choice, "tool_choice", allowed)?;
    if let Some(flag) = choice.get("disable_parallel_tool_use") {
        boolean(flag, "tool_choice.disable_parallel_tool_use")?;
    }
    if names.is_empty() {
        return Err(ApiError::at("tool_choice", "tool_choice may only be specified while providing tools"));
    }
    if matches!(kind, "auto" | "none") {
        return Ok(());
    }
    if kind == "tool" {
        let name = string(required(choice, "tool_choice", "name")?, "tool_choice.name")?;
        if !names.contains(name) {
            return Err(ApiError::at("tool_choice", format!("Tool '{name}' not found in provided tools")));
        }
    }
    if !row.forced_tools {
        return Err(ApiError::at("tool_choice.type", format!("'{kind}' is not supported for this model")));
    }
    let forced_on = [ThinkingType::Enabled, ThinkingType::Adaptive].map(|kind| Some(kind.as_str()));
    if forced_on.contains(&thinking::chosen(fields)) {
        return Err(ApiError::invalid("Thinking may not be enabled when tool_choice forces tool use."));
    }
    Ok(())
}

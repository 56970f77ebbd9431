//! The content blocks of a message: which role may send which, and what each one must look like.

use serde_json::{Map, Value};

use super::images;
use super::shape::{array, below, boolean, is_name, object, one_of, only, optional, required, string};
use crate::scripted::api_error::ApiError;

/// The longest id of a tool call.
const MAX_ID: usize = 256;

/// Blocks that a user message may hold, an assistant message, a system message, and a tool result.
const OF_USER: [&str; 6] = ["text", "image", "document", "search_result", "tool_result", "container_upload"];
const OF_ASSISTANT: [&str; 11] = [
    "text",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "server_tool_use",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
];
const OF_SYSTEM: [&str; 1] = ["text"];
const OF_RESULT: [&str; 6] = ["text", "image", "document", "search_result", "tool_reference", "browser_state"];

/// Checks one block of a message by `role`.
pub(super) fn check(block: &Value, path: &str, role: &str) -> Result<(), ApiError> {
    let allowed: &[&str] = match role {
        "user" => &OF_USER,
        "assistant" => &OF_ASSISTANT,
        _ => &OF_SYSTEM,
    };
    check_one(block, path, allowed, role)
}

fn check_one(block: &Value, path: &str, allowed: &[&str], place: &str) -> Result<(), ApiError> {
    let fields = object(block, path)?;
    let kind = string(required(fields, path, "type")?, &below(path, "type"))?;
    // Where a summary may stand, and what it looks like, is checked with the request as a whole.
    let summary = kind == "compaction" && matches!(place, "user" | "assistant");
    if !summary && !allowed.contains(&kind) {
        let tags = allowed.join("', '");
        let message = format!(
            "Input tag '{kind}' found using 'type' does not match any of the expected tags for {place}: '{tags}'"
        );
        return Err(ApiError::at(path, message));
    }
    match kind {
        "text" => {
            // Citations are what the model makes; the newer version of the API refuses them from the user.
            if place != "assistant"
                && optional(fields, "citations").and_then(Value::as_array).is_some_and(|c| !c.is_empty())
            {
                return Err(ApiError::at(
                    &below(path, "citations"),
                    "citations are only allowed in assistant messages",
                ));
            }
            check_text(fields, path, "messages")
        }
        "thinking" => {
            only(fields, path, &["type", "thinking", "signature"])?;
            string(required(fields, path, "thinking")?, &below(path, "thinking"))?;
            string(required(fields, path, "signature")?, &below(path, "signature")).map(drop)
        }
        "redacted_thinking" => {
            only(fields, path, &["type", "data"])?;
            string(required(fields, path, "data")?, &below(path, "data")).map(drop)
        }
        "tool_use" => check_tool_use(fields, path),
        "tool_result" => check_tool_result(fields, path),
        "search_result" => check_search_result(fields, path),
        "image" | "document" => check_source(fields, path, kind),
        // Blocks of the API's own tools, which the scripted server never produces: their type alone is checked.
        _ => Ok(()),
    }
}

/// A text block, wherever it stands; `whole` names the list it belongs to in messages.
pub(super) fn check_text(fields: &Map<String, Value>, path: &str, whole: &str) -> Result<(), ApiError> {
    only(fields, path, &["type", "text", "cache_control", "citations"])?;
    one_of(required(fields, path, "type")?, &below(path, "type"), &["text"])?;
    let text = string(required(fields, path, "text")?, &below(path, "text"))?;
    if text.is_empty() {
        if optional(fields, "cache_control").is_some() {
            return Err(ApiError::at(
                &below(path, "cache_control"),
                "cache_control cannot be set for empty text blocks",
            ));
        }
        return Err(ApiError::at(whole, "text content blocks must be non-empty"));
    }
    if text.trim().is_empty() {
        return Err(ApiError::at(whole, "text content blocks must contain non-whitespace text"));
    }
    optional(fields, "citations").map(|list| array(list, &below(path, "citations")).map(drop)).unwrap_or(Ok(()))
}

fn check_tool_use(fields: &Map<String, Value>, path: &str) -> Result<(), ApiError> {
    only(fields, path, &["type", "id", "name", "input", "cache_control", "caller", "toolset_name"])?;
    check_id(fields, path, "id")?;
    let name_path = below(path, "name");
    if !is_name(string(required(fields, path, "name")?, &name_path)?, 200) {
        return Err(ApiError::at(&name_path, "String should match pattern '^[a-zA-Z0-9_-]{1,200}$'"));
    }
    object(required(fields, path, "input")?, &below(path, "input")).map(drop)
}

fn check_tool_result(fields: &Map<String, Value>, path: &str) -> Result<(), ApiError> {
    only(fields, path, &["type", "tool_use_id", "content", "is_error", "cache_control", "toolset_name"])?;
    check_id(fields, path, "tool_use_id")?;
    if let Some(flag) = fields.get("is_error") {
        boolean(flag, &below(path, "is_error"))?;
    }
    let content_path = below(path, "content");
    let failed = fields.get("is_error").and_then(Value::as_bool) == Some(true);
    match fields.get("content") {
        None | Some(Value::String(_)) => Ok(()),
        Some(content) => {
            for (index, block) in array(content, &content_path)?.iter().enumerate() {
                if failed && block.get("type").and_then(Value::as_str) != Some("text") {
                    return Err(ApiError::at(path, "all content must be type \"text\" if \"is_error\" is true"));
                }
                check_one(block, &below(&content_path, index), &OF_RESULT, "tool_result")?;
            }
            Ok(())
        }
    }
}

fn check_search_result(fields: &Map<String, Value>, path: &str) -> Result<(), ApiError> {
    only(fields, path, &["type", "source", "title", "content", "cache_control", "citations"])?;
    string(required(fields, path, "source")?, &below(path, "source"))?;
    string(required(fields, path, "title")?, &below(path, "title"))?;
    let content_path = below(path, "content");
    let content = array(required(fields, path, "content")?, &content_path)?;
    if content.is_empty() {
        return Err(ApiError::at(&content_path, "List should have at least 1 item"));
    }
    for (index, block) in content.iter().enumerate() {
        let path = below(&content_path, index);
        check_text(object(block, &path)?, &path, "search_result")?;
    }
    Ok(())
}

fn check_source(fields: &Map<String, Value>, path: &str, kind: &str) -> Result<(), ApiError> {
    let allowed: &[&str] = if kind == "image" {
        &["type", "source", "cache_control", "transformations"]
    } else {
        &["type", "source", "cache_control", "citations", "context", "title"]
    };
    only(fields, path, allowed)?;
    let source_path = below(path, "source");
    let source = object(required(fields, path, "source")?, &source_path)?;
    let types: &[&str] =
        if kind == "image" { &["base64", "url", "file"] } else { &["base64", "url", "file", "text", "content"] };
    let source_type = one_of(required(source, &source_path, "type")?, &below(&source_path, "type"), types)?;
    if source_type == "base64" {
        let media: &[&str] = if kind == "image" {
            &["image/jpeg", "image/png", "image/gif", "image/webp"]
        } else {
            &["application/pdf"]
        };
        let media_type =
            one_of(required(source, &source_path, "media_type")?, &below(&source_path, "media_type"), media)?;
        let data = string(required(source, &source_path, "data")?, &below(&source_path, "data"))?;
        if kind == "image" {
            images::check_data(media_type, data, &source_path)?;
        }
    }
    Ok(())
}

fn check_id(fields: &Map<String, Value>, path: &str, name: &str) -> Result<(), ApiError> {
    let id_path = below(path, name);
    if is_name(string(required(fields, path, name)?, &id_path)?, MAX_ID) {
        Ok(())
    } else {
        Err(ApiError::at(&id_path, "String should match pattern '^[a-zA-Z0-9_-]+$'"))
    }
}

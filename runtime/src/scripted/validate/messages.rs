//! The list of messages: roles, their order, and that each one says something.

use serde_json::{Map, Value};

use super::shape::{array, below, object, one_of, only, required};
use super::{MAX_MESSAGES, blocks};
use crate::claude::ModelRow;
use crate::scripted::api_error::ApiError;

pub(super) fn check(fields: &Map<String, Value>, row: &ModelRow) -> Result<(), ApiError> {
    let messages = array(required(fields, "", "messages")?, "messages")?;
    if messages.is_empty() {
        return Err(ApiError::at("messages", "at least one message is required"));
    }
    if messages.len() > MAX_MESSAGES {
        let message = format!("List should have at most {MAX_MESSAGES} items, not {}", messages.len());
        return Err(ApiError::at("messages", message));
    }
    let mut previous = None;
    for (index, message) in messages.iter().enumerate() {
        let path = below("messages", index);
        let message = object(message, &path)?;
        only(message, &path, &["role", "content"])?;
        let role_path = below(&path, "role");
        let role = one_of(required(message, &path, "role")?, &role_path, &["user", "assistant", "system"])?;
        let summary = index == 0 && begins_with_summary(message.get("content"));
        if !summary {
            check_order(role, previous, row, &path)?;
        }
        let is_last = index + 1 == messages.len();
        check_content(required(message, &path, "content")?, &below(&path, "content"), role, is_last)?;
        previous = Some(role);
    }
    Ok(())
}

/// Whether the API's summary stands first; that it may is checked with it.
fn begins_with_summary(content: Option<&Value>) -> bool {
    content.and_then(|content| content.get(0)?.get("type")?.as_str()) == Some("compaction")
}

fn check_order(role: &str, previous: Option<&str>, row: &ModelRow, path: &str) -> Result<(), ApiError> {
    match (role, previous) {
        ("system", _) if !row.mid_conversation_system => Err(ApiError::at(
            path,
            "role 'system' is not supported on this model. Use the top-level `system` parameter.",
        )),
        ("system", Some("user")) => Ok(()),
        ("system", _) => {
            Err(ApiError::at(path, "a message with role 'system' must directly follow a message with role 'user'"))
        }
        ("user", _) | (_, Some(_)) => Ok(()),
        (_, None) => Err(ApiError::at("messages", "first message must use the \"user\" role")),
    }
}

fn check_content(content: &Value, path: &str, role: &str, is_last: bool) -> Result<(), ApiError> {
    let may_be_empty = is_last && role == "assistant";
    let empty = || {
        ApiError::at(path, "all messages must have non-empty content except for the optional final assistant message")
    };
    match content {
        Value::String(text) if text.is_empty() && !may_be_empty => Err(empty()),
        Value::String(text) if text.trim().is_empty() && !may_be_empty => {
            Err(ApiError::at("messages", "text content blocks must contain non-whitespace text"))
        }
        Value::String(_) => Ok(()),
        Value::Array(list) if list.is_empty() && !may_be_empty => Err(empty()),
        Value::Array(list) => {
            for (index, block) in list.iter().enumerate() {
                blocks::check(block, &below(path, index), role)?;
            }
            Ok(())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            Err(ApiError::at(path, "Input should be a valid string or list"))
        }
    }
}

//! Tool calls and their results: each call gets one result, in the very next message, before anything else there.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::scripted::api_error::ApiError;

pub(super) fn check(fields: &Map<String, Value>) -> Result<(), ApiError> {
    let messages = fields.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut known = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        check_results(message, index, &open)?;
        open = ids(message, "tool_use", "id").map(|(_, id)| id).collect();
        for (position, id) in ids(message, "tool_use", "id") {
            if !known.insert(id) {
                let path = format!("messages.{index}.content.{position}");
                return Err(ApiError::at(&path, "`tool_use` ids must be unique"));
            }
        }
    }
    if open.is_empty() { Ok(()) } else { Err(without_results(messages.len() - 1, &open)) }
}

/// Checks that the results in `message` answer exactly the calls in `open`.
fn check_results(message: &Value, index: usize, open: &[&str]) -> Result<(), ApiError> {
    let mut answered: Vec<&str> = Vec::new();
    for (position, id) in ids(message, "tool_result", "tool_use_id") {
        let path = format!("messages.{index}.content.{position}");
        if !open.contains(&id) {
            return Err(ApiError::at(
                &path,
                format!(
                    "unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have \
                     a corresponding `tool_use` block in the previous message."
                ),
            ));
        }
        if answered.contains(&id) {
            return Err(ApiError::at(
                &path,
                format!("each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}"),
            ));
        }
        if position != answered.len() {
            return Err(ApiError::at(&path, "`tool_result` blocks must come before all other content of the message"));
        }
        answered.push(id);
    }
    let missing: Vec<&str> = open.iter().copied().filter(|id| !answered.contains(id)).collect();
    if missing.is_empty() { Ok(()) } else { Err(without_results(index - 1, &missing)) }
}

fn without_results(index: usize, missing: &[&str]) -> ApiError {
    ApiError::at(
        &format!("messages.{index}"),
        format!(
            "`tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block must \
             have a corresponding `tool_result` block in the next message.",
            missing.join(", ")
        ),
    )
}

/// The position and the id of every block of `kind` in `message`.
fn ids<'a>(message: &'a Value, kind: &'a str, field: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten().enumerate();
    blocks.filter_map(move |(position, block)| {
        let fits = block.get("type").and_then(Value::as_str) == Some(kind);
        block.get(field).and_then(Value::as_str).filter(|_| fits).map(|id| (position, id))
    })
}

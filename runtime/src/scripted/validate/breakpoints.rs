//! `cache_control` marks: their shape, their number, the order of their lifetimes, and where none may stand.

use serde_json::Value;

use super::shape::{below, object, one_of, only, required};
use crate::scripted::api_error::ApiError;

/// The most marks of a request.
const MAX_MARKS: usize = 4;

pub(super) fn check(request: &Value) -> Result<(), ApiError> {
    let mut marks: Vec<(String, bool)> = Vec::new();
    for (name, list) in [("tools", request.get("tools")), ("system", request.get("system"))] {
        visit_list(list, name, &mut marks)?;
    }
    for (index, message) in request.get("messages").and_then(Value::as_array).into_iter().flatten().enumerate() {
        visit_list(message.get("content"), &format!("messages.{index}.content"), &mut marks)?;
    }
    // The mark on the request itself stands for one on the last block.
    visit(request, "", &mut marks)?;
    if marks.len() > MAX_MARKS {
        let found = marks.len();
        return Err(ApiError::invalid(format!(
            "A maximum of {MAX_MARKS} blocks with cache_control may be provided. Found {found}."
        )));
    }
    let first_short = marks.iter().position(|(_, hour)| !hour).unwrap_or(marks.len());
    match marks[first_short..].iter().find(|(_, hour)| *hour) {
        Some((path, _)) => Err(ApiError::at(
            &below(path, "ttl"),
            "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are \
             processed in the following order: `tools`, `system`, `messages`.",
        )),
        None => Ok(()),
    }
}

fn visit_list(list: Option<&Value>, path: &str, marks: &mut Vec<(String, bool)>) -> Result<(), ApiError> {
    for (index, block) in list.and_then(Value::as_array).into_iter().flatten().enumerate() {
        let path = below(path, index);
        if block.get("type").and_then(Value::as_str) == Some("tool_result") {
            visit_list(block.get("content"), &below(&path, "content"), marks)?;
        }
        visit(block, &path, marks)?;
    }
    Ok(())
}

fn visit(block: &Value, path: &str, marks: &mut Vec<(String, bool)>) -> Result<(), ApiError> {
    let Some(mark) = block.get("cache_control").filter(|mark| !mark.is_null()) else { return Ok(()) };
    let path = below(path, "cache_control");
    let fields = object(mark, &path)?;
    only(fields, &path, &["type", "ttl"])?;
    one_of(required(fields, &path, "type")?, &below(&path, "type"), &["ephemeral"])?;
    let hour = match fields.get("ttl") {
        Some(ttl) => one_of(ttl, &below(&path, "ttl"), &["5m", "1h"])? == "1h",
        None => false,
    };
    marks.push((path, hour));
    Ok(())
}

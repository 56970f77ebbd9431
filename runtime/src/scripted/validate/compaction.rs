//! Summaries on demand: the field `compaction`, what may not stand beside it, and where a block of one may stand.

use serde_json::{Map, Value};

use super::shape::{below, object, one_of, only, optional, required, string};
use super::{Betas, Endpoint};
use crate::claude::ModelRow;
use crate::scripted::api_error::ApiError;
use crate::scripted::summarized::BETA;

/// The longest prompt of one's own, in characters.
const MAX_INSTRUCTIONS: usize = 16_384;

const BLOCK_FIELDS: [&str; 6] = ["type", "content", "signature", "encrypted_content", "tool_changes", "cache_control"];

/// Whether `request` asks for a summary.
pub(in crate::scripted) fn is_wanted(request: &Value) -> bool {
    request.get("compaction").is_some_and(|wish| !wish.is_null())
}

pub(super) fn check(
    fields: &Map<String, Value>,
    row: &ModelRow,
    endpoint: Endpoint,
    betas: Betas,
) -> Result<(), ApiError> {
    if let Some(wish) = optional(fields, "compaction") {
        if !betas.compaction {
            return Err(ApiError::at("compaction", format!("requires anthropic-beta: {BETA}")));
        }
        check_wish(wish)?;
        // The count is of the conversation as it is.
        if endpoint == Endpoint::Messages {
            check_beside(fields, row)?;
        }
    }
    check_blocks(fields, betas)
}

fn check_wish(wish: &Value) -> Result<(), ApiError> {
    let wish = object(wish, "compaction")?;
    only(wish, "compaction", &["type", "instructions"])?;
    one_of(required(wish, "compaction", "type")?, "compaction.type", &["summarize"])?;
    if let Some(instructions) = optional(wish, "instructions") {
        let path = "compaction.instructions";
        if string(instructions, path)?.chars().count() > MAX_INSTRUCTIONS {
            return Err(ApiError::at(path, format!("String should have at most {MAX_INSTRUCTIONS} characters")));
        }
    }
    Ok(())
}

fn check_beside(fields: &Map<String, Value>, row: &ModelRow) -> Result<(), ApiError> {
    if !row.compaction {
        return Err(ApiError::at("compaction", "'summarize' is not supported for this model"));
    }
    let messages = fields.get("messages").and_then(Value::as_array);
    if messages.is_some_and(Vec::is_empty) {
        let error = ApiError::at("messages", "there is no user or assistant content to summarize");
        return Err(error.coded("compaction_nothing_to_summarize"));
    }
    let refused = |what: &str| Err(ApiError::at(what, "cannot be combined with `compaction`"));
    if optional(fields, "stop_sequences").is_some() {
        return refused("stop_sequences");
    }
    let config = fields.get("output_config");
    if config.and_then(|config| config.get("format")).is_some_and(|format| !format.is_null()) {
        return refused("output_config.format");
    }
    let choice = fields.get("tool_choice").and_then(|choice| choice.get("type")).and_then(Value::as_str);
    if matches!(choice, Some("any" | "tool")) {
        return refused("tool_choice");
    }
    Ok(())
}

/// There is at most one block, it stands first, and it has the fields it was given out with.
fn check_blocks(fields: &Map<String, Value>, betas: Betas) -> Result<(), ApiError> {
    let mut found = 0;
    for (index, message) in fields.get("messages").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let blocks = message.get("content").and_then(Value::as_array);
        for (position, block) in blocks.into_iter().flatten().enumerate() {
            if block.get("type").and_then(Value::as_str) != Some("compaction") {
                continue;
            }
            let path = format!("messages.{index}.content.{position}");
            if !betas.compaction {
                let message = "Input tag 'compaction' found using 'type' does not match any of the expected tags";
                return Err(ApiError::at(&path, message));
            }
            found += 1;
            if found > 1 {
                return Err(ApiError::at(&path, "a request carries exactly one `compaction` block, the newest"));
            }
            if (index, position) != (0, 0) {
                let message = "`compaction` block must be sent first, in place of the messages it summarizes";
                return Err(ApiError::at(&path, message).coded("compaction_block_misplaced"));
            }
            check_block(object(block, &path)?, &path)?;
        }
    }
    Ok(())
}

fn check_block(block: &Map<String, Value>, path: &str) -> Result<(), ApiError> {
    only(block, &below(path, "compaction"), &BLOCK_FIELDS)?;
    if string(required(block, path, "content")?, &below(path, "content"))?.is_empty() {
        return Err(ApiError::at(&below(path, "content"), "String should have at least 1 character"));
    }
    string(required(block, path, "signature")?, &below(path, "signature")).map(drop)
}

//! Refuses what the API refuses, with its status and in its words.
//!
//! Each file holds the rules of one subject. The rules are those of the vendor's documentation and of the types of its
//! client packages; where the two leave room, the stricter reading is taken, so that a client which passes here passes
//! there. Of the features that are still in beta there, summaries on demand are known here; the fields of all others are
//! refused as unknown ones.

mod blocks;
mod breakpoints;
mod compaction;
mod images;
mod messages;
mod pairing;
mod sampling;
mod shape;
mod thinking;
mod tools;
mod top_level;

use serde_json::Value;

use super::api_error::ApiError;
use crate::claude::ModelRow;

/// The most messages of a request.
pub(super) const MAX_MESSAGES: usize = 100_000;

/// Which endpoint a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint {
    Messages,
    CountTokens,
}

/// The version of the API that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// `2023-06-01`.
    Of2023,
    /// `2026-10-21`, which took the sampling parameters away.
    Of2026,
}

impl Version {
    /// The version that the header `anthropic-version` names.
    pub(super) fn parse(header: &str) -> Option<Self> {
        match header {
            "2023-06-01" => Some(Self::Of2023),
            "2026-10-21" => Some(Self::Of2026),
            _ => None,
        }
    }
}

/// The betas that a request names, of those that are known here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Betas {
    /// Summaries on demand.
    pub(super) compaction: bool,
}

impl Betas {
    /// The betas of a header `anthropic-beta`.
    pub(super) fn parse(header: &str) -> Self {
        Self { compaction: header.split(',').any(|name| name.trim() == super::summarized::BETA) }
    }
}

/// The model that `request` names.
///
/// # Errors
/// When the request is no object or names no model.
pub(super) fn model_id(request: &Value) -> Result<&str, ApiError> {
    let fields = request.as_object().ok_or_else(|| ApiError::invalid("Input should be an object"))?;
    let model = shape::required(fields, "", "model")?;
    let model = shape::string(model, "model")?;
    if model.is_empty() {
        return Err(ApiError::at("model", "String should have at least 1 character"));
    }
    Ok(model)
}

/// Checks everything but the order of thinking (signatures) and whether the conversation may end with the assistant.
///
/// # Errors
/// The refusal of the first rule that is broken.
pub(super) fn check(
    request: &Value,
    row: &ModelRow,
    endpoint: Endpoint,
    (version, betas): (Version, Betas),
) -> Result<(), ApiError> {
    let fields = request.as_object().ok_or_else(|| ApiError::invalid("Input should be an object"))?;
    top_level::check(fields, row, endpoint)?;
    tools::check(fields, row)?;
    thinking::check(fields, row)?;
    sampling::check(fields, row, version)?;
    compaction::check(fields, row, endpoint, betas)?;
    messages::check(fields, row)?;
    pairing::check(fields)?;
    images::check(fields, row)?;
    breakpoints::check(request)
}

/// Checks the end of a conversation: whether its last message may be the assistant's. `paused` says that the last
/// answer stopped with `pause_turn`, so that sending it back means to go on.
///
/// # Errors
/// When it may not, or ends in white space.
pub(super) fn check_end(request: &Value, row: &ModelRow, paused: bool) -> Result<(), ApiError> {
    let last = request.get("messages").and_then(Value::as_array).and_then(|messages| messages.last());
    let Some(last) = last.filter(|last| last.get("role").and_then(Value::as_str) == Some("assistant")) else {
        return Ok(());
    };
    if paused {
        return Ok(());
    }
    if !row.prefill || thinking::is_on(request, row) {
        return Err(ApiError::invalid(
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        ));
    }
    let text = match last.get("content") {
        Some(Value::String(text)) => Some(text.as_str()),
        Some(Value::Array(blocks)) => blocks.last().and_then(|block| block.get("text")).and_then(Value::as_str),
        Some(_) | None => None,
    };
    if text.is_some_and(|text| text.ends_with(char::is_whitespace)) {
        return Err(ApiError::invalid("messages: final assistant content cannot end with trailing whitespace"));
    }
    Ok(())
}

pub(super) use compaction::is_wanted as is_compaction;
pub(super) use thinking::display;

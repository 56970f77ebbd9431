//! The fields of the request itself.

use serde_json::{Map, Value};

use super::Endpoint;
use super::blocks;
use super::shape::{array, below, boolean, integer, object, one_of, only, optional, required, string};
use crate::claude::{Effort, ModelRow};
use crate::scripted::api_error::ApiError;

/// Fields of both endpoints, then those of `/v1/messages` alone.
const SHARED_FIELDS: [&str; 11] = [
    "cache_control",
    "compaction",
    "messages",
    "model",
    "output_config",
    "speed",
    "system",
    "thinking",
    "tool_choice",
    "tools",
    "user_profile_id",
];
const MESSAGES_FIELDS: [&str; 11] = [
    "container",
    "diagnostics",
    "inference_geo",
    "max_tokens",
    "metadata",
    "service_tier",
    "stop_sequences",
    "stream",
    "temperature",
    "top_k",
    "top_p",
];

pub(super) fn check(fields: &Map<String, Value>, row: &ModelRow, endpoint: Endpoint) -> Result<(), ApiError> {
    match endpoint {
        Endpoint::Messages => {
            only(fields, "", &[&SHARED_FIELDS[..], &MESSAGES_FIELDS[..]].concat())?;
            check_max_tokens(fields, row)?;
        }
        Endpoint::CountTokens => only(fields, "", &SHARED_FIELDS)?,
    }
    check_system(fields)?;
    check_stop_sequences(fields)?;
    if let Some(stream) = fields.get("stream") {
        boolean(stream, "stream")?;
    }
    if let Some(metadata) = fields.get("metadata") {
        let metadata = object(metadata, "metadata")?;
        only(metadata, "metadata", &["user_id"])?;
        optional(metadata, "user_id").map(|id| string(id, "metadata.user_id")).transpose()?;
    }
    if let Some(tier) = fields.get("service_tier") {
        one_of(tier, "service_tier", &["auto", "standard_only"])?;
    }
    if let Some(speed) = optional(fields, "speed") {
        one_of(speed, "speed", &["standard", "fast"])?;
    }
    for name in ["inference_geo", "user_profile_id"] {
        optional(fields, name).map(|value| string(value, name)).transpose()?;
    }
    if let Some(config) = fields.get("output_config") {
        check_output_config(config, row)?;
    }
    Ok(())
}

fn check_max_tokens(fields: &Map<String, Value>, row: &ModelRow) -> Result<(), ApiError> {
    let max_tokens = integer(required(fields, "", "max_tokens")?, "max_tokens")?;
    // 0 is legal: it fills the cache and produces nothing.
    let max_tokens = u64::try_from(max_tokens)
        .map_err(|_| ApiError::at("max_tokens", "Input should be greater than or equal to 0"))?;
    if max_tokens > row.max_output_tokens {
        let (limit, id) = (row.max_output_tokens, &row.id);
        return Err(ApiError::at(
            "max_tokens",
            format!("{max_tokens} > {limit}, which is the maximum allowed number of output tokens for {id}"),
        ));
    }
    Ok(())
}

fn check_system(fields: &Map<String, Value>) -> Result<(), ApiError> {
    match fields.get("system") {
        None | Some(Value::String(_)) => Ok(()),
        Some(system) => {
            for (index, block) in array(system, "system")?.iter().enumerate() {
                blocks::check_text(object(block, &below("system", index))?, &below("system", index), "system")?;
            }
            Ok(())
        }
    }
}

fn check_stop_sequences(fields: &Map<String, Value>) -> Result<(), ApiError> {
    let Some(list) = fields.get("stop_sequences") else { return Ok(()) };
    for (index, sequence) in array(list, "stop_sequences")?.iter().enumerate() {
        if string(sequence, &below("stop_sequences", index))?.trim().is_empty() {
            return Err(ApiError::at("stop_sequences", "each stop sequence must contain non-whitespace"));
        }
    }
    Ok(())
}

fn check_output_config(config: &Value, row: &ModelRow) -> Result<(), ApiError> {
    let config = object(config, "output_config")?;
    only(config, "output_config", &["effort", "format"])?;
    if let Some(effort) = optional(config, "effort") {
        check_effort(effort, row)?;
    }
    if let Some(format) = optional(config, "format") {
        let format = object(format, "output_config.format")?;
        only(format, "output_config.format", &["type", "schema"])?;
        one_of(required(format, "output_config.format", "type")?, "output_config.format.type", &["json_schema"])?;
        object(required(format, "output_config.format", "schema")?, "output_config.format.schema")?;
    }
    Ok(())
}

fn check_effort(effort: &Value, row: &ModelRow) -> Result<(), ApiError> {
    let effort = one_of(effort, "output_config.effort", &Effort::ALL.map(Effort::as_str))?;
    let levels: Vec<&str> = row.effort.iter().map(|level| level.as_str()).collect();
    if levels.is_empty() {
        return Err(ApiError::invalid("This model does not support the effort parameter."));
    }
    if levels.contains(&effort) {
        return Ok(());
    }
    let levels = levels.join(", ");
    Err(ApiError::invalid(format!("This model does not support effort level '{effort}'. Supported levels: {levels}.")))
}

//! `temperature`, `top_p` and `top_k`: their ranges, and when they may be given at all.

use serde_json::{Map, Value};

use super::{Version, thinking};
use crate::claude::{ModelRow, ThinkingType};
use crate::scripted::api_error::ApiError;

/// The smallest `top_p` that goes with thinking.
const MIN_THINKING_TOP_P: f64 = 0.95;

pub(super) fn check(fields: &Map<String, Value>, row: &ModelRow, version: Version) -> Result<(), ApiError> {
    if version == Version::Of2026
        && let Some(name) = ["temperature", "top_p", "top_k"].iter().find(|name| fields.contains_key(**name))
    {
        return Err(ApiError::at(name, "Extra inputs are not permitted"));
    }
    let temperature = share(fields, "temperature")?;
    let top_p = share(fields, "top_p")?;
    let top_k = fields.get("top_k");
    if let Some(top_k) = top_k
        && top_k.as_u64().is_none()
    {
        return Err(ApiError::at("top_k", "Input should be a valid integer greater than or equal to 0"));
    }
    if !row.sampling {
        let given = [("temperature", temperature.is_some()), ("top_p", top_p.is_some()), ("top_k", top_k.is_some())];
        return match given.iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(ApiError::invalid(format!("`{name}` is not supported for this model."))),
            None => Ok(()),
        };
    }
    let thinks = [ThinkingType::Enabled, ThinkingType::Adaptive]
        .iter()
        .any(|kind| thinking::chosen(fields) == Some(kind.as_str()));
    if !thinks {
        return Ok(());
    }
    if temperature.is_some_and(|temperature| temperature < 1.0) {
        return Err(ApiError::invalid("`temperature` may only be set to 1 when thinking is enabled."));
    }
    if top_p.is_some_and(|top_p| top_p < MIN_THINKING_TOP_P) {
        return Err(ApiError::invalid(
            "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.",
        ));
    }
    if top_k.is_some() {
        return Err(ApiError::invalid("`top_k` must be unset when thinking is enabled."));
    }
    Ok(())
}

/// A number between 0 and 1.
fn share(fields: &Map<String, Value>, name: &str) -> Result<Option<f64>, ApiError> {
    let Some(value) = fields.get(name) else { return Ok(None) };
    match value.as_f64() {
        None => Err(ApiError::at(name, "Input should be a valid number")),
        Some(number) if !(0.0..=1.0).contains(&number) => Err(ApiError::at(name, "range: 0..1")),
        Some(number) => Ok(Some(number)),
    }
}

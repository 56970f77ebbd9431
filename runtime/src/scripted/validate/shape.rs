//! The small checks that all rules are made of, with the API's wording.

use serde_json::{Map, Value};

use crate::scripted::api_error::ApiError;

/// `path` with `name` below it.
pub(super) fn below(path: &str, name: impl std::fmt::Display) -> String {
    if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
}

pub(super) fn object<'a>(value: &'a Value, path: &str) -> Result<&'a Map<String, Value>, ApiError> {
    value.as_object().ok_or_else(|| ApiError::at(path, "Input should be an object"))
}

pub(super) fn array<'a>(value: &'a Value, path: &str) -> Result<&'a Vec<Value>, ApiError> {
    value.as_array().ok_or_else(|| ApiError::at(path, "Input should be a valid list"))
}

pub(super) fn string<'a>(value: &'a Value, path: &str) -> Result<&'a str, ApiError> {
    value.as_str().ok_or_else(|| ApiError::at(path, "Input should be a valid string"))
}

pub(super) fn boolean(value: &Value, path: &str) -> Result<bool, ApiError> {
    value.as_bool().ok_or_else(|| ApiError::at(path, "Input should be a valid boolean"))
}

pub(super) fn integer(value: &Value, path: &str) -> Result<i64, ApiError> {
    value.as_i64().ok_or_else(|| ApiError::at(path, "Input should be a valid integer"))
}

pub(super) fn required<'a>(fields: &'a Map<String, Value>, path: &str, name: &str) -> Result<&'a Value, ApiError> {
    fields.get(name).ok_or_else(|| ApiError::at(&below(path, name), "Field required"))
}

/// The value of an optional field, `null` counting as missing.
pub(super) fn optional<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    fields.get(name).filter(|value| !value.is_null())
}

/// Refuses every field but those `allowed`.
pub(super) fn only(fields: &Map<String, Value>, path: &str, allowed: &[&str]) -> Result<(), ApiError> {
    match fields.keys().find(|name| !allowed.contains(&name.as_str())) {
        Some(name) => Err(ApiError::at(&below(path, name), "Extra inputs are not permitted")),
        None => Ok(()),
    }
}

/// Refuses every string but those `allowed`.
pub(super) fn one_of<'a>(value: &'a Value, path: &str, allowed: &[&str]) -> Result<&'a str, ApiError> {
    let text = value.as_str().filter(|text| allowed.contains(text));
    text.ok_or_else(|| ApiError::at(path, format!("Input should be '{}'", allowed.join("' or '"))))
}

/// Letters, digits, `_` and `-`, between 1 and `max` of them.
pub(super) fn is_name(text: &str, max: usize) -> bool {
    (1..=max).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

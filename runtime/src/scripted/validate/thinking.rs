//! The `thinking` field: what a model takes, and what comes of it.

use serde_json::{Map, Value};

use super::shape::{below, integer, object, one_of, only, optional, required};
use crate::claude::{Effort, ModelRow, ThinkingType};
use crate::scripted::api_error::ApiError;
use crate::scripted::plan::ThinkingDisplay;

/// The smallest budget, in tokens.
const MIN_BUDGET_TOKENS: i64 = 1_024;

pub(super) fn check(fields: &Map<String, Value>, row: &ModelRow) -> Result<(), ApiError> {
    let Some(thinking) = fields.get("thinking") else { return Ok(()) };
    let thinking = object(thinking, "thinking")?;
    let kinds = [ThinkingType::Adaptive, ThinkingType::BetweenTools, ThinkingType::Disabled, ThinkingType::Enabled];
    let kind = one_of(required(thinking, "thinking", "type")?, "thinking.type", &kinds.map(ThinkingType::as_str))?;
    let Some(kind) = kinds.into_iter().find(|known| known.as_str() == kind) else { return Ok(()) };
    if !row.thinking.accepts.contains(&kind) {
        return Err(ApiError::invalid(unsupported(kind, row)));
    }
    let allowed: &[&str] = match kind {
        ThinkingType::Adaptive => &["type", "display"],
        ThinkingType::Enabled => &["type", "budget_tokens", "display"],
        ThinkingType::Disabled | ThinkingType::BetweenTools => &["type"],
    };
    only(thinking, "thinking", allowed)?;
    if let Some(display) = optional(thinking, "display") {
        one_of(display, "thinking.display", &["summarized", "omitted"])?;
    }
    match kind {
        ThinkingType::Enabled => check_budget(thinking, fields),
        ThinkingType::Disabled | ThinkingType::BetweenTools => check_effort(fields),
        ThinkingType::Adaptive => Ok(()),
    }
}

fn unsupported(kind: ThinkingType, row: &ModelRow) -> String {
    let instead = match row.thinking.accepts.first() {
        Some(ThinkingType::Adaptive) => {
            "Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior.".to_owned()
        }
        Some(other) => format!("Use \"thinking.type.{}\".", other.as_str()),
        None => "Leave the field out.".to_owned(),
    };
    format!("\"thinking.type.{}\" is not supported for this model. {instead}", kind.as_str())
}

fn check_budget(thinking: &Map<String, Value>, fields: &Map<String, Value>) -> Result<(), ApiError> {
    let path = below("thinking", "budget_tokens");
    let budget = integer(required(thinking, "thinking", "budget_tokens")?, &path)?;
    if budget < MIN_BUDGET_TOKENS {
        return Err(ApiError::at(&path, "Input should be greater than or equal to 1024"));
    }
    match fields.get("max_tokens").and_then(Value::as_i64) {
        Some(max_tokens) if budget >= max_tokens => {
            Err(ApiError::invalid("`max_tokens` must be greater than `thinking.budget_tokens`."))
        }
        Some(_) | None => Ok(()),
    }
}

/// The highest efforts exist with thinking only.
fn check_effort(fields: &Map<String, Value>) -> Result<(), ApiError> {
    let effort = fields.get("output_config").and_then(|config| config.get("effort")).and_then(Value::as_str);
    match effort.and_then(Effort::named).filter(|effort| effort.needs_thinking()) {
        Some(effort) => {
            Err(ApiError::invalid(format!("thinking cannot be turned off at effort \"{}\"", effort.as_str())))
        }
        None => Ok(()),
    }
}

/// The `thinking.type` of the request, if it has one.
pub(super) fn chosen(fields: &Map<String, Value>) -> Option<&str> {
    fields.get("thinking")?.get("type")?.as_str()
}

/// Whether the model thinks before it answers this request.
pub(super) fn is_on(request: &Value, row: &ModelRow) -> bool {
    match request.as_object().and_then(chosen) {
        Some(kind) => kind == ThinkingType::Adaptive.as_str() || kind == ThinkingType::Enabled.as_str(),
        None => row.thinking.by_default,
    }
}

/// How thinking comes back. Models that still take a budget show it unless told otherwise; newer ones leave the text
/// out.
pub(in crate::scripted) fn display(request: &Value, row: &ModelRow) -> ThinkingDisplay {
    let between = request.as_object().and_then(chosen) == Some(ThinkingType::BetweenTools.as_str());
    if !is_on(request, row) && !between {
        return ThinkingDisplay::Off;
    }
    let wanted = request.get("thinking").and_then(|thinking| thinking.get("display")).and_then(Value::as_str);
    let shown = match wanted {
        Some(display) => display == "summarized",
        None => row.thinking.accepts.contains(&ThinkingType::Enabled),
    };
    if shown { ThinkingDisplay::Shown } else { ThinkingDisplay::Omitted }
}

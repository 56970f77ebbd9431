//! Settings as a model takes them. The API answers 400 to a setting that a model does not have; so what the model's row
//! does not allow is left out or replaced, and said.

use crate::claude::{Effort, ModelRow, ThinkingType};
use retrace_events::payload::settings::Settings;
use serde_json::Value;

/// What of the settings goes into an epoch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fitted {
    /// The most tokens an answer may have.
    pub(super) max_tokens: u32,
    /// The request's `thinking`, as raw JSON.
    pub(super) thinking: Option<String>,
    /// The request's `output_config`, as raw JSON.
    pub(super) output_config: Option<String>,
    /// What is not as it was asked for, a line each.
    pub(super) notices: Vec<String>,
}

impl Fitted {
    /// The settings for the model of `row`.
    pub(super) fn new(settings: &Settings, row: &ModelRow) -> Self {
        let mut notices = Vec::new();
        let max_tokens = max_tokens(settings, row, &mut notices);
        let thinking = thinking(settings, row, max_tokens, &mut notices);
        let effort = effort(settings, row, thinking.as_deref(), &mut notices);
        let output_config = effort.map(|effort| format!(r#"{{"effort":"{}"}}"#, effort.as_str()));
        Self { max_tokens, thinking, output_config, notices }
    }
}

/// Of a model that no row fits nothing is known: what was asked for is sent as it is.
fn is_known(row: &ModelRow) -> bool {
    !row.thinking.accepts.is_empty()
}

fn max_tokens(settings: &Settings, row: &ModelRow, notices: &mut Vec<String>) -> u32 {
    let most = u32::try_from(row.max_output_tokens).unwrap_or(u32::MAX);
    if !is_known(row) || settings.max_tokens <= most {
        return settings.max_tokens;
    }
    notices.push(format!(
        "{} answers with at most {most} tokens; max_tokens is {most} instead of {}",
        row.id, settings.max_tokens
    ));
    most
}

fn thinking(settings: &Settings, row: &ModelRow, max_tokens: u32, notices: &mut Vec<String>) -> Option<String> {
    let asked = settings.thinking.as_ref()?;
    let kind = kind_of(asked);
    let accepted = kind.as_deref().is_some_and(|kind| row.thinking.accepts.iter().any(|known| known.as_str() == kind));
    if accepted || !is_known(row) {
        return Some(asked.clone());
    }
    let kind = kind.unwrap_or_else(|| "such".to_owned());
    // Whoever wants no thinking is not given more of it than the model does by itself.
    let own = if kind == ThinkingType::Disabled.as_str() { None } else { row.thinking_field(u64::from(max_tokens)) };
    let instead = own.as_ref().map_or("its own way is used", |_| "the kind it has is used");
    notices.push(format!("{} does not take {kind} thinking; {instead}", row.id));
    own.map(|field| field.to_string())
}

fn effort(settings: &Settings, row: &ModelRow, thinking: Option<&str>, notices: &mut Vec<String>) -> Option<Effort> {
    let asked = settings.effort.as_deref()?;
    let effort = Effort::named(asked).filter(|effort| row.effort.contains(effort));
    let Some(effort) = effort else {
        let levels: Vec<&str> = row.effort.iter().map(|effort| effort.as_str()).collect();
        let hint = if levels.is_empty() {
            "it has no such setting".to_owned()
        } else {
            format!("it takes {}", levels.join(", "))
        };
        notices.push(format!("{} does not take effort `{asked}`, so none is asked for. hint: {hint}", row.id));
        return None;
    };
    if effort.needs_thinking() && !thinks(thinking) {
        notices.push(format!(
            "effort `{asked}` needs thinking, which is off, so none is asked for. hint: turn thinking on, or take effort high"
        ));
        return None;
    }
    Some(effort)
}

/// What the API takes for "off" is an explicit word; a request that says nothing is not refused.
fn thinks(thinking: Option<&str>) -> bool {
    let off = [ThinkingType::Disabled, ThinkingType::BetweenTools];
    thinking.and_then(kind_of).is_none_or(|kind| off.iter().all(|off| off.as_str() != kind))
}

/// The `type` of a `thinking` field.
fn kind_of(json: &str) -> Option<String> {
    let field: Value = serde_json::from_str(json).ok()?;
    field.get("type")?.as_str().map(str::to_owned)
}

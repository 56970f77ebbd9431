//! What the model is told when a rule forbids a call.

use super::Asked;
use super::rule::Pattern;
use super::rule_set::GivenRule;

/// The longest part of a call that is repeated, in characters.
const SHOWN_CHARS: usize = 200;

/// What was denied, by which rule, and what to do now.
pub(super) fn content(asked: &Asked<'_>, given: &GivenRule) -> String {
    let part = match &given.rule.pattern {
        Pattern::Command(_) | Pattern::Exact(_) => {
            " The rule is about any command in it, also one within a substitution or behind a wrapper."
        }
        Pattern::Any | Pattern::Path(_) => "",
    };
    format!(
        "denied: {} was not run, because a permission rule forbids it: {given}.{part}\nDo not try to reach the same by a \
         detour. Find a way that does without it, or say what you need and why, so that the user can decide.",
        what(asked)
    )
}

fn what(asked: &Asked<'_>) -> String {
    let value: Option<serde_json::Value> = serde_json::from_str(asked.input).ok();
    let text = value.as_ref().and_then(|input| input["command"].as_str().or_else(|| input["path"].as_str()));
    let tool: String = asked.tool.chars().filter(|c| !c.is_control()).take(SHOWN_CHARS).collect();
    match text {
        Some(text) => {
            let shown: String = text.chars().take(SHOWN_CHARS).collect();
            let more = if shown.len() < text.len() { "…" } else { "" };
            format!("{tool} `{shown}{more}`")
        }
        None => tool,
    }
}

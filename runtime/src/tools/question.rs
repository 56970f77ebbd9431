//! A question to a person as it stands in a call's input, and what an answer to it means.

use serde_json::Value;

/// The most answers to choose from.
pub(super) const MAX_OPTIONS: usize = 6;

/// What an `ask_user` call asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The question, as the model wrote it: not cleaned for a terminal.
    pub text: String,
    /// Answers to choose from; may be empty. The person may always answer something else.
    pub options: Vec<String>,
}

impl Question {
    /// The question in an input that may be anything.
    #[must_use]
    pub fn of(input: &Value) -> Self {
        let options = input["options"].as_array().into_iter().flatten().filter_map(Value::as_str);
        Self {
            text: input["question"].as_str().unwrap_or_default().to_owned(),
            options: options.take(MAX_OPTIONS).map(str::to_owned).collect(),
        }
    }
}

/// What the model is told when a person answers the `ask_user` call that had `input`: the number of an option stands
/// for its text, everything else for itself.
#[must_use]
pub fn answer_content(input: &Value, answer: &str) -> String {
    let answer = answer.trim();
    let chosen = answer.trim_end_matches(['.', ')']).parse::<usize>().ok();
    let option = chosen.and_then(|number| Question::of(input).options.into_iter().nth(number.checked_sub(1)?));
    match option {
        Some(option) => option,
        None if answer.is_empty() => "(the user gave an empty answer: decide yourself)".to_owned(),
        None => answer.to_owned(),
    }
}

//! `ask_user`: a question to the person. The agent itself waits for the answer; here is only the question's form, and what
//! happens when there is nobody.

use super::output::{one_line, plural};
use super::question::MAX_OPTIONS;
use super::typed::TypedTool;
use super::{ToolContext, ToolFailure, ToolResult};
use retrace_events::payload::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// The longest question, and the longest answer to choose from, in characters.
const MAX_CHARS: usize = 4_000;

/// The tool.
pub(super) struct AskUser;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The question, complete in itself: the user may not have followed what you did.
    question: String,
    /// Up to 6 answers to choose from, the one you would take first. The user can always answer something else.
    options: Option<Vec<String>>,
}

impl TypedTool for AskUser {
    type Input = Input;

    const NAME: &'static str = "ask_user";
    const DESCRIPTION: &'static str = "\
        Asks the user and waits for the answer. For decisions that are the user's to take and that the task, the code \
        and the instructions leave open; not for permission to use a tool, and not for what you can find out. Comes \
        back with the answer, or says that nobody can be asked now.";
    const EFFECT: ToolEffect = ToolEffect::ReadOnly;
    const WAITS_FOR_USER: bool = true;

    fn summary(input: &Value) -> String {
        one_line(input["question"].as_str().unwrap_or("?"), 200)
    }

    fn check(input: &Input) -> Result<(), String> {
        let options = input.options.as_deref().unwrap_or_default();
        if input.question.trim().is_empty() {
            return Err("the question is empty".to_owned());
        }
        if options.len() > MAX_OPTIONS {
            return Err(format!("{}, at most {MAX_OPTIONS}", plural(options.len() as u64, "option")));
        }
        if options.iter().any(|option| option.trim().is_empty()) {
            return Err("an option is empty".to_owned());
        }
        if options.iter().chain([&input.question]).any(|text| text.chars().count() > MAX_CHARS) {
            return Err(format!("the question or an option has more than {MAX_CHARS} characters"));
        }
        Ok(())
    }

    async fn run(_context: &ToolContext, _input: Input) -> Result<ToolResult, ToolFailure> {
        Ok(ToolResult::error("nobody can be asked now: decide yourself, go on, and say at the end what you assumed"))
    }
}

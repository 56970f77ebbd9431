//! `kill`: ends a command that runs in the background, with all that it started.
//!
//! It counts as a call that only looks: it ends nothing but what this session itself began, and twice is as good as once.

use super::background::BackgroundCommand;
use super::output::one_line;
use super::typed::TypedTool;
use super::{ToolContext, ToolFailure, ToolResult};
use retrace_events::CallId;
use retrace_events::payload::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// The tool.
pub(super) struct Kill;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The call that started the command, as its result names it.
    call_id: String,
}

impl TypedTool for Kill {
    type Input = Input;

    const NAME: &'static str = "kill";
    const DESCRIPTION: &'static str = "\
        Ends a command that bash started in the background, with all that it started: it is asked to end, and killed \
        two seconds later. Comes back when nothing of it is left, with how it ended; read_output still shows its output.";
    const EFFECT: ToolEffect = ToolEffect::ReadOnly;

    fn summary(input: &Value) -> String {
        one_line(input["call_id"].as_str().unwrap_or("?"), 60)
    }

    async fn run(context: &ToolContext, input: Input) -> Result<ToolResult, ToolFailure> {
        let Some(job) = context.background.find(&CallId(input.call_id.clone())) else {
            let call = one_line(&input.call_id, 80);
            let running = listed(&context.background.list());
            return Ok(ToolResult::error(format!("no command {call} in the background; running: {running}")));
        };
        if let Some(over) = job.over() {
            return Ok(ToolResult::text(format!("it is over already: {}", over.why)));
        }
        job.stop("ended by kill");
        tokio::select! {
            biased;
            over = job.ended() => Ok(ToolResult::text(over.why)),
            () = context.cancel.cancelled() => Err(ToolFailure::Cancelled),
        }
    }
}

/// `toolu_1 (cargo watch), toolu_2 (npm start)`, or `none`.
pub(super) fn listed(running: &[BackgroundCommand]) -> String {
    let named =
        |command: &BackgroundCommand| format!("{} ({})", one_line(&command.call.0, 80), one_line(&command.command, 40));
    let names: Vec<String> = running.iter().map(named).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

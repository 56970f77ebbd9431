//! `bash` with `background`: the command is started and the call comes back, unless it is over at once.

use super::background::{BackgroundCommand, StartError};
use super::background_job::{Job, Outcome, Over};
use super::capture::Captured;
use super::guest::GuestError;
use super::output::{cap, one_line, plural};
use super::{ToolContext, ToolFailure, ToolResult, bash};
use retrace_sandbox::ExecRequest;
use std::time::Duration;

/// How long is waited for a command that fails at once.
const GRACE: Duration = Duration::from_millis(300);
/// How much of the first output is shown, in bytes.
const FIRST_OUTPUT_BYTES: usize = 2_000;

/// Starts the command; its end, when it comes later, is told by the registry.
pub(super) async fn run(
    context: &ToolContext,
    command: &str,
    timeout_ms: Option<u64>,
    request: ExecRequest,
) -> Result<ToolResult, GuestError> {
    if context.cancel.is_cancelled() {
        return Err(GuestError::Failed(ToolFailure::Cancelled));
    }
    let request = ExecRequest { endless: true, ..request };
    let started = match context.background.start(context, command, timeout_ms, request).await {
        Ok(started) => started,
        Err(StartError::TooMany(running)) => return Ok(ToolResult::error(too_many(&running))),
        Err(StartError::Sandbox(error)) => return Err(error.into()),
    };
    let early = tokio::select! {
        biased;
        () = context.cancel.cancelled() => {
            // Nobody was told that it runs, so it must not.
            started.give_up().await;
            return Err(GuestError::Failed(ToolFailure::Cancelled));
        }
        early = started.early_end(GRACE) => early,
    };
    let over = match early {
        Some(over) => over,
        None => match started.job.tell() {
            None => return Ok(goes_on(context, &started.job)),
            Some(over) => over,
        },
    };
    ended(context, &started.job, over).await
}

fn goes_on(context: &ToolContext, job: &Job) -> ToolResult {
    let call = one_line(&context.call.0, 80);
    let mut content = format!(
        "started in the background; read_output with call_id {call} shows its output, kill ends it; it ends with the \
         session at the latest"
    );
    let (text, _) = job.look();
    let (shown, _) =
        cap(&text, FIRST_OUTPUT_BYTES, |omitted| format!("[{} left out here]", plural(omitted.lines as u64, "line")));
    if !shown.is_empty() {
        content.push_str("\noutput so far:\n");
        content.push_str(shown.trim_end_matches('\n'));
    }
    ToolResult { background: Some(job.command.clone()), ..ToolResult::text(content) }
}

async fn ended(context: &ToolContext, job: &Job, over: Over) -> Result<ToolResult, GuestError> {
    match over.outcome {
        Outcome::Ended(mut ending) => {
            ending.line.push_str("\n[it is over already: nothing runs in the background]");
            let captured = Captured { text: job.look().0, lossy: over.lossy, lost_bytes: 0 };
            bash::report(context, ending, captured).await.map_err(GuestError::Failed)
        }
        Outcome::Refused(failure) => Err(GuestError::Refused(failure)),
        Outcome::Gone(why) => Err(GuestError::Failed(ToolFailure::SandboxGone(why))),
    }
}

fn too_many(running: &[BackgroundCommand]) -> String {
    format!(
        "as many commands as may run in the background already: {}; end one of them with kill first",
        super::kill::listed(running)
    )
}

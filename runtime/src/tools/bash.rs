//! `bash`: a command in the sandbox, its output as it comes, and how it ended.
//!
//! Memory is bounded by what [`super::capture`] keeps (64 MiB of text, in memory; the blob store takes one piece).
//! What the model is not shown at once goes to the blob store whole, after secrets were taken out.

use super::capture::{Capture, Captured, MAX_KEPT_BYTES, Source};
use super::ending::Ending;
use super::guest::GuestError;
use super::output::{INLINE_BYTES, Omitted, cap, one_line, plural, thousands};
use super::typed::TypedTool;
use super::{ToolContext, ToolFailure, ToolResult, bash_background, missing};
use retrace_events::payload::tool::ToolEffect;
use retrace_events::redact::Redactor;
use retrace_sandbox::{Chunk, ExecRequest};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

/// The longest command, in bytes: the system takes no argument beyond 128 KiB.
const MAX_COMMAND_BYTES: usize = 100_000;

/// The tool.
pub(super) struct Bash;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The command, as you would type it; may have several lines.
    command: String,
    /// After so many milliseconds the command and all it started are ended. Left out: the session's own limit.
    #[schemars(range(min = 1))]
    timeout_ms: Option<u64>,
    /// The folder to run it in, relative to the workspace. Left out: the workspace.
    cwd: Option<String>,
    /// Let it run on: the call comes back at once, read_output shows its output, kill ends it. For servers and watchers.
    background: Option<bool>,
    /// Run it even where the user's settings say that its result depends on the files alone and the same command has run on the
    /// same files: that result is repeated otherwise, and says so.
    #[expect(dead_code, reason = "whoever carries out calls looks at it before")]
    fresh: Option<bool>,
}

impl TypedTool for Bash {
    type Input = Input;

    const NAME: &'static str = "bash";
    const DESCRIPTION: &'static str = "\
        Runs a command with `bash -c` in the workspace, in a sandbox: no network, only the workspace and /tmp can be \
        written. Comes back with `exit code: N` (or the signal, or that it took too long) and then standard output and \
        standard error as they came; past 16,000 bytes head and tail, and the whole of it can be read with read_output. \
        Each call is a new shell: directory, variables and processes left with `&` do not live on. For a server or \
        watcher set background: it runs on, up to 8 at once, while you go on working. Standard input is empty, so \
        nothing can ask questions. Prefer read_file, edit_file, list_dir and search_files to cat, sed, ls and grep.";
    const EFFECT: ToolEffect = ToolEffect::Writes;

    fn summary(input: &Value) -> String {
        one_line(input["command"].as_str().unwrap_or("?"), 120)
    }

    fn check(input: &Input) -> Result<(), String> {
        if input.command.trim().is_empty() {
            return Err("the command is empty".to_owned());
        }
        if input.command.len() > MAX_COMMAND_BYTES {
            let size = plural(input.command.len() as u64, "byte");
            let limit = thousands(MAX_COMMAND_BYTES as u64);
            return Err(format!(
                "the command is too long ({size}, at most {limit}); write a script with write_file and run that"
            ));
        }
        Ok(())
    }

    async fn preview(_context: &ToolContext, input: Input) -> Option<String> {
        let mut remarks = Vec::new();
        remarks.extend(input.cwd.as_deref().filter(|cwd| !cwd.is_empty()).map(|cwd| format!("in the folder {cwd}")));
        if input.background == Some(true) {
            remarks.push("in the background".to_owned());
        }
        remarks.extend(input.timeout_ms.map(|time| format!("for at most {} ms", thousands(time))));
        let remarks = if remarks.is_empty() { String::new() } else { format!("[{}]\n", remarks.join("; ")) };
        Some(format!("{remarks}{}", input.command))
    }

    async fn run(context: &ToolContext, input: Input) -> Result<ToolResult, ToolFailure> {
        let outcome = match input.background {
            Some(true) => {
                bash_background::run(context, &input.command, input.timeout_ms, request(context, &input)).await
            }
            Some(false) | None => execute(context, &input).await,
        };
        match outcome {
            Ok(result) => Ok(result),
            Err(error @ GuestError::Refused(_)) => {
                match missing::explain(context, input.cwd.as_deref().unwrap_or_default(), error).await {
                    Ok(result) => Ok(result),
                    Err(error) => error.settled(),
                }
            }
            Err(error) => error.settled(),
        }
    }
}

/// Runs the command to its end and gathers its output.
async fn execute(context: &ToolContext, input: &Input) -> Result<ToolResult, GuestError> {
    let timeout_ms = input.timeout_ms.unwrap_or(context.command_timeout_ms).max(1);
    let request = ExecRequest { timeout_ms: Some(timeout_ms), ..request(context, input) };
    if context.cancel.is_cancelled() {
        return Err(GuestError::Failed(ToolFailure::Cancelled));
    }
    let mut running = context.sandbox.exec(request).await?;
    let mut capture = Capture::new(MAX_KEPT_BYTES);
    loop {
        let chunk = tokio::select! {
            biased;
            // First, since a command that never stops writing must not keep it waiting.
            () = context.cancel.cancelled() => {
                running.kill();
                // The call is over only when nothing of the command is left; how it ended matters to nobody.
                let _ = running.wait().await;
                return Err(GuestError::Failed(ToolFailure::Cancelled));
            }
            chunk = running.next() => chunk,
        };
        let lines = match chunk {
            Some(Chunk::Stdout(bytes)) => capture.push(Source::Stdout, &bytes),
            Some(Chunk::Stderr(bytes)) => capture.push(Source::Stderr, &bytes),
            None => break,
        };
        show(context, lines);
    }
    let result = running.wait().await?;
    let (lines, captured) = capture.finish();
    show(context, lines);
    let ending = Ending::of(&result, timeout_ms, context.sandbox.limits());
    let text = redacted(Arc::clone(&context.redactor), captured.text).await;
    let mut result = report(context, ending, Captured { text, ..captured }).await.map_err(GuestError::Failed)?;
    if let Some(note) = of_masked(&input.command, &context.masked) {
        result.content.push_str(&note);
    }
    Ok(result)
}

/// What is to be said of a command that names files of which the sandbox shows nothing: they look empty to it.
fn of_masked(command: &str, masked: &[String]) -> Option<String> {
    let mut names: Vec<&str> = command.split(|c: char| c.is_whitespace() || "/'\"=;&|()<>{}`".contains(c)).collect();
    names.retain(|name| masked.iter().any(|masked| masked == name));
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then(|| format!("\n[masked here, and read as empty: {}]", names.join(", ")))
}

/// The command as the sandbox is asked to run it.
fn request(context: &ToolContext, input: &Input) -> ExecRequest {
    ExecRequest {
        cwd: input.cwd.as_deref().filter(|cwd| !cwd.is_empty()).map(PathBuf::from),
        env: vec![("RETRACE_CALL_ID".to_owned(), context.call.0.clone())],
        timeout_ms: input.timeout_ms.map(|time| time.max(1)),
        ..ExecRequest::shell(input.command.as_str())
    }
}

fn show(context: &ToolContext, lines: Option<String>) {
    if let Some(lines) = lines {
        (context.progress)(&context.redactor.redact(&lines));
    }
}

/// What the model is told of a command that is over; its output is redacted already.
pub(super) async fn report(
    context: &ToolContext,
    ending: Ending,
    captured: Captured,
) -> Result<ToolResult, ToolFailure> {
    let Captured { text, lossy, lost_bytes } = captured;
    let (shown, omitted) = cap(&text, INLINE_BYTES, |omitted| left_out(context, omitted));
    let output = match omitted {
        Some(_) => Some(context.log.blobs().put(text.as_bytes()).await?),
        None => None,
    };
    let is_error = ending.is_failure();
    let mut content = format!("{}\n", ending.line);
    if lost_bytes > 0 {
        content.push_str(&format!("[another {} of output were not kept]\n", plural(lost_bytes, "byte")));
    }
    if lossy {
        content.push_str("[some bytes of the output are no UTF-8 text and shown as \u{FFFD}]\n");
    }
    content.push_str(if shown.is_empty() { "[no output]" } else { shown.trim_end_matches('\n') });
    Ok(ToolResult {
        content,
        is_error,
        exit: Some(ending.exit),
        output,
        limit_hit: ending.limit_hit,
        ..ToolResult::default()
    })
}

/// `text` without secrets. Large outputs are searched on a thread of their own; nothing is copied when there are none.
async fn redacted(redactor: Arc<Redactor>, text: String) -> String {
    let work = move || match redactor.redact(&text) {
        Cow::Borrowed(same) if same.len() == text.len() => text,
        cleaned => cleaned.into_owned(),
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| "[redacted:unchecked]".to_owned())
}

fn left_out(context: &ToolContext, omitted: Omitted) -> String {
    format!(
        "[{} ({}) left out here; to see them: read_output with call_id {} and offset_lines {}]",
        plural(omitted.lines as u64, "line"),
        plural(omitted.bytes as u64, "byte"),
        one_line(&context.call.0, 80),
        omitted.first_line,
    )
}

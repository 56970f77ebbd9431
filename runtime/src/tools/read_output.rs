//! `read_output`: lines of the whole output of an earlier call, of which the model saw a part, and of a command that
//! runs in the background.
//!
//! The output of a call that is over comes from the blob store in blocks, that of a running one from memory; only the
//! lines asked for are kept.

use super::background_job::Job;
use super::output::{one_line, plural};
use super::selection::{NoLine, Selection, Wanted, pattern};
use super::typed::TypedTool;
use super::{ToolContext, ToolFailure, ToolResult};
use retrace_events::payload::tool::ToolEffect;
use retrace_events::{BlobRef, CallId, LogError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// Lines that are shown when the input names no number.
const DEFAULT_LINES: u64 = 500;
/// How much is read at a time, in bytes.
const BLOCK_BYTES: u64 = 1024 * 1024;
/// The longest wait for news of a running command, in milliseconds.
const MAX_WAIT_MS: u64 = 60_000;

/// The tool.
pub(super) struct ReadOutput;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The call whose output is meant, as its result names it.
    call_id: String,
    /// The first line to look at, counted from 1. Left out: the beginning.
    #[schemars(range(min = 1))]
    offset_lines: Option<u64>,
    /// How many lines to show at most. Left out: 500.
    #[schemars(range(min = 1))]
    limit_lines: Option<u64>,
    /// Show this many of the last lines (with grep: of the last matching lines). Not together with offset_lines or
    /// limit_lines.
    #[schemars(range(min = 1))]
    from_end: Option<u64>,
    /// Only lines that match this regular expression (Rust syntax).
    grep: Option<String>,
    /// Of a running background command: wait so many milliseconds at most (up to 60,000) until it has written
    /// something new (with offset_lines: that line) or is over.
    wait_ms: Option<u64>,
}

impl TypedTool for ReadOutput {
    type Input = Input;

    const NAME: &'static str = "read_output";
    const DESCRIPTION: &'static str = "\
        Shows lines of the output of an earlier call: of a command in the background, so far or after its end, or of a \
        call whose result said that something was left out. Give offset_lines and limit_lines for a range, from_end \
        for the last lines, or grep to see only lines that match a regular expression. Comes back with each line as \
        `number<tab>text` and a last line in brackets with the totals, and whether the command still runs. Shows up to \
        16,000 bytes at once, 500 lines unless told otherwise. Nothing is run again.";
    const EFFECT: ToolEffect = ToolEffect::ReadOnly;

    fn summary(input: &Value) -> String {
        let call = one_line(input["call_id"].as_str().unwrap_or("?"), 60);
        match (input["grep"].as_str(), input["from_end"].as_u64(), input["offset_lines"].as_u64()) {
            (Some(pattern), _, _) => format!("{call} /{}/", one_line(pattern, 60)),
            (None, Some(lines), _) => format!("{call}, last {}", plural(lines, "line")),
            (None, None, Some(first)) => format!("{call}, from line {first}"),
            (None, None, None) => call,
        }
    }

    fn check(input: &Input) -> Result<(), String> {
        if input.from_end.is_some() && (input.offset_lines.is_some() || input.limit_lines.is_some()) {
            return Err("from_end does not go together with offset_lines or limit_lines".to_owned());
        }
        let grep = input.grep.as_deref().map(pattern).transpose();
        grep.map(drop).map_err(|error| format!("invalid regular expression: {error}"))
    }

    async fn run(context: &ToolContext, input: Input) -> Result<ToolResult, ToolFailure> {
        tokio::select! {
            biased;
            result = find(context, &input) => result,
            () = context.cancel.cancelled() => Err(ToolFailure::Cancelled),
        }
    }
}

/// Where the output is: a command in the background, running or over, or else a kept output of the session.
async fn find(context: &ToolContext, input: &Input) -> Result<ToolResult, ToolFailure> {
    let call = CallId(input.call_id.clone());
    let job = context.background.find(&call);
    if let Some(job) = &job {
        let wait = Duration::from_millis(input.wait_ms.unwrap_or(0).min(MAX_WAIT_MS));
        job.news(input.offset_lines, wait).await;
        let (text, over) = job.look();
        let Some(over) = over else {
            return Ok(live(context, input, job, &text));
        };
        let status = format!("over: {}", over.why);
        return match over.output {
            Some(output) => read(context, input, output, Some(&status)).await,
            None => Ok(ToolResult::text(format!("[no output; {status}]"))),
        };
    }
    match (context.outputs)(&call) {
        Some(output) => read(context, input, output, None).await,
        None => Ok(ToolResult::error(format!(
            "no kept output for the call {}: outputs are kept only of commands in the background and of calls whose \
             result says that something was left out",
            one_line(&input.call_id, 80)
        ))),
    }
}

fn wanted(input: &Input) -> Wanted {
    Wanted {
        // It was tried before.
        grep: input.grep.as_deref().and_then(|text| pattern(text).ok()),
        first: input.offset_lines.unwrap_or(1).max(1),
        limit: input.from_end.or(input.limit_lines).unwrap_or(DEFAULT_LINES).max(1),
        from_end: input.from_end.is_some(),
    }
}

fn live(context: &ToolContext, input: &Input, job: &Job, text: &str) -> ToolResult {
    let status = format!("still running, for {} s", job.since.elapsed().as_secs());
    let mut selection = Selection::new(wanted(input));
    selection.feed(text);
    match selection.finish(text.len() as u64) {
        Err(NoLine::There { total, .. }) => ToolResult::text(format!("[no such line yet; {total}; {status}]")),
        found => shown(context, found, Some(&status)),
    }
}

async fn read(
    context: &ToolContext,
    input: &Input,
    output: BlobRef,
    status: Option<&str>,
) -> Result<ToolResult, ToolFailure> {
    let mut selection = Selection::new(wanted(input));
    // What was kept was text; a character may still be split between two blocks.
    let mut decoder = encoding_rs::UTF_8.new_decoder_without_bom_handling();
    let mut done_bytes = 0;
    while done_bytes < output.size_bytes {
        let end = output.size_bytes.min(done_bytes + BLOCK_BYTES);
        let block = match context.log.blobs().read(output.hash, done_bytes..end).await {
            Ok(block) if !block.is_empty() => block,
            Ok(_) | Err(LogError::NoSuchBlob(_)) => {
                return Ok(ToolResult::error(format!("the output of {} is no longer kept", input.call_id)));
            }
            Err(error) => return Err(error.into()),
        };
        done_bytes += block.len() as u64;
        let mut text = String::with_capacity(decoder.max_utf8_buffer_length(block.len()).unwrap_or_default());
        let _ = decoder.decode_to_string(&block, &mut text, done_bytes == output.size_bytes);
        selection.feed(&text);
    }
    Ok(shown(context, selection.finish(output.size_bytes), status))
}

/// What the model is told; `status` says how a command in the background is.
fn shown(context: &ToolContext, found: Result<(String, Vec<String>), NoLine>, status: Option<&str>) -> ToolResult {
    let status = status.map(|status| context.redactor.redact(status).into_owned());
    let more = status.as_ref().map(|status| format!("; {status}")).unwrap_or_default();
    match found {
        Ok((body, remarks)) => {
            ToolResult::text(format!("{}[{}{more}]", context.redactor.redact(&body), remarks.join("; ")))
        }
        Err(NoLine::Matches(total)) => ToolResult::text(format!("[no line matches; {total}{more}]")),
        Err(NoLine::There { first, total }) => {
            ToolResult::error(format!("there is no line {first}: the output has {total}{more}"))
        }
    }
}

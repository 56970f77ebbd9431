//! `read_output`: lines of the whole output of an earlier call, of which the model saw a part.
//!
//! The output comes from the blob store in blocks; only the lines asked for are kept.

use super::lines::{Line, LineScanner};
use super::output::{INLINE_BYTES, LINE_CHARS, one_line, plural, thousands};
use super::schema::{ToolSchema, parse};
use super::{Tool, ToolContext, ToolFailure, ToolResult};
use async_trait::async_trait;
use regex::{Regex, RegexBuilder};
use retrace_events::payload::tool::ToolEffect;
use retrace_events::{BlobRef, CallId, LogError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::VecDeque;

/// Lines that are shown when the input names no number.
const DEFAULT_LINES: u64 = 500;
/// How much is read at a time, in bytes.
const BLOCK_BYTES: u64 = 1024 * 1024;
/// How much of a line a pattern is matched against, in characters.
const MATCHED_CHARS: u64 = 64 * 1024;
/// The most memory a compiled pattern may take, in bytes.
const PATTERN_BYTES: usize = 4 * 1024 * 1024;

const NAME: &str = "read_output";
const DESCRIPTION: &str = "\
    Shows lines of the whole output of an earlier call whose result said that something was left out; its result \
    names the call_id. Give offset_lines and limit_lines for a range, from_end for the last lines, or grep to see \
    only lines that match a regular expression. Comes back with each line as `number<tab>text` and a last line in \
    brackets with the totals. Shows up to 16,000 bytes at once, 500 lines unless told otherwise. The output stays as \
    it was: nothing is run again.";

/// The tool.
pub(super) struct ReadOutput;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
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
}

#[async_trait]
impl Tool for ReadOutput {
    fn name(&self) -> &'static str {
        NAME
    }

    fn schema(&self) -> ToolSchema {
        ToolSchema::of::<Input>(NAME, DESCRIPTION)
    }

    fn effect(&self) -> ToolEffect {
        ToolEffect::ReadOnly
    }

    fn summary(&self, input: &Value) -> String {
        let call = one_line(input["call_id"].as_str().unwrap_or("?"), 60);
        match (input["grep"].as_str(), input["from_end"].as_u64(), input["offset_lines"].as_u64()) {
            (Some(pattern), _, _) => format!("{call} /{}/", one_line(pattern, 60)),
            (None, Some(lines), _) => format!("{call}, last {}", plural(lines, "line")),
            (None, None, Some(first)) => format!("{call}, from line {first}"),
            (None, None, None) => call,
        }
    }

    async fn run(&self, context: &ToolContext, input: Value) -> Result<ToolResult, ToolFailure> {
        let input = match parse::<Input>(NAME, input) {
            Ok(input) => input,
            Err(result) => return Ok(*result),
        };
        if input.from_end.is_some() && (input.offset_lines.is_some() || input.limit_lines.is_some()) {
            return Ok(ToolResult::error("from_end does not go together with offset_lines or limit_lines"));
        }
        let grep = match input.grep.as_deref().map(pattern).transpose() {
            Ok(grep) => grep,
            Err(error) => return Ok(ToolResult::error(format!("invalid regular expression: {error}"))),
        };
        let Some(output) = (context.outputs)(&CallId(input.call_id.clone())) else {
            return Ok(ToolResult::error(format!(
                "no kept output for the call {}: outputs are kept only of calls whose result says that \
                 something was left out",
                one_line(&input.call_id, 80)
            )));
        };
        tokio::select! {
            biased;
            result = read(context, &input, output, grep) => result,
            () = context.cancel.cancelled() => Err(ToolFailure::Cancelled),
        }
    }
}

fn pattern(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES).build()
}

/// Which lines are kept while the output goes by.
struct Selection {
    grep: Option<Regex>,
    first: u64,
    limit: u64,
    from_end: bool,
    kept: VecDeque<String>,
    kept_bytes: usize,
    /// Lines that matched (all of them, without grep) from `first` on.
    matched: u64,
    /// Whether there was no room for a line that was wanted.
    full: bool,
    last_shown: u64,
}

impl Selection {
    fn take(&mut self, line: Line<'_>) {
        let fits = self.grep.as_ref().is_none_or(|grep| grep.is_match(line.text));
        if line.number < self.first || !fits {
            return;
        }
        self.matched += 1;
        if !self.from_end && (self.full || self.kept.len() as u64 >= self.limit) {
            return;
        }
        let mut text = String::new();
        shortened(line).write_numbered(&mut text);
        if !self.from_end && self.kept_bytes + text.len() > INLINE_BYTES && !self.kept.is_empty() {
            self.full = true;
            return;
        }
        self.last_shown = line.number;
        self.kept_bytes += text.len();
        self.kept.push_back(text);
        if self.from_end {
            self.forget_first();
        }
    }

    /// Keeps the last lines only: as many as are wanted and have room.
    fn forget_first(&mut self) {
        while self.kept.len() as u64 > self.limit || (self.kept_bytes > INLINE_BYTES && self.kept.len() > 1) {
            self.kept_bytes -= self.kept.pop_front().map_or(0, |line| line.len());
        }
    }
}

/// The line as it is shown: a pattern may look further into it than the model.
fn shortened(line: Line<'_>) -> Line<'_> {
    match line.text.char_indices().nth(LINE_CHARS) {
        None => line,
        Some((end, _)) => {
            let more = line.text[end..].chars().count() as u64;
            Line { text: &line.text[..end], omitted_chars: line.omitted_chars + more, ..line }
        }
    }
}

async fn read(
    context: &ToolContext,
    input: &Input,
    output: BlobRef,
    grep: Option<Regex>,
) -> Result<ToolResult, ToolFailure> {
    let mut selection = Selection {
        grep,
        first: input.offset_lines.unwrap_or(1).max(1),
        limit: input.from_end.or(input.limit_lines).unwrap_or(DEFAULT_LINES).max(1),
        from_end: input.from_end.is_some(),
        kept: VecDeque::new(),
        kept_bytes: 0,
        matched: 0,
        full: false,
        last_shown: 0,
    };
    let mut scanner = LineScanner::new(MATCHED_CHARS);
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
        scanner.feed(&text, &mut |line| selection.take(line));
    }
    let (lines, _) = scanner.finish(&mut |line| selection.take(line));
    Ok(report(context, input, &selection, lines, output.size_bytes))
}

fn report(context: &ToolContext, input: &Input, selection: &Selection, lines: u64, size_bytes: u64) -> ToolResult {
    let total = format!("{} and {} in all", plural(lines, "line"), plural(size_bytes, "byte"));
    if selection.kept.is_empty() {
        return match &selection.grep {
            Some(_) => ToolResult::text(format!("[no line matches; {total}]")),
            None => ToolResult::error(format!("there is no line {}: the output has {total}", selection.first)),
        };
    }
    let mut remarks = vec![total];
    if selection.grep.is_some() {
        remarks.push(format!("{} of them match", thousands(selection.matched)));
    }
    let shown = selection.kept.len() as u64;
    if selection.from_end && shown < selection.limit.min(selection.matched) {
        remarks.push(format!("only the last {} fit", thousands(shown)));
    } else if !selection.from_end && selection.matched > shown {
        remarks.push(format!("to go on: offset_lines {}", selection.last_shown + 1));
    }
    if input.offset_lines.is_some() && selection.grep.is_some() {
        remarks.push(format!("looked at from line {}", thousands(selection.first)));
    }
    let body: String = selection.kept.iter().map(String::as_str).collect();
    ToolResult::text(format!("{}[{}]", context.redactor.redact(&body), remarks.join("; ")))
}

//! `batch`: several calls in one. It does nothing itself: the agent takes it apart, and each call in it is decided on, logged and
//! carried out like any other. Here is what it may hold, and how the results become one.

use super::output::{cap, one_line, plural};
use super::typed::TypedTool;
use super::{ToolContext, ToolFailure, ToolResult, named};
use retrace_events::CallId;
use retrace_events::payload::tool::{ToolEffect, ToolPart};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The most calls in one.
const MAX_CALLS: usize = 16;
/// How much all results may have together, in bytes: as much as the largest that one call may have.
const MAX_RESULT_BYTES: usize = 48_000;
/// The least that is left of a result, in bytes.
const MIN_PART_BYTES: usize = 500;
/// How much of a call is repeated above its result, in characters.
const LABEL_CHARS: usize = 100;

/// The tool's name.
const BATCH: &str = "batch";

/// The tool.
pub(super) struct Batch;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The calls in order, 1 to 16.
    calls: Vec<Part>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Part {
    /// The tool's name.
    tool: String,
    /// Its input, as in a call of its own.
    #[expect(dead_code, reason = "it is read where the call is taken apart, word for word")]
    input: Map<String, Value>,
}

/// The calls as the model wrote them.
#[derive(Deserialize)]
struct RawInput<'a> {
    #[serde(borrow)]
    calls: Vec<RawPart<'a>>,
}

#[derive(Deserialize)]
struct RawPart<'a> {
    tool: String,
    #[serde(borrow)]
    input: &'a RawValue,
}

impl TypedTool for Batch {
    type Input = Input;

    const NAME: &'static str = BATCH;
    const DESCRIPTION: &'static str = "\
        Carries out 1 to 16 calls of other tools and comes back with all their results, each under a line like \
        `[2 of 3: read_file src/lib.rs]`. Use it for calls that do not need each other's results: reading several files, \
        several searches, edits of several files and then the tests. Calls that only look are carried out side by side, \
        those that may change something one after the other in the order given; each is carried out whatever became of \
        those before it, and permissions are asked for each. All results share 48,000 bytes; what is cut can be read with \
        read_output. Not for batch itself and not for ask_user.";
    // What is in it has effects of its own.
    const EFFECT: ToolEffect = ToolEffect::ReadOnly;

    fn summary(input: &Value) -> String {
        let calls = input["calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        let shown = |call: &Value| label(call["tool"].as_str().unwrap_or("?"), &call["input"]);
        let list: Vec<String> = calls.iter().take(MAX_CALLS).map(shown).collect();
        one_line(&format!("{}: {}", plural(calls.len() as u64, "call"), list.join("; ")), 200)
    }

    fn check(input: &Input) -> Result<(), String> {
        if input.calls.is_empty() || input.calls.len() > MAX_CALLS {
            return Err(format!("a batch has 1 to {MAX_CALLS} calls, not {}", input.calls.len()));
        }
        let misplaced = input.calls.iter().position(|part| !may_be_part(&part.tool));
        match misplaced.and_then(|place| Some((place, input.calls.get(place)?))) {
            Some((place, part)) => {
                Err(format!("call {} of the batch: {} cannot be in a batch; nothing was done", place + 1, part.tool))
            }
            None => Ok(()),
        }
    }

    async fn run(_context: &ToolContext, _input: Input) -> Result<ToolResult, ToolFailure> {
        // Whoever carries out calls takes this one apart; who cannot, says so.
        Ok(ToolResult::error("a batch cannot be carried out here; make the calls one by one"))
    }
}

/// Whether calls of `tool` may stand in a batch. One that does not exist is told so in its own result.
fn may_be_part(tool: &str) -> bool {
    tool != BATCH && !super::waits_for_user(tool)
}

/// Whether calls of `tool` are made of others.
#[must_use]
pub(crate) fn is_batch(tool: &str) -> bool {
    tool == BATCH
}

/// The calls that a call is made of; `None` when it is none of others, or none that can work.
#[must_use]
pub(crate) fn parts_of(call: &CallId, tool: &str, input: &str) -> Option<Vec<ToolPart>> {
    if !is_batch(tool) || super::cannot_work(tool, input) {
        return None;
    }
    let RawInput { calls } = serde_json::from_str(input).ok()?;
    let part = |(number, part): (usize, RawPart<'_>)| ToolPart {
        call: CallId(format!("{}.{number}", call.0)),
        tool: part.tool,
        input: part.input.get().to_owned(),
    };
    Some((1..).zip(calls).map(part).collect())
}

/// How much of a result there is room for, in bytes, where the others have `used_bytes` and so many, this one among them, have none
/// yet. What one does not need the next ones have.
#[must_use]
pub(crate) fn part_share_bytes(used_bytes: usize, open: usize) -> usize {
    (MAX_RESULT_BYTES.saturating_sub(used_bytes) / open.max(1)).max(MIN_PART_BYTES)
}

/// A part's result in at most `share_bytes`; the whole of it is kept under the part's own id.
#[must_use]
pub(crate) fn cut_part(content: &str, share_bytes: usize, call: &CallId) -> String {
    let note = |omitted: super::output::Omitted| {
        format!(
            "[{} left out here for want of room; to see all: read_output with call_id {}]",
            plural(omitted.lines as u64, "line"),
            one_line(&call.0, 80)
        )
    };
    cap(content, share_bytes, note).0
}

/// One result of many: each below a line that says what it is of.
#[must_use]
pub(crate) fn joined<'a>(parts: impl ExactSizeIterator<Item = (&'a str, &'a str, bool, &'a str)>) -> String {
    let count = parts.len();
    let mut text = String::new();
    for (number, (tool, input, failed, content)) in (1..).zip(parts) {
        let gap = if text.is_empty() { "" } else { "\n\n" };
        let label = label(tool, &serde_json::from_str(input).unwrap_or_default());
        let failed = if failed { "; failed" } else { "" };
        text.push_str(&format!("{gap}[{number} of {count}: {label}{failed}]\n{}", content.trim_end_matches('\n')));
    }
    text
}

fn label(tool: &str, input: &Value) -> String {
    let summary = named(tool).map(|known| known.summary(input)).unwrap_or_default();
    one_line(&format!("{tool} {summary}"), LABEL_CHARS)
}

//! What calls and their results are remembered by: commands and how they ended, files, failures.

use super::digest_item::{DigestItem, DigestKind};
use super::excerpt;
use super::open_call::{CallAbout, OpenCall, relative};
use super::reading::Reading;
use retrace_events::payload::tool::{ToolDenied, ToolExit, ToolFinished, ToolOutcomeUnknown};

/// How much of a command stands before what it failed with, in bytes.
const NAMED_BYTES: usize = 60;

/// The most files that one call is remembered to have changed.
const MAX_CHANGED: usize = 64;

/// What a result is remembered by.
pub(super) fn finished(call: Option<&OpenCall>, done: &ToolFinished, reading: &Reading<'_>) -> Vec<DigestItem> {
    let end = done.exit.and_then(exit);
    let failed = done.is_error || done.exit.is_some_and(failed);
    let background = call.is_some_and(|call| call.background);
    let mut items = Vec::new();
    if let Some(call) = call {
        items.extend(asked(call, done, reading));
        let how = if background { Some("in the background".to_owned()) } else { end.clone() };
        items.extend(call.item(how, failed));
    }
    for path in done.changed.iter().take(MAX_CHANGED) {
        let path = relative(path, reading.workspace);
        // The tool's own word and the call's input say the same thing.
        let known = |item: &DigestItem| item.kind == DigestKind::Changed && item.text == path;
        if !items.iter().any(known) {
            items.push(changed(&path, reading));
        }
    }
    if failed {
        let what = excerpt::failure(&reading.redacted(&done.content), DigestKind::Error.max_bytes(0));
        let said = if what.is_empty() { end.unwrap_or_else(|| "failed".to_owned()) } else { what };
        items.push(error(call, &said, reading));
    }
    items
}

/// The user's answer to a question of the model's.
fn asked(call: &OpenCall, done: &ToolFinished, reading: &Reading<'_>) -> Option<DigestItem> {
    let answered = call.about == CallAbout::Question && !done.is_error;
    answered.then(|| {
        let question = excerpt::cut(&call.text, DigestKind::Words.max_bytes(0) / 2);
        reading.item(DigestKind::Words, &format!("{} (asked: {question})", done.content), 2)
    })
}

/// What a refused call is remembered by.
pub(super) fn denied(call: Option<&OpenCall>, denied: &ToolDenied, reading: &Reading<'_>) -> Vec<DigestItem> {
    let what = call.map_or("a call", |call| excerpt::floor(&call.text, 2 * NAMED_BYTES));
    let why = excerpt::line(&reading.redacted(&denied.content), 2 * NAMED_BYTES);
    let decision = reading.item(DigestKind::Decision, &format!("denied by {}: `{what}`: {why}", denied.by), 3);
    let item = call.and_then(|call| call.item(Some("denied".to_owned()), true));
    item.into_iter().chain([decision]).collect()
}

/// What a call is remembered by of which nobody knows how far it came.
pub(super) fn unknown(call: Option<&OpenCall>, unknown: &ToolOutcomeUnknown, reading: &Reading<'_>) -> Vec<DigestItem> {
    let what = excerpt::failure(&reading.redacted(&unknown.content), DigestKind::Error.max_bytes(0));
    let item = call.and_then(|call| call.item(Some("outcome unknown".to_owned()), true));
    item.into_iter().chain([error(call, &format!("outcome unknown: {what}"), reading)]).collect()
}

fn changed(path: &str, reading: &Reading<'_>) -> DigestItem {
    let text = excerpt::tail(&reading.line(path), DigestKind::Changed.max_bytes(0));
    DigestItem::new(DigestKind::Changed, reading.seq, reading.event, text, 0)
}

fn error(call: Option<&OpenCall>, said: &str, reading: &Reading<'_>) -> DigestItem {
    let named = call.map(|call| format!("`{}`: ", excerpt::cut(&call.text, NAMED_BYTES))).unwrap_or_default();
    let text = excerpt::line(&format!("{named}{said}"), DigestKind::Error.max_bytes(0));
    DigestItem::new(DigestKind::Error, reading.seq, reading.event, text, 0)
}

/// Whether a command failed, as a shell would see it.
pub(super) const fn failed(exit: ToolExit) -> bool {
    exit.timed_out || exit.signal.is_some() || !matches!(exit.code, Some(0))
}

/// How a command ended, in words.
pub(super) fn exit(exit: ToolExit) -> Option<String> {
    match exit {
        ToolExit { timed_out: true, .. } => Some("timed out".to_owned()),
        ToolExit { code: Some(code), .. } => Some(format!("exit {code}")),
        ToolExit { signal: Some(signal), .. } => Some(format!("signal {signal}")),
        ToolExit { code: None, signal: None, .. } => None,
    }
}

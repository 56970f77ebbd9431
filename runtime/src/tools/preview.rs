//! What a person is shown of a call before allowing it: commands and diffs, made fit to be shown.
//!
//! What is shown must be what will be done: nothing in it may hide, move or recolour something else, so control
//! characters and marks that turn the direction of writing are spelt out.

use super::ToolContext;
use super::edit_file::diff;
use super::output::{cap, count_lines, plural};
use super::text_file::{Encoding, LineEnds, decode};
use super::{magic, replace};
use retrace_sandbox::{FailureKind, SandboxError};
use std::fmt::Write as _;

/// The most of a preview that is shown, in bytes.
const PREVIEW_BYTES: usize = 16 * 1024;
/// The largest file that is compared with what is to replace it, in bytes.
const MAX_COMPARED_BYTES: u64 = 4 * 1024 * 1024;

/// `text` as it is shown: redacted, with nothing hidden in it, its middle left out when it is long.
pub(super) fn shown(context: &ToolContext, text: &str) -> String {
    let text = context.redactor.redact(text);
    let text = spelt_out(&text);
    let note = |omitted: super::output::Omitted| {
        let lines = plural(omitted.lines as u64, "line");
        format!("[{lines} ({}) left out here]", plural(omitted.bytes as u64, "byte"))
    };
    cap(text.trim_end_matches('\n'), PREVIEW_BYTES, note).0
}

/// `text` with characters spelt out that would not show, or make others show elsewhere.
fn spelt_out(text: &str) -> String {
    let hidden = |c: char| {
        let turns =
            matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}');
        turns || (c.is_control() && !matches!(c, '\n' | '\t'))
    };
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if hidden(c) { plain.extend(c.escape_default()) } else { plain.push(c) }
    }
    plain
}

/// What writing `content` to `path` would change, compared with the file as it is now.
pub(super) async fn of_write(context: &ToolContext, path: &str, content: &str) -> String {
    let size = format!("{}, {}", plural(count_lines(content) as u64, "line"), plural(content.len() as u64, "byte"));
    let old = match context.sandbox.read(path, 0, MAX_COMPARED_BYTES).await {
        Ok(old) => old,
        Err(SandboxError::Guest(failure)) if failure.kind == FailureKind::NotFound => {
            return format!("[a new file: {size}]\n{}", created(path, content));
        }
        Err(SandboxError::Guest(failure)) => return format!("[this will fail: {}]", failure.message),
        Err(error) => return format!("[the file cannot be looked at: {error}]"),
    };
    let replaced = |what: &str| {
        let had = plural(old.total_bytes, "byte");
        format!("[{path} is {what} ({had}); it would be replaced by {size}]\n{}", created(path, content))
    };
    if old.total_bytes > MAX_COMPARED_BYTES {
        return replaced("too large to compare");
    }
    match decode(&old.bytes) {
        Ok(file) => changed(path, (&file.text, file.encoding), (content, Encoding::of_new(content))),
        Err(_) => replaced(&format!("no plain text: {}", magic::kind(&old.bytes))),
    }
}

/// The change from `old` to `new` as a diff, and in words what a diff does not show.
pub(super) fn changed(path: &str, old: (&str, Encoding), new: (&str, Encoding)) -> String {
    let mut text = String::new();
    let named = |encoding: Encoding| encoding.label().unwrap_or("UTF-8");
    // Writing to a String cannot fail.
    if old.1 != new.1 {
        let _ = writeln!(text, "[the encoding changes: now {}, then {}]", named(old.1), named(new.1));
    }
    let ends = |text: &str| LineEnds::of(text).label().unwrap_or_else(|| "LF line ends".to_owned());
    let (before, after) = (ends(old.0), ends(new.0));
    if before != after && !old.0.is_empty() {
        let _ = writeln!(text, "[line ends change: now {before}, then {after}]");
    }
    if replace::to_lf(old.0) == replace::to_lf(new.0) {
        text.push_str("[the lines stay as they are]");
    } else {
        text.push_str(&diff(path, old.0, new.0));
    }
    text
}

/// The diff of a file that is not there yet.
pub(super) fn created(path: &str, content: &str) -> String {
    diff(path, "", content)
}

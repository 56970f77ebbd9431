//! A call whose result has not come, in as few bytes as its item will need, and what a tool's input says of it.

use super::digest_item::{DigestItem, DigestKind};
use super::excerpt;
use super::reading::Reading;
use retrace_events::payload::tool::{ToolCalled, ToolEffect};
use retrace_events::{CallId, EventId, Hash};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest text of a call that is kept until its result comes, in bytes.
const MAX_BYTES: usize = 480;

/// The longest input that is read, in bytes.
const MAX_INPUT_BYTES: usize = 4 * 1024 * 1024;

/// What a call is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum CallAbout {
    /// A command.
    Command,
    /// Another call.
    Other,
    /// Looking at a file, or for something.
    Read,
    /// Changing a file.
    Change,
    /// Asking the user.
    Question,
    /// Writing down the plan, which is an event of its own.
    Plan,
}

/// A call whose result has not come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenCall {
    /// What its id hashes to: ids are foreign and may be long.
    pub(super) id: u64,
    pub(super) about: CallAbout,
    /// The command, path or question, redacted.
    pub(super) text: String,
    pub(super) seq: u64,
    pub(super) event: EventId,
    pub(super) background: bool,
    /// It was begun in an earlier step.
    pub(super) late: bool,
}

impl OpenCall {
    /// What an id is known as.
    pub(super) fn id(call: &CallId) -> u64 {
        let hash = Hash::of(call.0.as_bytes());
        hash.as_bytes().iter().take(8).fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
    }

    /// The call that an event begins.
    pub(super) fn begun(called: &ToolCalled, reading: &Reading<'_>) -> Self {
        let readable = called.input.len() <= MAX_INPUT_BYTES;
        let input: Value = if readable { serde_json::from_str(&called.input).unwrap_or_default() } else { Value::Null };
        let (about, text) = about(&called.tool, called.effect, &input, reading.workspace);
        let text = match about {
            CallAbout::Read | CallAbout::Change => excerpt::tail(&reading.line(&text), MAX_BYTES),
            CallAbout::Command | CallAbout::Other | CallAbout::Question | CallAbout::Plan => {
                excerpt::cut(&reading.line(&text), MAX_BYTES)
            }
        };
        let (seq, event) = (reading.seq, reading.event);
        Self { id: Self::id(&called.call), about, text, seq, event, background: false, late: false }
    }

    /// From now on another event is named for it: its own lies in an earlier step.
    pub(super) const fn be_told_by(&mut self, seq: u64, event: EventId) {
        (self.seq, self.event, self.late) = (seq, event, true);
    }

    /// What is remembered of it when it ended like this; nothing of a question or a plan, whose words come otherwise.
    pub(super) fn item(&self, end: Option<String>, failed: bool) -> Option<DigestItem> {
        let (kind, weight) = match self.about {
            CallAbout::Command => (DigestKind::Command, command_weight(&self.text)),
            CallAbout::Other => (DigestKind::Command, 1),
            CallAbout::Read => (DigestKind::Read, u8::from(!self.text.starts_with(SEARCH))),
            // A change that failed changed nothing; its error is kept.
            CallAbout::Change if failed => return None,
            CallAbout::Change => (DigestKind::Changed, 0),
            CallAbout::Question | CallAbout::Plan => return None,
        };
        let mut item = DigestItem::new(kind, self.seq, self.event, self.text.clone(), weight + u8::from(failed));
        item.failed = u32::from(failed);
        item.end = end;
        Some(item)
    }
}

/// How a search begins among the files that were read.
const SEARCH: &str = "search ";

/// What a call is about, by the names that tools of this and of other agents give their inputs.
fn about(tool: &str, effect: ToolEffect, input: &Value, workspace: &str) -> (CallAbout, String) {
    let named = |name: &&str| input.get(*name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let text = |names: &[&str]| names.iter().find_map(named);
    let path = text(&["path", "file_path", "notebook_path"]).map(|path| relative(path, workspace));
    let name = tool.to_ascii_lowercase();
    if let Some(command) = text(&["command", "cmd"]) {
        return (CallAbout::Command, command.to_owned());
    }
    if matches!(name.as_str(), "todo" | "todowrite") {
        return (CallAbout::Plan, String::new());
    }
    if let Some(question) = text(&["question"]) {
        return (CallAbout::Question, question.to_owned());
    }
    if let Some(pattern) = text(&["pattern", "regex", "query"]) {
        let place = path.map(|path| format!(" in {path}")).unwrap_or_default();
        return (CallAbout::Read, format!("{SEARCH}`{pattern}`{place}"));
    }
    match (path, effect) {
        (Some(path), ToolEffect::ReadOnly) => (CallAbout::Read, path),
        // Where the effect is not known it counts as one that writes; the name says more then.
        (Some(path), ToolEffect::Writes) if name.contains("read") => (CallAbout::Read, path),
        (Some(path), ToolEffect::Writes) => (CallAbout::Change, path),
        (None, _) => {
            let words = text(&["description", "prompt", "url", "skill", "text"]).unwrap_or_default();
            (CallAbout::Other, format!("{tool} {words}"))
        }
    }
}

/// A path relative to the workspace, where it lies in it.
pub(super) fn relative(path: &str, workspace: &str) -> String {
    let inside = path.strip_prefix(workspace).and_then(|rest| rest.strip_prefix('/'));
    inside.filter(|rest| !workspace.is_empty() && !rest.is_empty()).unwrap_or(path).to_owned()
}

/// Commands that only look around matter less.
fn command_weight(command: &str) -> u8 {
    const LOOKS: [&str; 14] = [
        "ls",
        "cat",
        "pwd",
        "echo",
        "head",
        "tail",
        "sed -n",
        "grep",
        "rg",
        "find",
        "wc",
        "which",
        "git status",
        "git log",
    ];
    let looks = LOOKS
        .iter()
        .any(|look| command.strip_prefix(look).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')));
    u8::from(!looks)
}

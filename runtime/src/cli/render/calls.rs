//! Tool calls as lines: `● bash  cargo test` when one begins, `└ exit 0 · 12 lines · 1.2s` when it ends.

use super::answer::AnswerCall;
use super::transcript::Detail;
use super::{Style, asks, clean, diff, other, units};
use crate::agent::without_note;
use crate::tools;
use retrace_events::fold::OpenCall;
use retrace_events::payload::Tool;
use retrace_events::payload::tool::{
    ToolApprovalScope, ToolApproved, ToolBackgroundEnded, ToolBackgroundStarted, ToolCalled, ToolExit, ToolFinished,
    ToolParted,
};
use retrace_events::redact::Redactor;
use retrace_events::{CallId, payload};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Lines of output shown under a call that went well, and under one that did not.
const LINES_WHEN_FINE: usize = 3;
const LINES_WHEN_FAILED: usize = 12;

/// The width of a call's line, in characters.
const CALL_CHARS: usize = 160;

/// The calls that are open, so that a result can name its own.
pub(super) struct Calls {
    tools: Vec<Arc<dyn tools::Tool>>,
    open: HashMap<CallId, Open>,
    /// The calls of the newest answer that were not begun: what decides on them comes before they do.
    asked: HashMap<CallId, Open>,
    /// Calls that are made of others: their results were shown, each for itself.
    parted: HashSet<CallId>,
    /// Calls whose results are those of earlier ones.
    repeated: HashSet<CallId>,
    /// Calls somebody was asked about; the answer is worth a line.
    put_to_somebody: HashSet<CallId>,
    /// Commands in the background, by the call that started them.
    background: HashMap<CallId, String>,
}

struct Open {
    name: String,
    /// Whether it runs a command, whose output is worth a glance even when all went well.
    command: bool,
    /// Several calls were open at once since it began: its result is not right below it.
    crowded: bool,
}

impl Open {
    fn new(tool: &str, summary: &str, redactor: &Redactor) -> Self {
        let name = format!("{} {}", other::short(redactor, tool, 40), clean::short(summary, 40));
        Self { name, command: tool == "bash", crowded: false }
    }
}

impl Calls {
    pub(super) fn new(tools: Vec<Arc<dyn tools::Tool>>) -> Self {
        Self {
            tools,
            open: HashMap::new(),
            asked: HashMap::new(),
            parted: HashSet::new(),
            repeated: HashSet::new(),
            put_to_somebody: HashSet::new(),
            background: HashMap::new(),
        }
    }

    pub(super) fn event(&mut self, tool: &Tool, style: Style, detail: Detail, redactor: &Redactor) -> String {
        match tool {
            Tool::Called(called) => self.begin(called, style, detail, redactor),
            Tool::Finished(finished) => self.finish(finished, style, detail, redactor),
            Tool::OutcomeUnknown(unknown) => {
                let label = self.close(&unknown.call, redactor).0;
                let content = clean::short(&redactor.redact(&unknown.content), 300);
                format!("{} {label}{}: {content}\n", style.yellow("└"), style.yellow("outcome unknown"))
            }
            Tool::Denied(payload::tool::ToolDenied { call, by, content }) => {
                let label = self.close(call, redactor).0;
                let content = clean::short(&redactor.redact(content), 300);
                format!("{} {label}not done ({}): {content}\n", style.yellow("└"), other::short(redactor, by, 40))
            }
            Tool::Approved(approved) => self.approve(approved, style, detail, redactor),
            Tool::ApprovalAsked(asked) => {
                self.put_to_somebody.insert(asked.call.clone());
                asks::event(asked, style, redactor)
            }
            Tool::BackgroundStarted(started) => self.go_on(started, style, redactor),
            Tool::BackgroundEnded(ended) => self.end_background(ended, style, redactor),
            Tool::Parted(parted) => {
                self.part(parted, redactor);
                let count = units::of(parted.parts.len() as u64, "call");
                in_full(detail, || style.dim(&format!("  made of {count}")))
            }
            Tool::ResultReused(reused) => {
                self.repeated.insert(reused.call.clone());
                in_full(detail, || style.dim(&format!("  not run: the result of event {} stands for it", reused.from)))
            }
            Tool::Refused(refused) => {
                let detail = clean::short(&redactor.redact(&refused.detail), 300);
                format!("{} {detail}\n", style.yellow("! refused:"))
            }
        }
    }

    /// Takes in the calls that the answer `content` asks for.
    pub(super) fn asked_for(&mut self, content: &str, redactor: &Redactor) {
        self.asked.clear();
        self.put_to_somebody.clear();
        for AnswerCall { id, name, input } in AnswerCall::read(content) {
            let summary = self.summary(&name, input.get(), redactor);
            self.asked.insert(CallId(id), Open { crowded: true, ..Open::new(&name, &summary, redactor) });
        }
    }

    /// Takes in the calls that a call is made of, so that what is decided on them can name them.
    fn part(&mut self, parted: &ToolParted, redactor: &Redactor) {
        self.parted.insert(parted.call.clone());
        for part in &parted.parts {
            let summary = self.summary(&part.tool, &part.input, redactor);
            let open = Open { crowded: true, ..Open::new(&part.tool, &summary, redactor) };
            self.asked.insert(part.call.clone(), open);
        }
    }

    /// A call that was begun elsewhere: its result cannot stand right below it.
    pub(super) fn know(&mut self, call: &OpenCall, redactor: &Redactor) {
        let summary = self.summary(&call.tool, &call.input, redactor);
        self.open.insert(call.id.clone(), Open { crowded: true, ..Open::new(&call.tool, &summary, redactor) });
    }

    /// An approval by a rule is no news; one that somebody was asked for is, and one that reaches further than the call.
    fn approve(&mut self, approved: &ToolApproved, style: Style, detail: Detail, redactor: &Redactor) -> String {
        let by = other::short(redactor, &approved.by, 80);
        let scope = match approved.scope {
            ToolApprovalScope::Once => "once",
            ToolApprovalScope::Session => "for this session",
            ToolApprovalScope::Always => "always",
        };
        let put = self.put_to_somebody.remove(&approved.call);
        match detail {
            Detail::Short if !put && approved.scope == ToolApprovalScope::Once => String::new(),
            Detail::Short | Detail::Full if put => format!("{} by {by}, {scope}\n", style.green("└ allowed")),
            Detail::Short | Detail::Full => format!("{}\n", style.dim(&format!("  allowed by {by}, {scope}"))),
        }
    }

    fn go_on(&mut self, started: &ToolBackgroundStarted, style: Style, redactor: &Redactor) -> String {
        let command = clean::short(&redactor.redact(&started.command), CALL_CHARS);
        let line = style.dim(&format!("  in the background: {command}"));
        self.background.insert(started.call.clone(), command);
        format!("{line}\n")
    }

    fn end_background(&mut self, ended: &ToolBackgroundEnded, style: Style, redactor: &Redactor) -> String {
        let command = self.background.remove(&ended.call).unwrap_or_else(|| other::short(redactor, &ended.call.0, 40));
        let failed = ended.exit.is_none_or(|exit| exit.code != Some(0));
        let end = ended.exit.as_ref().map_or_else(|| "end not seen".to_owned(), |exit| ending(Some(exit), failed));
        let end = if failed { style.red(&end) } else { style.green(&end) };
        let output = ended.output.map(|output| format!(" · {} of output", units::size(output.size_bytes)));
        let why = match other::short(redactor, &ended.why, 200) {
            why if why.is_empty() => why,
            why => format!(" · {why}"),
        };
        let facts = style.dim(&format!("{}{why}", output.unwrap_or_default()));
        format!("{} {command}: {end}{facts}\n", style.cyan("○ background"))
    }

    fn begin(&mut self, called: &ToolCalled, style: Style, detail: Detail, redactor: &Redactor) -> String {
        let summary = self.summary(&called.tool, &called.input, redactor);
        self.asked.remove(&called.call);
        let crowded = !self.open.is_empty();
        self.open.values_mut().for_each(|open| open.crowded = true);
        self.open.insert(called.call.clone(), Open { crowded, ..Open::new(&called.tool, &summary, redactor) });
        let mut text =
            format!("{} {}  {summary}\n", style.cyan("●"), style.bold(&other::short(redactor, &called.tool, 40)));
        if detail == Detail::Full {
            let input: serde_json::Value = serde_json::from_str(&called.input).unwrap_or_default();
            let pretty = serde_json::to_string_pretty(&input).unwrap_or_default();
            text.push_str(&block(&clean::text(&redactor.redact(&unescaped(&pretty))), usize::MAX, style));
        }
        text
    }

    /// A call's input in one line, as its tool puts it.
    fn summary(&self, tool: &str, input: &str, redactor: &Redactor) -> String {
        let known = self.tools.iter().find(|known| known.name() == tool);
        let summary = known
            .map_or_else(|| input.to_owned(), |known| known.summary(&serde_json::from_str(input).unwrap_or_default()));
        clean::short(&redactor.redact(&summary), CALL_CHARS)
    }

    fn finish(&mut self, finished: &ToolFinished, style: Style, detail: Detail, redactor: &Redactor) -> String {
        let (label, command) = self.close(&finished.call, redactor);
        let (note, told) = if self.repeated.remove(&finished.call) {
            without_note(&finished.content)
        } else {
            (None, finished.content.clone())
        };
        let note = note.map(|note| clean::short(&redactor.redact(note), 200));
        let note = note.map(|note| format!("{}\n", style.dim(&format!("    {note}"))));
        let content = clean::text(&redactor.redact(&told));
        let lines = content.lines().count() as u64;
        let end = ending(finished.exit.as_ref(), finished.is_error);
        let failed = finished.is_error || finished.exit.is_some_and(|exit| exit.code != Some(0));
        let end = if failed { style.red(&end) } else { style.green(&end) };
        let whole = match &finished.output {
            Some(output) => format!(" of {}", units::size(output.size_bytes)),
            None => String::new(),
        };
        let changed = match finished.changed.len() {
            0 => String::new(),
            1..=3 => format!(" · changed {}", clean::line(&finished.changed.join(", "))),
            more => format!(" · changed {more} files"),
        };
        let facts =
            format!(" · {}{whole}{changed} · {}", units::of(lines, "line"), units::duration(finished.duration_ms));
        let shown = match (detail, failed, command) {
            (Detail::Full, _, _) => usize::MAX,
            (Detail::Short, _, _) if self.parted.remove(&finished.call) => 0,
            (Detail::Short, true, _) => LINES_WHEN_FAILED,
            (Detail::Short, false, true) => LINES_WHEN_FINE,
            (Detail::Short, false, false) => 0,
        };
        format!("└ {label}{end}{}\n{}{}", style.dim(&facts), note.unwrap_or_default(), block(&content, shown, style))
    }

    /// Takes the call off the list: what its result is headed by, and whether it runs a command.
    fn close(&mut self, call: &CallId, redactor: &Redactor) -> (String, bool) {
        match self.open.remove(call).or_else(|| self.asked.remove(call)) {
            Some(open) if open.crowded => (format!("{}: ", open.name), open.command),
            Some(open) => (String::new(), open.command),
            None => (format!("{}: ", other::short(redactor, &call.0, 40)), false),
        }
    }
}

/// A line that only the full transcript has.
fn in_full(detail: Detail, line: impl FnOnce() -> String) -> String {
    match detail {
        Detail::Short => String::new(),
        Detail::Full => format!("{}\n", line()),
    }
}

/// How a call ended, in a few words.
fn ending(exit: Option<&ToolExit>, is_error: bool) -> String {
    match exit {
        Some(ToolExit { timed_out: true, .. }) => "timed out".to_owned(),
        Some(ToolExit { signal: Some(signal), .. }) => format!("signal {signal}"),
        Some(ToolExit { code: Some(code), .. }) => format!("exit {code}"),
        Some(ToolExit { .. }) | None => if is_error { "failed" } else { "ok" }.to_owned(),
    }
}

/// The last `most` lines that are not blank, indented.
fn block(text: &str, most: usize, style: Style) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let skipped = lines.len().saturating_sub(most);
    if most == 0 || lines.is_empty() {
        return String::new();
    }
    let mut shown: Vec<String> = Vec::new();
    if skipped > 0 {
        shown.push(style.dim(&format!("    … {} above", units::of(skipped as u64, "line"))));
    }
    shown.extend(diff::paint(&lines[skipped..], "    ", style, |line| style.dim(line)));
    shown.iter().map(|line| format!("{line}\n")).collect()
}

/// JSON with the line ends inside its strings as line ends, so that a long text in an input can be read.
fn unescaped(pretty: &str) -> String {
    pretty.replace("\\n", "\n      ").replace("\\\"", "\"")
}

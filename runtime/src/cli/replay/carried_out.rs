//! Calls that were carried out again, as people and programs read them: a table, and the first divergence with both outputs.

use crate::cli::exit::CliError;
use crate::cli::render::{Style, clean, units};
use crate::cli::setup::Setup;
use crate::replaying::{CallOutcome, CallVerdict, ExecutionSummary, FilesLikeness, Likeness, Normaliser, ReplayedCall};
use crate::tools::named;
use retrace_events::StreamId;
use retrace_events::payload::tool::ToolExit;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Lines of a divergence that are shown.
const DIFF_LINES: usize = 60;
/// How much of a line, in characters.
const LINE_CHARS: usize = 200;
/// Differing files that are named for people.
const FILES: usize = 8;
/// How much of a call is shown, in characters.
const CALL_CHARS: usize = 100;

/// Prints what comes of calls.
pub(super) struct CarriedOut<'a> {
    setup: &'a Setup,
    session: &'a StreamId,
    /// Whether every divergence is shown.
    all: bool,
    /// Divergences that were shown.
    shown: usize,
}

impl<'a> CarriedOut<'a> {
    pub(super) const fn new(setup: &'a Setup, session: &'a StreamId, all: bool) -> Self {
        Self { setup, session, all, shown: 0 }
    }

    /// A call: for people only where it diverges.
    pub(super) fn call(&mut self, call: &ReplayedCall) -> Result<(), CliError> {
        if self.setup.output.json {
            return self.setup.output.json_line(&self.row(call));
        }
        if !call.diverges() || (self.shown > 0 && !self.all) {
            return Ok(());
        }
        self.shown += 1;
        let text = self.divergence(call);
        self.setup.output.data(&text)
    }

    /// What all of them came to.
    pub(super) fn summary(&self, summary: &ExecutionSummary) -> Result<(), CliError> {
        if self.setup.output.json {
            return self.setup.output.json_line(&json!({ "summary": figures(self.session, summary) }));
        }
        self.setup.output.data(&table(summary, self.setup.output.data_style()))
    }

    fn divergence(&self, call: &ReplayedCall) -> String {
        let style = self.setup.output.data_style();
        let head = if self.shown == 1 { "first divergence" } else { "divergence" };
        let mut text = format!("{} {}\n", style.red(&format!("{head}:")), style.bold(&self.name(call)));
        if let Some((then, now)) = &call.outcomes {
            if then.exit != now.exit {
                let _ = writeln!(text, "  exit: then {}, now {}", exit_words(then.exit), exit_words(now.exit));
            } else if then.is_error != now.is_error {
                let _ = writeln!(text, "  result: then {}, now {}", error_words(then), error_words(now));
            }
            if then.images != now.images {
                text.push_str("  the images differ\n");
            }
            text.push_str(&self.diff(&call.difference));
        }
        if let FilesLikeness::Differ { named, total } = &call.files {
            let name = |file: &crate::replaying::FileDifference| {
                format!("{} ({})", self.cleaned(&file.path.to_string_lossy(), CALL_CHARS), file.how)
            };
            let names: Vec<String> = named.iter().take(FILES).map(name).collect();
            let more = total.saturating_sub(names.len());
            let more = if more > 0 { format!(" and {} more", units::count(more as u64)) } else { String::new() };
            let _ = writeln!(text, "  files: {}{more}", names.join(", "));
        }
        text.push('\n');
        text
    }

    /// A diff in colour, bounded; foreign text in it is redacted already and cleaned here.
    fn diff(&self, diff: &str) -> String {
        let style = self.setup.output.data_style();
        let lines: Vec<&str> = diff.lines().collect();
        let mut text = String::new();
        for line in lines.iter().take(DIFF_LINES) {
            let line = self.cleaned_line(line);
            let painted = match line.chars().next() {
                Some('+') => style.green(&line),
                Some('-') => style.red(&line),
                Some('@') => style.cyan(&line),
                Some(_) | None => line,
            };
            let _ = writeln!(text, "  {painted}");
        }
        if lines.len() > DIFF_LINES {
            let left = units::of((lines.len() - DIFF_LINES) as u64, "more line");
            let _ = writeln!(text, "  {}", style.dim(&format!("… {left}; --json has all")));
        }
        text
    }

    fn cleaned_line(&self, line: &str) -> String {
        let line = clean::text(&self.setup.redactor.redact(line));
        if line.chars().count() <= LINE_CHARS {
            return line;
        }
        line.chars().take(LINE_CHARS - 1).chain(['…']).collect()
    }

    fn cleaned(&self, text: &str, chars: usize) -> String {
        clean::short(&self.setup.redactor.redact(text), chars)
    }

    /// `session@57 bash cargo test`
    fn name(&self, call: &ReplayedCall) -> String {
        let (stream, seq) = &call.event;
        let summary = self.call_summary(call);
        format!("{}@{seq} {} {summary}", clean::line(stream.id.as_str()), self.cleaned(&call.tool, 40))
    }

    fn call_summary(&self, call: &ReplayedCall) -> String {
        let input: Value = serde_json::from_str(&call.input).unwrap_or(Value::Null);
        let summary = named(&call.tool).map_or_else(String::new, |tool| tool.summary(&input));
        self.cleaned(&summary, CALL_CHARS)
    }

    fn row(&self, call: &ReplayedCall) -> Value {
        let (stream, seq) = &call.event;
        let redact = |text: &str| self.setup.redactor.redact(text).into_owned();
        let (verdict, by, why) = match &call.verdict {
            CallVerdict::NotCompared(why) => ("not compared", Vec::new(), Some(why.words())),
            CallVerdict::Compared(Likeness::Same) => ("same", Vec::new(), None),
            CallVerdict::Compared(Likeness::Normalised(by)) => ("normalised", names(by), None),
            CallVerdict::Compared(Likeness::Reordered(by)) => ("another order", names(by), None),
            CallVerdict::Compared(Likeness::Differs) => ("differs", Vec::new(), None),
        };
        let mut row = json!({
            "event": format!("{}@{seq}", stream.id),
            "call": redact(&call.call.0),
            "tool": redact(&call.tool),
            "summary": self.call_summary(call),
            "verdict": verdict,
            "normalisers": by,
            "why": why,
            "diverges": call.diverges(),
            "files": files(&call.files, &redact),
            "duration_ms": { "then": call.duration_ms.0, "now": call.duration_ms.1 },
        });
        if let (Some((then, now)), Some(fields)) = (&call.outcomes, row.as_object_mut()) {
            let side = |outcome: &CallOutcome| {
                json!({
                    "is_error": outcome.is_error,
                    "exit": outcome.exit.and_then(|exit| exit.code),
                    "signal": outcome.exit.and_then(|exit| exit.signal),
                })
            };
            fields.insert("then".to_owned(), side(then));
            fields.insert("now".to_owned(), side(now));
            fields.insert("diff".to_owned(), json!(redact(&call.difference)));
        }
        row
    }
}

fn names(by: &[Normaliser]) -> Vec<&'static str> {
    by.iter().map(|normaliser| normaliser.name()).collect()
}

fn files(likeness: &FilesLikeness, redact: &dyn Fn(&str) -> String) -> Value {
    match likeness {
        FilesLikeness::NotCompared => json!({ "verdict": "not compared" }),
        FilesLikeness::Alike(apart) => {
            json!({ "verdict": "same", "but_for": apart.iter().map(|apart| apart.name()).collect::<Vec<_>>() })
        }
        FilesLikeness::Differ { named, total } => {
            let file = |file: &crate::replaying::FileDifference| json!({ "path": redact(&file.path.to_string_lossy()), "how": file.how });
            json!({ "verdict": "differ", "total": total, "named": named.iter().map(file).collect::<Vec<_>>() })
        }
    }
}

fn figures(session: &StreamId, summary: &ExecutionSummary) -> Value {
    let counts = |items: Vec<(&'static str, u64)>| {
        Value::Object(items.into_iter().map(|(name, count)| (name.to_owned(), json!(count))).collect())
    };
    json!({
        "session": session.id.as_str(),
        "calls": summary.calls,
        "same": summary.same,
        "normalised": summary.normalised,
        "another_order": summary.reordered,
        "diverging": summary.diverging,
        "not_compared": counts(summary.not_compared.iter().map(|(why, count)| (why.words(), *count)).collect()),
        "normalisers": counts(summary.by_normaliser.iter().map(|(by, count)| (by.name(), *count)).collect()),
        "reproduced_permille": summary.reproduced_permille(),
        "trees": summary.trees,
        "trees_same": summary.trees_alike,
        "trees_but_for": counts(summary.trees_apart.iter().map(|(by, count)| (by.name(), *count)).collect()),
        "files_by_hand": summary.by_hand,
        "duration_ms": { "then": summary.duration_ms.0, "now": summary.duration_ms.1 },
    })
}

/// The table for people.
fn table(summary: &ExecutionSummary, style: Style) -> String {
    let listed = |items: Vec<(&'static str, u64)>| {
        items.into_iter().map(|(name, count)| format!("{name} {}", units::count(count))).collect::<Vec<_>>().join(", ")
    };
    let by = listed(summary.by_normaliser.iter().map(|(by, count)| (by.name(), *count)).collect());
    let why = listed(summary.not_compared.iter().map(|(why, count)| (why.words(), *count)).collect());
    let apart = listed(summary.trees_apart.iter().map(|(by, count)| (by.name(), *count)).collect());
    let left: u64 = summary.not_compared.values().sum();
    let only_files = match summary.only_files {
        0 => String::new(),
        count => format!("of {} only the files", units::count(count)),
    };
    let mut text = String::new();
    let mut row = |name: &str, figure: String, more: &str| {
        let line = format!("{name:<15} {figure:>8}  {}", style.dim(more));
        text.push_str(line.trim_end());
        text.push('\n');
    };
    row("calls", units::count(summary.calls), "");
    row("same", units::count(summary.same), "byte for byte");
    row("normalised", units::count(summary.normalised), "");
    row("another order", units::count(summary.reordered), if summary.reordered > 0 { "the same lines" } else { "" });
    if !by.is_empty() {
        row("  taken out", String::new(), &by);
    }
    row("diverging", units::count(summary.diverging), &only_files);
    row("not compared", units::count(left), &why);
    let share =
        summary.reproduced_permille().map_or_else(|| "-".to_owned(), |share| format!("{}.{}%", share / 10, share % 10));
    let of = format!("{} of {} compared", units::count(summary.reproduced()), units::count(summary.compared()));
    row("reproduced", share, &of);
    let trees = format!("{}/{}", units::count(summary.trees_alike), units::count(summary.trees));
    row("same files", trees, &if apart.is_empty() { String::new() } else { format!("but for: {apart}") });
    let (then, now) = summary.duration_ms;
    row("time", units::duration(now), &format!("then {}", units::duration(then)));
    let verdict = match (summary.diverging, summary.compared()) {
        (0, 0) => style.yellow("nothing could be compared"),
        (0, _) => style.green("every call that was compared came to the same"),
        (1, _) => style.red("1 call diverges"),
        (count, _) => style.red(&format!("{} calls diverge", units::count(count))),
    };
    format!("{text}{verdict}\n")
}

fn exit_words(exit: Option<ToolExit>) -> String {
    match exit {
        None => "none".to_owned(),
        Some(ToolExit { timed_out: true, .. }) => "timed out".to_owned(),
        Some(ToolExit { code: Some(code), .. }) => code.to_string(),
        Some(ToolExit { signal: Some(signal), .. }) => format!("signal {signal}"),
        Some(ToolExit { .. }) => "unknown".to_owned(),
    }
}

const fn error_words(outcome: &CallOutcome) -> &'static str {
    if outcome.is_error { "a failure" } else { "a success" }
}

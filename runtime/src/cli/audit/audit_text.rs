//! The record as people read it: a line for each call, and below it what there is to say. All words come from outside and are redacted
//! and cleaned.

use crate::audit::{AuditEnd, AuditRow, AuditTotals, AuditedCall, FileHow, NetworkUse, RowKind, TreeChanges};
use crate::cli::render::{Style, clean, units};
use crate::tools;
use retrace_events::StreamId;
use retrace_events::payload::sandbox::SandboxStarted;
use retrace_events::payload::tool::ToolExit;
use retrace_events::redact::Redactor;
use retrace_sandbox::snapshot::{Change, ChangeKind, ItemKind};

/// Paths that are listed below one row.
const LISTED: usize = 40;
/// The longest line of foreign words, in characters.
const MAX_CHARS: usize = 300;

/// Makes text of rows.
pub(super) struct AuditText<'a> {
    style: Style,
    redactor: &'a Redactor,
    stream: &'a StreamId,
}

impl<'a> AuditText<'a> {
    /// One for the record of `stream`.
    pub(super) const fn new(style: Style, redactor: &'a Redactor, stream: &'a StreamId) -> Self {
        Self { style, redactor, stream }
    }

    /// A row, with its line end.
    pub(super) fn row(&self, row: &AuditRow, changes: &TreeChanges) -> String {
        let (stream, seq) = &row.event;
        let number = if stream == self.stream { format!("#{seq}") } else { format!("{}@{seq}", stream.id) };
        let head = self.style.dim(&format!("{}  {number:>6}  ", units::moment(row.at)));
        let (line, mut below) = match &row.kind {
            RowKind::Call(call) => self.call(call),
            RowKind::Started(started) => self.started(started),
            RowKind::Stopped(stopped) => {
                let how = if stopped.unexpected { self.style.red("unexpectedly") } else { "as asked".to_owned() };
                (format!("sandbox ended {how}: {}", self.foreign(&stopped.why)), Vec::new())
            }
            RowKind::ByHand(_) => ("files were changed, and by no call".to_owned(), Vec::new()),
            RowKind::Network(network) => (self.network(network), Vec::new()),
            RowKind::Limit(limit, detail) => (self.limit(limit, detail), Vec::new()),
        };
        below.extend(self.changes(changes));
        let mut text = format!("{head}{line}\n");
        for line in below {
            text.push_str(&format!("    {line}\n"));
        }
        text
    }

    fn call(&self, call: &AuditedCall) -> (String, Vec<String>) {
        let tool = if call.tool.is_empty() { "?" } else { &call.tool };
        let input = serde_json::from_str(&call.input).unwrap_or_default();
        let summary = tools::named(tool).map(|known| known.summary(&input));
        let summary = call.command().or(summary).unwrap_or_default();
        let part = if call.part_of.is_some() { "  in a batch" } else { "" };
        let line = format!(
            "{}  {}{}",
            self.style.bold(&clean::short(tool, 40)),
            clean::short(&self.redactor.redact(&summary), MAX_CHARS),
            self.style.dim(part)
        );
        let mut below = vec![self.end(call)];
        below.extend(self.files(call));
        below.extend(call.network.iter().map(|network| self.network(network)));
        below.extend(call.limits.iter().map(|(limit, detail)| self.limit(limit, detail)));
        let refused = |(what, detail): &(String, String)| {
            let what = clean::short(&what.replace('_', " "), 40);
            format!("{} {what}: {}", self.style.yellow("refused:"), self.foreign(detail))
        };
        below.extend(call.refused.iter().map(refused));
        (line, below)
    }

    fn end(&self, call: &AuditedCall) -> String {
        let allowed: Vec<String> = call.allowed_by.iter().map(|by| clean::short(by, 80)).collect();
        let allowed = if allowed.is_empty() { String::new() } else { format!(" · allowed by {}", allowed.join(", ")) };
        let repeats = call.repeats.map(|from| format!(" · result of event {from} repeated, not run"));
        let facts = self.style.dim(&format!("{}{allowed}", repeats.unwrap_or_default()));
        match &call.end {
            AuditEnd::Open => format!("{}{facts}", self.style.yellow("has no result")),
            AuditEnd::Finished { failed, exit, duration_ms } => {
                let end = ending(*exit, *failed);
                let end = if *failed { self.style.red(&end) } else { self.style.green(&end) };
                format!("{end}{}{facts}", self.style.dim(&format!(" · {}", units::duration(*duration_ms))))
            }
            AuditEnd::Denied { by, why } => {
                format!("{} by {}: {}{facts}", self.style.yellow("denied"), clean::short(by, 120), self.foreign(why))
            }
            AuditEnd::Unknown(why) => format!("{}: {}{facts}", self.style.yellow("outcome unknown"), self.foreign(why)),
        }
    }

    fn files(&self, call: &AuditedCall) -> Vec<String> {
        let hows = [FileHow::Read, FileHow::Written, FileHow::Listed, FileHow::Searched];
        let line = |how: FileHow| {
            let paths: Vec<String> =
                call.files.iter().filter(|(known, _)| *known == how).map(|(_, path)| self.foreign(path)).collect();
            (!paths.is_empty()).then(|| format!("{}: {}", how.word(), paths.join(", ")))
        };
        hows.into_iter().filter_map(line).collect()
    }

    fn changes(&self, changes: &TreeChanges) -> Vec<String> {
        match changes {
            TreeChanges::Nothing => Vec::new(),
            TreeChanges::Unknown(why) => {
                vec![format!("{} {}", self.style.yellow("what changed is not known:"), self.foreign(why))]
            }
            TreeChanges::Paths(paths) => {
                let mut lines: Vec<String> = paths.iter().take(LISTED).map(|change| self.change(change)).collect();
                if paths.len() > LISTED {
                    lines.push(self.style.dim(&format!("… {} more", paths.len() - LISTED)));
                }
                lines
            }
        }
    }

    fn change(&self, change: &Change) -> String {
        let path = clean::line(&self.redactor.redact(&change.path.display().to_string()));
        let size = |item: &Option<retrace_sandbox::snapshot::Item>| {
            item.as_ref().filter(|item| item.kind != ItemKind::Folder).map(|item| units::size(item.size))
        };
        match change.kind() {
            ChangeKind::Added => {
                let size = size(&change.after).map(|size| format!("  {size}")).unwrap_or_default();
                self.style.green(&format!("created {path}{size}"))
            }
            ChangeKind::Deleted => self.style.red(&format!("deleted {path}")),
            ChangeKind::Modified => match (size(&change.before), size(&change.after)) {
                (Some(before), Some(after)) if before != after => format!("modified {path}  {before} -> {after}"),
                (_, _) => format!("modified {path}"),
            },
            ChangeKind::Replaced => format!("replaced {path}"),
            ChangeKind::Mode => {
                let mode = |item: &Option<retrace_sandbox::snapshot::Item>| item.as_ref().map_or(0, |item| item.mode);
                format!("mode of {path}  {:o} -> {:o}", mode(&change.before), mode(&change.after))
            }
        }
    }

    fn network(&self, network: &NetworkUse) -> String {
        let word = if network.allowed() { "network:".to_owned() } else { self.style.yellow("network refused:") };
        let more = match network {
            NetworkUse::Attempt(_) => String::new(),
            NetworkUse::Connection(used) => {
                let why = if used.why.is_empty() { String::new() } else { format!(" · {}", self.foreign(&used.why)) };
                let credential = used.credential.as_ref();
                let credential = credential.map(|name| format!(" · with the credential {}", clean::short(name, 80)));
                format!(
                    " ({}) · {} out, {} in · {}{}{why}",
                    clean::short(&used.how, 20),
                    units::size(used.sent_bytes),
                    units::size(used.received_bytes),
                    units::duration(used.duration_ms),
                    credential.unwrap_or_default()
                )
            }
        };
        format!("{word} {}{more}", self.foreign(&network.destination()))
    }

    fn limit(&self, limit: &str, detail: &str) -> String {
        format!("{} {}: {}", self.style.yellow("limit hit:"), clean::short(limit, 40), self.foreign(detail))
    }

    fn started(&self, started: &SandboxStarted) -> (String, Vec<String>) {
        let passed = started.proofs.iter().filter(|proof| proof.passed).count();
        let words = format!(
            "sandbox {}, level {}: {passed} of {} held",
            clean::short(&started.backend, 40),
            clean::short(&started.level, 40),
            units::of(started.proofs.len() as u64, "proof")
        );
        let line =
            if started.backend == "none" { self.style.red("NO SANDBOX: commands ran as the user") } else { words };
        let failed = started.proofs.iter().filter(|proof| !proof.passed);
        let below = failed.map(|proof| {
            let (name, detail) = (clean::short(&proof.name, 80), self.foreign(&proof.detail));
            format!("{} {name}: {detail}", self.style.yellow("did not hold:"))
        });
        (line, below.collect())
    }

    /// The sums below the rows.
    pub(super) fn totals(&self, totals: &AuditTotals, rows: u64) -> String {
        if rows == 0 {
            return "nothing of that kind is on record\n".to_owned();
        }
        let mut parts = vec![units::of(totals.calls, "call")];
        let mut add = |number: u64, words: String| {
            if number > 0 {
                parts.push(words);
            }
        };
        let failed = match totals.commands_failed {
            0 => String::new(),
            failed => format!(" ({} failed)", units::count(failed)),
        };
        add(totals.commands, format!("{}{failed}", units::of(totals.commands, "command")));
        add(totals.repeated, format!("{} repeated", units::of(totals.repeated, "result")));
        add(totals.files_read, format!("{} read", units::of(totals.files_read, "file")));
        add(totals.files_written, format!("{} written", units::of(totals.files_written, "file")));
        let changed = totals.created + totals.modified + totals.deleted + totals.mode_changed;
        let (created, modified, deleted) = (totals.created, totals.modified, totals.deleted);
        let words = format!("paths: {created} created, {modified} modified, {deleted} deleted");
        add(changed, format!("{words}, {} of another mode", totals.mode_changed));
        add(
            totals.unknown_changes,
            format!("{} that may have changed more", units::of(totals.unknown_changes, "call")),
        );
        let bytes = format!("{} out, {} in", units::size(totals.sent_bytes), units::size(totals.received_bytes));
        add(totals.connections, format!("{} ({bytes})", units::of(totals.connections, "connection")));
        add(totals.connections_refused, format!("{} refused", units::of(totals.connections_refused, "connection")));
        add(totals.denied, format!("{} denied", units::of(totals.denied, "call")));
        add(totals.refused, units::of(totals.refused, "refusal"));
        add(totals.limits_hit, format!("{} hit", units::of(totals.limits_hit, "limit")));
        format!("\n{}\n", parts.join(" · "))
    }

    fn foreign(&self, text: &str) -> String {
        clean::short(&self.redactor.redact(text), MAX_CHARS)
    }
}

fn ending(exit: Option<ToolExit>, failed: bool) -> String {
    match exit {
        Some(ToolExit { timed_out: true, .. }) => "timed out".to_owned(),
        Some(ToolExit { signal: Some(signal), .. }) => format!("signal {signal}"),
        Some(ToolExit { code: Some(code), .. }) => format!("exit {code}"),
        Some(ToolExit { .. }) | None => if failed { "failed" } else { "ok" }.to_owned(),
    }
}

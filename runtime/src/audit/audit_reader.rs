//! [`AuditReader`]: the fold that makes the record of a session's events.

use super::audit_row::{AuditEnd, AuditRow, AuditedCall, FileHow, FilesBehind, NetworkUse, RowKind};
use retrace_events::fold::FilesAt;
use retrace_events::payload::tool::{ToolCalled, ToolEffect, ToolFinished};
use retrace_events::payload::{Payload, Sandbox, Tool, Turn, Workspace};
use retrace_events::{CallId, Event, StreamId};
use serde::Deserialize;
use std::collections::HashMap;

/// The fold. Give it the whole history, since what was before a fork says what the files were.
#[derive(Debug, Default)]
pub(crate) struct AuditReader {
    rows: Vec<AuditRow>,
    /// Where calls stand among the rows.
    calls: HashMap<CallId, usize>,
    /// Calls that are parts, by their ids: of which, and what they are.
    parts: HashMap<CallId, (CallId, String, String)>,
    /// Calls of the newest answer: what is denied is never begun.
    asked: HashMap<CallId, (String, String)>,
    files: FilesAt,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    id: Option<String>,
    name: Option<String>,
    input: Option<Box<serde_json::value::RawValue>>,
}

impl AuditReader {
    /// The record so far, in order.
    pub(crate) fn into_rows(self) -> Vec<AuditRow> {
        self.rows
    }

    /// Takes in the event at `place` of the history.
    pub(crate) fn apply(&mut self, place: u64, event: &Event) {
        let Some(payload) = event.payload.known() else { return };
        match payload {
            Payload::Turn(Turn::Answered(answer)) => self.asked_for(&answer.content),
            Payload::Tool(tool) => self.tool(place, event, tool),
            Payload::Sandbox(sandbox) => self.sandbox(place, event, sandbox),
            Payload::Workspace(workspace) => self.workspace(place, event, workspace),
            Payload::Turn(_)
            | Payload::Session(_)
            | Payload::Context(_)
            | Payload::Summary(_)
            | Payload::Job(_)
            | Payload::Control(_) => {}
        }
    }

    fn asked_for(&mut self, content: &str) {
        let blocks: Vec<Block> = serde_json::from_str(content).unwrap_or_default();
        self.asked.clear();
        for block in blocks.into_iter().filter(|block| block.kind == "tool_use") {
            let input = block.input.map_or_else(|| "{}".to_owned(), |input| input.get().to_owned());
            self.asked.insert(CallId(block.id.unwrap_or_default()), (block.name.unwrap_or_default(), input));
        }
    }

    fn tool(&mut self, place: u64, event: &Event, tool: &Tool) {
        match tool {
            Tool::Called(called) => self.called(place, event, called),
            Tool::Parted(parted) => {
                for part in &parted.parts {
                    let what = (parted.call.clone(), part.tool.clone(), part.input.clone());
                    self.parts.insert(part.call.clone(), what);
                }
                self.of(place, event, &parted.call, |call| call.is_whole = true);
            }
            Tool::Approved(approved) => {
                self.of(place, event, &approved.call, |call| call.allowed_by.push(approved.by.clone()));
            }
            Tool::ResultReused(reused) => {
                self.of(place, event, &reused.call, |call| call.repeats = Some(reused.from));
            }
            Tool::Refused(refused) => {
                let what = (refused.what.clone(), refused.detail.clone());
                self.of(place, event, &refused.call, |call| call.refused.push(what));
            }
            Tool::Denied(denied) => self.of(place, event, &denied.call, |call| {
                call.end = AuditEnd::Denied { by: denied.by.clone(), why: denied.content.clone() };
                call.behind = FilesBehind::Untouched;
            }),
            Tool::Finished(finished) => self.of(place, event, &finished.call, |call| finish(call, finished)),
            Tool::OutcomeUnknown(unknown) => self.of(place, event, &unknown.call, |call| {
                call.end = AuditEnd::Unknown(unknown.content.clone());
            }),
            Tool::ApprovalAsked(_) | Tool::BackgroundStarted(_) | Tool::BackgroundEnded(_) => {}
        }
    }

    fn called(&mut self, place: u64, event: &Event, called: &ToolCalled) {
        let behind = match (called.effect, &self.files) {
            (ToolEffect::ReadOnly, _) => FilesBehind::Untouched,
            (ToolEffect::Writes, FilesAt::At(_)) => FilesBehind::Same,
            (ToolEffect::Writes, FilesAt::Unknown) => FilesBehind::Unknown("no snapshots were taken".to_owned()),
            (ToolEffect::Writes, FilesAt::Failed(why)) => FilesBehind::Unknown(why.clone()),
        };
        self.of(place, event, &called.call, |call| {
            call.tool.clone_from(&called.tool);
            call.input.clone_from(&called.input);
            call.behind = behind;
        });
    }

    fn sandbox(&mut self, place: u64, event: &Event, sandbox: &Sandbox) {
        match sandbox {
            Sandbox::Started(started) => self.push(place, event, RowKind::Started(started.clone())),
            Sandbox::Stopped(stopped) => self.push(place, event, RowKind::Stopped(stopped.clone())),
            Sandbox::LimitHit(hit) => match &hit.call {
                Some(call) => {
                    let what = (hit.limit.clone(), hit.detail.clone());
                    self.of(place, event, call, |call| call.limits.push(what));
                }
                None => self.push(place, event, RowKind::Limit(hit.limit.clone(), hit.detail.clone())),
            },
            Sandbox::NetworkAttempted(attempt) => {
                self.network(place, event, attempt.call.as_ref(), NetworkUse::Attempt(attempt.clone()));
            }
            Sandbox::Connection(connection) => {
                self.network(place, event, connection.call.as_ref(), NetworkUse::Connection(connection.clone()));
            }
        }
    }

    /// A connection. The call that it names is what the sandbox says: one that nobody made is none.
    fn network(&mut self, place: u64, event: &Event, call: Option<&CallId>, network: NetworkUse) {
        let known = call.and_then(|call| self.calls.get(call)).and_then(|at| self.rows.get_mut(*at));
        match known.map(|row| &mut row.kind) {
            Some(RowKind::Call(call)) => call.network.push(network),
            _ => self.push(place, event, RowKind::Network(network)),
        }
    }

    fn workspace(&mut self, place: u64, event: &Event, workspace: &Workspace) {
        let before = self.files.tree().map(str::to_owned);
        let (call, behind) = match workspace {
            Workspace::Snapshotted(taken) => {
                (&taken.after, FilesBehind::Changed { before: before.clone(), after: taken.tree.clone() })
            }
            Workspace::SnapshotFailed(failed) => (&failed.after, FilesBehind::Unknown(failed.why.clone())),
        };
        // The first one of all says what there was, and nothing of a change.
        let is_first = self.files == FilesAt::Unknown;
        self.files = FilesAt::of(workspace);
        match call {
            Some(call) => self.of(place, event, call, |call| call.behind = behind),
            None if is_first && matches!(workspace, Workspace::Snapshotted(_)) => {}
            None => self.push(place, event, RowKind::ByHand(behind)),
        }
    }

    fn push(&mut self, place: u64, event: &Event, kind: RowKind) {
        self.rows.push(row(place, event, kind));
    }

    /// Changes the call's own row; it is made where the call is first heard of.
    fn of(&mut self, place: u64, event: &Event, call: &CallId, change: impl FnOnce(&mut AuditedCall)) {
        // An id may come again in a long history: what is over is another call.
        let is_over = |row: &AuditRow| !matches!(&row.kind, RowKind::Call(known) if known.end == AuditEnd::Open);
        let known = self.calls.get(call).copied();
        let known = known.filter(|at| self.rows.get(*at).is_some_and(|row| !(began(event) && is_over(row))));
        let at = known.unwrap_or_else(|| {
            let (part_of, tool, input) = match (self.parts.get(call), self.asked.get(call)) {
                (Some((whole, tool, input)), _) => (Some(whole.clone()), tool.clone(), input.clone()),
                (None, Some((tool, input))) => (None, tool.clone(), input.clone()),
                (None, None) => (None, String::new(), "{}".to_owned()),
            };
            self.rows.push(row(place, event, RowKind::Call(Box::new(new_call(call, part_of, tool, input)))));
            self.calls.insert(call.clone(), self.rows.len() - 1);
            self.rows.len() - 1
        });
        if let Some(RowKind::Call(call)) = self.rows.get_mut(at).map(|row| &mut row.kind) {
            change(call);
        }
    }
}

fn finish(call: &mut AuditedCall, finished: &ToolFinished) {
    let (failed, exit) = (finished.is_error, finished.exit);
    call.end = AuditEnd::Finished { failed, exit, duration_ms: finished.duration_ms };
    let named = if failed { None } else { named_file(call) };
    let written = finished.changed.iter().map(|path| (FileHow::Written, path.clone()));
    for file in named.into_iter().chain(written) {
        if !call.files.contains(&file) {
            call.files.push(file);
        }
    }
    if call.repeats.is_some() {
        call.behind = FilesBehind::Untouched;
    }
}

/// Whether the event begins a call, rather than saying something of one.
fn began(event: &Event) -> bool {
    matches!(event.payload.known(), Some(Payload::Tool(Tool::Called(_) | Tool::Denied(_) | Tool::Approved(_))))
}

fn row(place: u64, event: &Event, kind: RowKind) -> AuditRow {
    let stream: StreamId = event.envelope.stream.clone();
    AuditRow { event: (stream, event.envelope.seq), place, at: event.envelope.at, kind }
}

fn new_call(call: &CallId, part_of: Option<CallId>, tool: String, input: String) -> AuditedCall {
    AuditedCall {
        call: call.clone(),
        part_of,
        tool,
        input,
        is_whole: false,
        allowed_by: Vec::new(),
        files: Vec::new(),
        behind: FilesBehind::Untouched,
        end: AuditEnd::Open,
        repeats: None,
        refused: Vec::new(),
        limits: Vec::new(),
        network: Vec::new(),
    }
}

/// The file or folder that a call names and looks at.
fn named_file(call: &AuditedCall) -> Option<(FileHow, String)> {
    let input: serde_json::Value = serde_json::from_str(&call.input).ok()?;
    let path = input["path"].as_str().filter(|path| !path.is_empty());
    match call.tool.as_str() {
        "read_file" => Some((FileHow::Read, path?.to_owned())),
        "list_dir" => Some((FileHow::Listed, path.unwrap_or(".").to_owned())),
        "search_files" => Some((FileHow::Searched, path.unwrap_or(".").to_owned())),
        _ => None,
    }
}

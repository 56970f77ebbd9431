//! From events to documents, one after the other, with what has to be known of the events before: bounded, and stored beside the
//! documents it led to.

use super::answer::answer_units;
use super::call_input::CallInput;
use super::notes::{context_unit, ended_unit, exit_code, failed_unit, sandbox_unit, session_unit};
use super::open_calls::{OpenCalls, name};
use super::paths::add_path;
use super::unit::{Extracted, Unit};
use crate::document::{Document, DocumentKind};
use retrace_events::codec::Decoded;
use retrace_events::log::Position;
use retrace_events::payload::tool::{ToolBackgroundEnded, ToolCalled, ToolFinished};
use retrace_events::payload::turn::TurnPrompted;
use retrace_events::payload::{Payload, Sandbox, Session, Tool, Turn};
use retrace_events::redact::Redactor;
use retrace_events::{CallId, Event, StreamId};
use serde::{Deserialize, Serialize};

/// The longest path of a workspace that is remembered, in bytes; a longer one cannot be a folder's.
const MAX_WORKSPACE_BYTES: usize = 4 * 1024;
/// Tools whose results are documents already, found where they first stood: they are not to be found a second time. Nor is
/// what they look for, or the best answer to a question would be the question.
const ECHOING_TOOLS: &[&str] = &["recall"];

/// Where a session's documents have come to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionCursor {
    stream: String,
    workspace: String,
    /// The next event's place; what comes from before is known already.
    next_seq: u64,
    /// The next unit's place.
    ordinal: u64,
    step: u64,
    calls: OpenCalls,
}

impl SessionCursor {
    /// Before the first event of `stream`.
    pub(crate) fn new(stream: &StreamId) -> Self {
        Self {
            stream: stream.subject(),
            workspace: String::new(),
            next_seq: 0,
            ordinal: 0,
            step: 0,
            calls: OpenCalls::default(),
        }
    }

    /// The workspace, as the session named it; empty before its first event.
    pub(crate) fn workspace(&self) -> &str {
        &self.workspace
    }

    /// The documents of the session's next event. An event that was seen before, and one of another stream, has none.
    pub(crate) fn apply(&mut self, position: Position, event: &Event, redactor: &Redactor) -> Extracted {
        let envelope = &event.envelope;
        let mut extracted = Extracted::default();
        if envelope.seq < self.next_seq || envelope.stream.subject() != self.stream {
            return extracted;
        }
        self.next_seq = envelope.seq + 1;
        let Decoded::Known(payload) = &event.payload else { return extracted };
        if let Payload::Session(session) = payload.as_ref() {
            self.begin(session);
        }
        for unit in self.units(payload, redactor) {
            let blank = Document {
                stream: self.stream.clone(),
                workspace: self.workspace.clone(),
                seq: envelope.seq,
                event: envelope.id.to_string(),
                position: position.0,
                at_ms: i64::try_from(envelope.at.0).unwrap_or(i64::MAX),
                ordinal: self.ordinal,
                step: self.step,
                ..Document::default()
            };
            if unit.extract(&blank, redactor, &mut extracted) {
                self.ordinal += 1;
            }
        }
        extracted
    }

    fn begin(&mut self, session: &Session) {
        let workspace = match session {
            Session::Started(started) => &started.workspace,
            Session::Forked(forked) => &forked.workspace,
            Session::Configured(_)
            | Session::Closed(_)
            | Session::ControlHandled(_)
            | Session::RuleAdded(_)
            | Session::Planned(_)
            | Session::Imported(_) => return,
        };
        if workspace.len() <= MAX_WORKSPACE_BYTES {
            self.workspace.clone_from(workspace);
        }
    }

    fn units(&mut self, payload: &Payload, redactor: &Redactor) -> Vec<Unit> {
        match payload {
            Payload::Turn(turn) => self.turn_units(turn),
            Payload::Tool(tool) => self.tool_unit(tool, redactor).into_iter().collect(),
            Payload::Session(session) => session_unit(session).into_iter().collect(),
            Payload::Sandbox(sandbox) => self.sandbox_unit(sandbox).into_iter().collect(),
            Payload::Context(context) => context_unit(context).into_iter().collect(),
            // What others say to a session shows in the session itself; summaries are another cursor's.
            Payload::Control(_) | Payload::Summary(_) | Payload::Workspace(_) | Payload::Job(_) => Vec::new(),
        }
    }

    fn turn_units(&mut self, turn: &Turn) -> Vec<Unit> {
        match turn {
            Turn::Prompted(prompted) => {
                self.step += 1;
                vec![prompt_unit(prompted)]
            }
            Turn::Answered(answered) => {
                self.step += 1;
                self.calls.forget_done();
                answer_units(&answered.content)
            }
            Turn::Failed(failed) => vec![failed_unit(failed)],
            Turn::Interrupted(interrupted) => {
                vec![Unit::note(format!("interrupted by {} during {}", interrupted.by, interrupted.during))]
            }
            Turn::Ended(ended) => ended_unit(ended).into_iter().collect(),
            Turn::Warned(warned) => vec![Unit::note(format!("warned ({}): {}", warned.rule, warned.note))],
            // A queued prompt is said when its turn comes; a request says nothing that its answer does not.
            Turn::Queued(_) | Turn::Requested(_) => Vec::new(),
        }
    }

    fn tool_unit(&mut self, tool: &Tool, redactor: &Redactor) -> Option<Unit> {
        match tool {
            Tool::Called(called) => self.call_unit(called, redactor),
            Tool::Finished(finished) => self.result_unit(finished),
            Tool::Denied(denied) => Some(self.failure_unit(&denied.call, &denied.content)),
            Tool::OutcomeUnknown(unknown) => Some(self.failure_unit(&unknown.call, &unknown.content)),
            Tool::BackgroundStarted(started) => {
                self.calls.goes_on(&started.call);
                None
            }
            Tool::BackgroundEnded(ended) => Some(self.background_unit(ended)),
            // The call was said when it was made.
            Tool::Approved(_) | Tool::ApprovalAsked(_) => None,
        }
    }

    fn call_unit(&mut self, called: &ToolCalled, redactor: &Redactor) -> Option<Unit> {
        // First as JSON, where a secret stands beside its name; then, with all else, as words.
        let input = CallInput::of(&redactor.redact(&called.input), &self.workspace);
        self.calls.begin(&called.call, &called.tool, &input.paths);
        let tool = name(&called.tool);
        (!echoes(&tool)).then(|| Unit {
            kind: DocumentKind::Call,
            text: format!("{tool} {}", input.words),
            tool: Some(tool),
            paths: input.paths,
            ..Unit::default()
        })
    }

    fn result_unit(&mut self, finished: &ToolFinished) -> Option<Unit> {
        self.calls.done(&finished.call);
        let call = self.calls.get(&finished.call);
        if echoes(&call.tool) {
            return None;
        }
        let mut paths = call.paths.clone();
        finished.changed.iter().for_each(|path| add_path(&mut paths, path, &self.workspace));
        Some(Unit {
            kind: DocumentKind::Result,
            tool: call.tool(),
            paths,
            exit: finished.exit.and_then(exit_code),
            is_error: finished.is_error,
            text: finished.content.clone(),
            output: finished.output,
        })
    }

    /// A result that says why there is none.
    fn failure_unit(&mut self, call: &CallId, content: &str) -> Unit {
        self.calls.done(call);
        let call = self.calls.get(call);
        Unit { kind: DocumentKind::Result, tool: call.tool(), paths: call.paths, ..Unit::failure(content) }
    }

    fn background_unit(&mut self, ended: &ToolBackgroundEnded) -> Unit {
        let call = self.calls.get(&ended.call);
        self.calls.over(&ended.call);
        let exit = ended.exit.and_then(exit_code);
        let code = exit.map_or_else(String::new, |code| format!(", exit {code}"));
        Unit {
            kind: DocumentKind::Result,
            tool: call.tool(),
            paths: call.paths,
            exit,
            is_error: exit.is_some_and(|code| code != 0),
            text: format!("background command ended{code}: {}", ended.why),
            output: ended.output,
        }
    }

    fn sandbox_unit(&self, sandbox: &Sandbox) -> Option<Unit> {
        let call = match sandbox {
            Sandbox::LimitHit(hit) => hit.call.as_ref(),
            Sandbox::NetworkAttempted(attempt) => attempt.call.as_ref(),
            Sandbox::Connection(used) => used.call.as_ref(),
            Sandbox::Started(_) | Sandbox::Stopped(_) => None,
        };
        let call = call.map(|call| self.calls.get(call)).unwrap_or_default();
        sandbox_unit(sandbox).map(|unit| Unit { tool: call.tool(), paths: call.paths, ..unit })
    }
}

fn echoes(tool: &str) -> bool {
    ECHOING_TOOLS.contains(&tool)
}

fn prompt_unit(prompted: &TurnPrompted) -> Unit {
    let names = prompted.attachments.iter().map(|attachment| attachment.name.as_str()).collect::<Vec<_>>();
    let text = match names.as_slice() {
        [] => prompted.text.clone(),
        names => format!("{}\nattached: {}", prompted.text, names.join(", ")),
    };
    Unit { kind: DocumentKind::Prompt, text, ..Unit::default() }
}

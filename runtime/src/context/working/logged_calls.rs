//! Events as what happened: prompts, the blocks of answers, and the results of calls.

use super::calls::{action, strings, within};
use super::happening::{Action, Happening, Outcome, Speaker};
use super::results::outcome;
use super::working_set::WorkingSet;
use retrace_events::payload::tool::ToolExit;
use retrace_events::payload::{Context, Payload, Session, Tool, Turn};
use retrace_events::{CallId, Event};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::VecDeque;

/// The most calls that wait for their results, and how much their inputs may have together, in bytes.
const MAX_OPEN: usize = 256;
const MAX_OPEN_BYTES: usize = 16 * 1024 * 1024;

/// Calls that wait for their results, and where they are carried out.
#[derive(Debug, Default)]
pub(super) struct LoggedCalls {
    workspace: String,
    open: VecDeque<OpenCall>,
    bytes: usize,
}

#[derive(Debug)]
struct OpenCall {
    id: String,
    action: Action,
    bytes: usize,
}

/// A block of an answer.
#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    thinking: Option<String>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Box<RawValue>>,
}

impl LoggedCalls {
    /// The workspace's absolute path.
    pub(super) fn workspace(&self) -> &str {
        &self.workspace
    }

    fn knows(&self, id: &str) -> bool {
        self.open.iter().any(|call| call.id == id)
    }

    fn add(&mut self, id: &str, action: Action, bytes: usize) {
        self.bytes += bytes;
        self.open.push_back(OpenCall { id: id.to_owned(), action, bytes });
        while self.open.len() > MAX_OPEN || (self.bytes > MAX_OPEN_BYTES && self.open.len() > 1) {
            if let Some(oldest) = self.open.pop_front() {
                self.bytes -= oldest.bytes;
            }
        }
    }

    fn take(&mut self, id: &CallId) -> Option<Action> {
        let place = self.open.iter().position(|call| call.id == id.0)?;
        let call = self.open.remove(place)?;
        self.bytes -= call.bytes;
        Some(call.action)
    }
}

impl WorkingSet {
    /// Takes in the next event.
    pub fn apply(&mut self, event: &Event) {
        self.at_event(event.envelope.seq);
        match event.payload.known() {
            Some(Payload::Session(Session::Started(started))) => self.calls.workspace.clone_from(&started.workspace),
            Some(Payload::Session(Session::Forked(forked))) => self.calls.workspace.clone_from(&forked.workspace),
            Some(Payload::Turn(turn)) => self.turn(turn),
            Some(Payload::Tool(tool)) => self.tool(tool),
            Some(Payload::Context(Context::Compacted(compacted))) => self.said(Speaker::Summary, &compacted.summary),
            Some(
                Payload::Session(
                    Session::Configured(_)
                    | Session::Closed(_)
                    | Session::ControlHandled(_)
                    | Session::RuleAdded(_)
                    | Session::Planned(_)
                    | Session::Imported(_),
                )
                | Payload::Context(Context::EpochStarted(_) | Context::Retrieved(_) | Context::ImageAttached(_))
                | Payload::Sandbox(_)
                | Payload::Workspace(_)
                | Payload::Summary(_)
                | Payload::Job(_)
                | Payload::Control(_),
            )
            | None => {}
        }
    }

    fn turn(&mut self, turn: &Turn) {
        match turn {
            Turn::Prompted(prompt) => self.said(Speaker::User, &prompt.text),
            Turn::Warned(warned) => self.said(Speaker::Program, &warned.note),
            Turn::Answered(answer) => {
                let blocks: Vec<Block> = serde_json::from_str(&answer.content).unwrap_or_default();
                blocks.iter().for_each(|block| self.block(block));
            }
            Turn::Requested(_) | Turn::Failed(_) | Turn::Interrupted(_) | Turn::Ended(_) | Turn::Queued(_) => {}
        }
    }

    fn block(&mut self, block: &Block) {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        match block.kind.as_str() {
            "text" => self.said(Speaker::Model, &text(&block.text)),
            "thinking" => self.said(Speaker::Thought, &text(&block.thinking)),
            "tool_use" => {
                let input = block.input.as_deref().map_or("{}", RawValue::get);
                self.call(&text(&block.id), &text(&block.name), input);
            }
            _ => {}
        }
    }

    fn tool(&mut self, tool: &Tool) {
        match tool {
            // An answer that was taken from elsewhere need not hold its calls.
            Tool::Called(called) if !self.calls.knows(&called.call.0) => {
                self.call(&called.call.0, &called.tool, &called.input);
            }
            Tool::Finished(done) => {
                let ending = done.exit.as_ref().and_then(ending);
                self.result(&done.call, &done.content, Some(done.is_error), ending);
            }
            Tool::Denied(denied) => self.result(&denied.call, &denied.content, Some(true), None),
            Tool::OutcomeUnknown(unknown) => self.unknown(&unknown.call, &unknown.content),
            Tool::Called(_)
            | Tool::Approved(_)
            | Tool::ApprovalAsked(_)
            | Tool::BackgroundStarted(_)
            | Tool::BackgroundEnded(_) => {}
        }
    }

    fn call(&mut self, id: &str, tool: &str, input: &str) {
        let value: Value = serde_json::from_str(input).unwrap_or_default();
        let text = if value.is_null() { input.to_owned() } else { strings(&value) };
        let fields = value.as_object().cloned().unwrap_or_default();
        let action = action(tool, &fields, &|path| within(&self.calls.workspace, path));
        self.take(&Happening::Called { action: &action, text: &text });
        self.calls.add(id, action, input.len());
    }

    fn result(&mut self, call: &CallId, text: &str, failed: Option<bool>, ending: Option<String>) {
        let action = self.calls.take(call).unwrap_or_else(unknown_action);
        self.take(&Happening::Came { action: &action, outcome: outcome(&action, text, failed, ending), text });
    }

    fn unknown(&mut self, call: &CallId, text: &str) {
        let action = self.calls.take(call).unwrap_or_else(unknown_action);
        self.take(&Happening::Came { action: &action, outcome: Outcome::Unknown, text });
    }
}

/// What a result is of whose call nobody knows.
pub(crate) fn unknown_action() -> Action {
    Action::Other { name: String::new(), place: None }
}

fn ending(exit: &ToolExit) -> Option<String> {
    match (exit.timed_out, exit.code, exit.signal) {
        (true, _, _) => Some("timed out".to_owned()),
        (false, Some(code), _) => Some(format!("exit {code}")),
        (false, None, Some(signal)) => Some(format!("signal {signal}")),
        (false, None, None) => None,
    }
}

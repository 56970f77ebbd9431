//! Events as what happened: prompts, the blocks of answers, and the results of calls.

use super::calls::{action, strings, within};
use super::happening::{Action, Happening, Outcome};
use super::results::outcome;
use super::told::{Told, told};
use super::working_set::WorkingSet;
use retrace_events::payload::tool::ToolExit;
use retrace_events::{CallId, Event};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::VecDeque;

/// The most calls that wait for their results, and how much their inputs may have together, in bytes.
const MAX_OPEN: usize = 256;
const MAX_OPEN_BYTES: usize = 16 * 1024 * 1024;

/// Calls that wait for their results, and where they are carried out.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct LoggedCalls {
    workspace: String,
    open: VecDeque<OpenCall>,
    bytes: usize,
    /// The call that is made of others and is not over.
    parted: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct OpenCall {
    id: String,
    action: Action,
    bytes: usize,
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

    /// Forgets a call that is made of others.
    fn part(&mut self, id: &CallId) {
        self.take(id);
        self.parted = Some(id.0.clone());
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
        told(event, &mut |told| self.hear(told));
        self.hear_of_context(event);
    }

    fn hear(&mut self, told: Told<'_>) {
        match told {
            Told::Workspace(path) => path.clone_into(&mut self.calls.workspace),
            Told::Said(by, text) => self.said(by, text),
            Told::Called { id, tool, input } => self.call(id, tool, input),
            Told::Begun { id, tool, input } => {
                if !self.calls.knows(id) {
                    self.call(id, tool, input);
                }
            }
            Told::Parted { call } => self.calls.part(call),
            Told::Came { call, .. } | Told::Lost { call, .. }
                if self.calls.parted.take_if(|it| *it == call.0).is_some() => {}
            Told::Came { call, text, failed, exit } => self.result(call, text, failed, exit.and_then(ending)),
            Told::Lost { call, text } => self.unknown(call, text),
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

    fn result(&mut self, call: &CallId, text: &str, failed: bool, ending: Option<String>) {
        let action = self.calls.take(call).unwrap_or_else(unknown_action);
        self.take(&Happening::Came { action: &action, outcome: outcome(&action, text, Some(failed), ending), text });
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

//! Sessions of the log as the benchmark plays them: prompts, the blocks of answers, and the results of calls.
//!
//! What a context was made of (epochs, retrieved passages, images) is not conversation and is left out: the benchmark composes
//! contexts itself.

use super::item::{Item, ItemKind};
use super::session::BenchSession;
use crate::context::touched_paths;
use retrace_events::payload::{Context, Payload, Session, Tool, Turn};
use retrace_events::{CallId, Event};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// Fields of other agents' calls that name a file.
const FILE_FIELDS: [&str; 2] = ["file_path", "notebook_path"];

/// Takes a session's events, in order.
#[derive(Debug, Default)]
pub struct LoggedSession {
    items: Vec<Item>,
    /// Calls by the model's id: tool and path.
    calls: HashMap<String, (String, String)>,
    workspace: String,
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

impl LoggedSession {
    /// Takes the next event.
    pub fn apply(&mut self, event: &Event) {
        let at_ms = event.envelope.at.0.max(self.items.last().map_or(0, |item| item.at_ms));
        match event.payload.known() {
            Some(Payload::Session(Session::Started(started))) => self.workspace.clone_from(&started.workspace),
            Some(Payload::Session(Session::Forked(forked))) => self.workspace.clone_from(&forked.workspace),
            Some(Payload::Turn(turn)) => self.turn(turn, at_ms),
            Some(Payload::Tool(tool)) => self.tool(tool, at_ms),
            Some(Payload::Context(Context::Compacted(compacted))) => {
                self.say(ItemKind::Summary, &compacted.summary, at_ms);
            }
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

    /// The session as it is so far.
    #[must_use]
    pub fn finish(self, id: &str) -> BenchSession {
        BenchSession { id: id.to_owned(), items: self.items }
    }

    fn turn(&mut self, turn: &Turn, at_ms: u64) {
        match turn {
            Turn::Prompted(prompt) => self.say(ItemKind::User, &prompt.text, at_ms),
            Turn::Warned(warned) => self.say(ItemKind::Meta, &warned.note, at_ms),
            Turn::Answered(answer) => {
                let blocks: Vec<Block> = serde_json::from_str(&answer.content).unwrap_or_default();
                for block in blocks {
                    self.block(&block, at_ms);
                }
            }
            Turn::Requested(_) | Turn::Failed(_) | Turn::Interrupted(_) | Turn::Ended(_) | Turn::Queued(_) => {}
        }
    }

    fn block(&mut self, block: &Block, at_ms: u64) {
        match block.kind.as_str() {
            "text" => self.say(ItemKind::Assistant, block.text.as_deref().unwrap_or_default(), at_ms),
            "thinking" => self.say(ItemKind::Thinking, block.thinking.as_deref().unwrap_or_default(), at_ms),
            "tool_use" => {
                let input = block.input.as_deref().map_or("{}", RawValue::get);
                let (id, name) = (block.id.as_deref(), block.name.as_deref());
                self.call(id.unwrap_or_default(), name.unwrap_or_default(), input, at_ms);
            }
            _ => {}
        }
    }

    fn tool(&mut self, tool: &Tool, at_ms: u64) {
        match tool {
            // An answer that was taken from elsewhere need not hold its calls.
            Tool::Called(called) if !self.calls.contains_key(&called.call.0) => {
                self.call(&called.call.0, &called.tool, &called.input, at_ms);
            }
            Tool::Finished(done) => self.result(&done.call, &done.content, at_ms),
            Tool::Denied(denied) => self.result(&denied.call, &denied.content, at_ms),
            Tool::OutcomeUnknown(unknown) => self.result(&unknown.call, &unknown.content, at_ms),
            Tool::Called(_)
            | Tool::Approved(_)
            | Tool::ApprovalAsked(_)
            | Tool::BackgroundStarted(_)
            | Tool::BackgroundEnded(_) => {}
        }
    }

    fn say(&mut self, kind: ItemKind, text: &str, at_ms: u64) {
        if !text.is_empty() {
            self.items.push(Item::new(kind, "", "", text, at_ms));
        }
    }

    fn call(&mut self, id: &str, tool: &str, input: &str, at_ms: u64) {
        let mut item = Item::new(ItemKind::ToolCall, tool, "", input, at_ms);
        item.path = self.path_of(&item, input);
        self.calls.insert(id.to_owned(), (tool.to_owned(), item.path.clone()));
        self.items.push(item);
    }

    fn result(&mut self, call: &CallId, text: &str, at_ms: u64) {
        let (tool, path) = self.calls.get(&call.0).map_or(("", ""), |(tool, path)| (tool, path));
        self.items.push(Item::new(ItemKind::ToolResult, tool, path, text, at_ms));
    }

    /// The file that a call is about, relative to the workspace.
    fn path_of(&self, item: &Item, input: &str) -> String {
        let named = FILE_FIELDS.iter().find_map(|field| item.input(field)).map(str::to_owned);
        let touched = || touched_paths(&item.tool, input, &[]).into_iter().find(|path| !path.ends_with('/'));
        let path = named.or_else(touched).unwrap_or_default();
        let within = path.strip_prefix(self.workspace.as_str()).and_then(|rest| rest.strip_prefix('/'));
        within.filter(|_| !self.workspace.is_empty()).map(str::to_owned).unwrap_or(path)
    }
}

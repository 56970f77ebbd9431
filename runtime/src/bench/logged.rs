//! Sessions of the log as the benchmark plays them: prompts, the blocks of answers, and the results of calls.
//!
//! What a context was made of (epochs, retrieved passages, images) is not conversation and is left out: the benchmark composes
//! contexts itself.

use super::item::{Item, ItemKind};
use super::session::BenchSession;
use crate::context::touched_paths;
use crate::context::working::{Speaker, Told, told};
use retrace_events::{CallId, Event};
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

impl LoggedSession {
    /// Takes the next event.
    pub fn apply(&mut self, event: &Event) {
        let at_ms = event.envelope.at.0.max(self.items.last().map_or(0, |item| item.at_ms));
        told(event, &mut |told| self.hear(told, at_ms));
    }

    /// The session as it is so far.
    #[must_use]
    pub fn finish(self, id: &str) -> BenchSession {
        BenchSession { id: id.to_owned(), items: self.items }
    }

    fn hear(&mut self, told: Told<'_>, at_ms: u64) {
        match told {
            Told::Workspace(path) => path.clone_into(&mut self.workspace),
            Told::Said(by, text) => self.say(kind_of(by), text, at_ms),
            Told::Called { id, tool, input } => self.call(id, tool, input, at_ms),
            Told::Begun { id, tool, input } => {
                if !self.calls.contains_key(id) {
                    self.call(id, tool, input, at_ms);
                }
            }
            // Its result says again what the results of its parts say.
            Told::Parted { .. } => {}
            Told::Came { call, text, .. } | Told::Lost { call, text } => self.result(call, text, at_ms),
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

const fn kind_of(by: Speaker) -> ItemKind {
    match by {
        Speaker::User => ItemKind::User,
        Speaker::Program => ItemKind::Meta,
        Speaker::Model => ItemKind::Assistant,
        Speaker::Thought => ItemKind::Thinking,
        Speaker::Summary => ItemKind::Summary,
    }
}

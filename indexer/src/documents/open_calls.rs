//! Calls whose result has not come: what their results, limits and background commands inherit from them.

use retrace_events::CallId;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The most calls that are remembered; the oldest are forgotten first.
const MAX_CALLS: usize = 256;
/// The most bytes of them.
const MAX_CALLS_BYTES: usize = 64 * 1024;
/// The longest id and the longest name of a tool, in bytes; the API knows none that are longer.
const MAX_NAME_BYTES: usize = 128;

/// What is remembered of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct OpenCall {
    id: String,
    pub(super) tool: String,
    pub(super) paths: Vec<String>,
    /// Whether its result is there. It is remembered all the same for what follows at once: a limit that was hit, a command
    /// that goes on.
    done: bool,
    /// Whether its command goes on in the background.
    background: bool,
}

/// The calls at hand, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct OpenCalls(VecDeque<OpenCall>);

impl OpenCalls {
    pub(super) fn begin(&mut self, id: &CallId, tool: &str, paths: &[String]) {
        let call = OpenCall { id: name(&id.0), tool: name(tool), paths: paths.to_vec(), ..OpenCall::default() };
        self.0.retain(|other| other.id != call.id);
        self.0.push_back(call);
        while self.0.len() > MAX_CALLS || self.0.iter().map(OpenCall::size_bytes).sum::<usize>() > MAX_CALLS_BYTES {
            self.0.pop_front();
        }
    }

    /// What is known of a call; of an unknown one, nothing.
    pub(super) fn get(&self, id: &CallId) -> OpenCall {
        let id = name(&id.0);
        self.0.iter().find(|call| call.id == id).cloned().unwrap_or_default()
    }

    /// Its result is there.
    pub(super) fn done(&mut self, id: &CallId) {
        self.change(id, |call| call.done = true);
    }

    /// Its command goes on.
    pub(super) fn goes_on(&mut self, id: &CallId) {
        self.change(id, |call| call.background = true);
    }

    /// Its command is over.
    pub(super) fn over(&mut self, id: &CallId) {
        self.change(id, |call| call.background = false);
    }

    /// Forgets the calls to which nothing more can come: the model has seen their results.
    pub(super) fn forget_done(&mut self) {
        self.0.retain(|call| !call.done || call.background);
    }

    fn change(&mut self, id: &CallId, change: impl FnOnce(&mut OpenCall)) {
        let id = name(&id.0);
        if let Some(call) = self.0.iter_mut().find(|call| call.id == id) {
            change(call);
        }
    }
}

impl OpenCall {
    /// The tool, unless nothing is known of the call.
    pub(super) fn tool(&self) -> Option<String> {
        (!self.tool.is_empty()).then(|| self.tool.clone())
    }

    fn size_bytes(&self) -> usize {
        self.id.len() + self.tool.len() + self.paths.iter().map(|path| path.len() + 4).sum::<usize>() + 64
    }
}

/// A name, bounded.
pub(super) fn name(name: &str) -> String {
    name[..name.floor_char_boundary(MAX_NAME_BYTES)].to_owned()
}

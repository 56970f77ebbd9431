//! [`PastRuns`]: commands that were run to their end on known files and changed none of them, so that their results may stand for
//! being run again. Whether a command is one whose result depends on the files alone is the user's word, and not known here.
//!
//! Kept strictly: what ended in any other way than by itself, hit a limit, reached for the network or ran beside a command in the
//! background is not in it as a result; and whatever may have changed something that no snapshot holds clears it. Commands that
//! may have done so are in it too, so that whoever asks can judge them by the user's word. Bounded: the oldest go first.

use super::SessionState;
use super::calls::{CallProgress, OpenCall};
use crate::envelope::Envelope;
use crate::hash::Hash;
use crate::id::{CallId, EventId};
use crate::payload::tool::{ToolEffect, ToolFinished};
use crate::payload::{Sandbox, Tool};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;

/// The most commands that are known, and the longest input of one, in bytes.
const MAX_RUNS: usize = 256;
const MAX_INPUT_BYTES: usize = 4 * 1024;

/// The tool that runs commands.
const RUNS_COMMANDS: &str = "bash";

/// What a command's result depends on, as far as the log knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunKey {
    /// The input of the call in one form, see [`RunKey::input_of`].
    pub input: String,
    /// The files, by their id in the store of snapshots.
    pub tree: String,
    /// The sandbox: backend, level and limits, hashed.
    pub sandbox: Hash,
    /// How long a command might run that named no time, in milliseconds.
    pub timeout_ms: u64,
}

/// A command that was run to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastRun {
    /// The call.
    pub call: CallId,
    /// What it depended on; `None` when its result must not be repeated.
    pub key: Option<RunKey>,
    /// Its input in one form.
    pub input: String,
    /// The event that holds its result, and that event's place in the history.
    pub finished: (EventId, u64),
}

/// The newest commands, the oldest first. A copy shares what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PastRuns {
    #[serde(serialize_with = "shared", deserialize_with = "to_share")]
    runs: Arc<VecDeque<PastRun>>,
    /// The call that is being carried out and may change something.
    running: Option<Running>,
    /// What the present sandbox is.
    sandbox: Option<Hash>,
}

/// A call that may change something, while it is carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Running {
    call: CallId,
    tool: String,
    /// Of a command, in one form.
    input: Option<String>,
    /// The files before it.
    tree: Option<String>,
    reached_for_network: bool,
    /// Whether its result is that of an earlier call, so that nothing was done for it.
    is_repeated: bool,
}

fn shared<S: serde::Serializer>(runs: &Arc<VecDeque<PastRun>>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(runs.iter())
}

fn to_share<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Arc<VecDeque<PastRun>>, D::Error> {
    VecDeque::deserialize(deserializer).map(Arc::new)
}

impl RunKey {
    /// The input of a command in one form: sorted, without what is left out anyway, and without the wish to run it afresh. `None` when
    /// it is no object, too long to be kept, or goes on in the background.
    #[must_use]
    pub fn input_of(raw: &str) -> Option<String> {
        let Value::Object(mut fields) = serde_json::from_str(raw).ok()? else { return None };
        if fields.get("background").and_then(Value::as_bool) == Some(true) {
            return None;
        }
        fields.retain(|name, value| !value.is_null() && !matches!(name.as_str(), "fresh" | "background"));
        let mut value = Value::Object(fields);
        value.sort_all_objects();
        Some(value.to_string()).filter(|text| text.len() <= MAX_INPUT_BYTES)
    }
}

impl PastRuns {
    /// The newest run of which `key` is the key, when all that was run since is harmless; `is_harmless` is given inputs in one form.
    #[must_use]
    pub fn find(&self, key: &RunKey, is_harmless: impl Fn(&str) -> bool) -> Option<&PastRun> {
        for run in self.runs.iter().rev() {
            if run.key.as_ref() == Some(key) {
                return Some(run);
            }
            if !is_harmless(&run.input) {
                return None;
            }
        }
        None
    }

    /// What the present sandbox is, as a part of a key; `None` before one was started.
    #[must_use]
    pub const fn sandbox(&self) -> Option<Hash> {
        self.sandbox
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.runs = Arc::default();
    }

    pub(super) fn see_sandbox(&mut self, event: &Sandbox) {
        match event {
            Sandbox::Started(started) => {
                let what = serde_json::to_string(&(&started.backend, &started.level, &started.limits));
                self.sandbox = Some(Hash::of(what.unwrap_or_default().as_bytes()));
            }
            Sandbox::LimitHit(hit) => self.forbid(|run| hit.call.as_ref().is_none_or(|call| run.call == *call)),
            Sandbox::NetworkAttempted(attempt) => self.reached_for_network(attempt.call.as_ref()),
            Sandbox::Connection(connection) => self.reached_for_network(connection.call.as_ref()),
            Sandbox::Stopped(_) => {}
        }
    }

    /// A call reached for the network. Which one, a command can lie about, and the event may come a little later: so it counts for what
    /// runs and what ran last as well.
    fn reached_for_network(&mut self, call: Option<&CallId>) {
        if let Some(running) = &mut self.running {
            running.reached_for_network = true;
        }
        let newest = self.runs.back().map(|run| run.call.clone());
        self.forbid(|run| Some(&run.call) == newest.as_ref() || Some(&run.call) == call);
    }

    /// Results that are meant are not to be repeated.
    fn forbid(&mut self, meant: impl Fn(&PastRun) -> bool) {
        let is_one = |run: &PastRun| run.key.is_some() && meant(run);
        if self.runs.iter().any(is_one) {
            Arc::make_mut(&mut self.runs).iter_mut().filter(|run| is_one(run)).for_each(|run| run.key = None);
        }
    }

    fn push(&mut self, run: PastRun) {
        let runs = Arc::make_mut(&mut self.runs);
        runs.push_back(run);
        while runs.len() > MAX_RUNS {
            runs.pop_front();
        }
    }
}

impl SessionState {
    /// What a command depends on that would be run now, on the files of `tree`; `None` when nothing of the past can stand for it.
    #[must_use]
    pub fn run_key(&self, input: &str, tree: &str) -> Option<RunKey> {
        if !self.background.is_empty() {
            return None;
        }
        Some(RunKey {
            input: RunKey::input_of(input)?,
            tree: tree.to_owned(),
            sandbox: self.past_runs.sandbox?,
            timeout_ms: self.settings.as_ref()?.command_timeout_ms,
        })
    }

    /// Takes in what a call event says of commands. Called when the rest of the state has taken it in.
    pub(super) fn remember_run(&mut self, envelope: &Envelope, event: &Tool) {
        match event {
            Tool::Called(called) => {
                let begun = |open: &OpenCall| open.id == called.call && open.progress != CallProgress::Done;
                if called.effect != ToolEffect::Writes || !self.calls.iter().any(begun) {
                    return;
                }
                // Such calls are carried out alone: one that is still there never came to an end.
                if self.past_runs.running.is_some() {
                    self.past_runs.clear();
                }
                self.past_runs.running = Some(Running {
                    call: called.call.clone(),
                    tool: called.tool.clone(),
                    input: (called.tool == RUNS_COMMANDS).then(|| RunKey::input_of(&called.input)).flatten(),
                    tree: self.files.tree().map(str::to_owned),
                    reached_for_network: false,
                    is_repeated: false,
                });
            }
            Tool::ResultReused(reused) => {
                if let Some(running) = self.past_runs.running.as_mut().filter(|running| running.call == reused.call) {
                    running.is_repeated = true;
                }
            }
            Tool::Finished(finished) => {
                if let Some(running) = self.past_runs.running.take_if(|running| running.call == finished.call) {
                    self.ran(envelope, running, finished);
                }
            }
            Tool::OutcomeUnknown(tool) => self.lost_run(&tool.call),
            Tool::Denied(tool) => self.lost_run(&tool.call),
            Tool::BackgroundStarted(_) | Tool::BackgroundEnded(_) => self.past_runs.clear(),
            Tool::Approved(_) | Tool::ApprovalAsked(_) | Tool::Parted(_) | Tool::Refused(_) => {}
        }
    }

    /// Nobody knows what it did.
    fn lost_run(&mut self, call: &CallId) {
        if self.past_runs.running.take_if(|running| running.call == *call).is_some() {
            self.past_runs.clear();
        }
    }

    fn ran(&mut self, envelope: &Envelope, running: Running, finished: &ToolFinished) {
        if running.is_repeated {
            return;
        }
        let is_unchanged = running.tree.is_some() && running.tree.as_deref() == self.files.tree();
        if running.tool != RUNS_COMMANDS {
            // What was written and shows in no snapshot may matter to a command all the same.
            if finished.changed.is_empty() == is_unchanged {
                return;
            }
            return self.past_runs.clear();
        }
        let Some(input) = running.input else { return self.past_runs.clear() };
        let ended_by_itself = finished.exit.is_some_and(|exit| {
            let said = exit.code.map(|code| format!("exit code: {code}"));
            exit.signal.is_none() && !exit.timed_out && finished.content.lines().next() == said.as_deref()
        });
        let key = match running.tree {
            Some(tree) if is_unchanged && ended_by_itself && !running.reached_for_network => {
                self.run_key(&input, &tree)
            }
            Some(_) | None => None,
        };
        let finished = (envelope.id, self.here());
        self.past_runs.push(PastRun { call: running.call, key, input, finished });
    }
}

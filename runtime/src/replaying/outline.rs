//! A session's files and calls in outline: what has to be known before the first call can be carried out again.
//!
//! One reading of the history; what is kept of it is small, whatever the session's size.

use retrace_events::history::History;
use retrace_events::payload::settings::Settings;
use retrace_events::payload::tool::ToolEffect;
use retrace_events::payload::{Payload, Session, Tool, Turn, Workspace};
use retrace_events::{CallId, Event, EventId, EventLog, LogError};
use retrace_sandbox::snapshot::TreeId;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

/// What has to be known of a session beforehand.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// How many events the history has.
    pub(super) events: u64,
    /// The files to begin with, and the place from which on calls found them so.
    pub(super) beginning: Option<(TreeId, u64)>,
    /// Files that people changed, by the place before which they did.
    pub(super) by_hand: BTreeMap<u64, TreeId>,
    /// Where the workspace was, fork by fork.
    pub(super) workspaces: Vec<PathBuf>,
    /// How the session began to behave.
    pub(super) settings: Option<Settings>,
    /// Calls that another program made before the import.
    pub(super) foreign_calls: u64,
    /// Calls that have an end.
    pub(super) calls: u64,
    /// Where results are, for those that point at them.
    pub(super) results: HashMap<CallId, u64>,
}

/// What is known while the history is read.
#[derive(Default)]
struct Reading {
    outline: Outline,
    imported: Option<EventId>,
    /// Begun calls that may change files.
    writing: HashSet<CallId>,
    foreign: HashSet<CallId>,
    /// Calls that are made of others.
    parted: HashSet<CallId>,
    /// The place behind the last call that may have changed files.
    written_until: u64,
    /// Where the present turn began, or the fork.
    turn_from: u64,
}

impl Outline {
    /// Reads it.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub(super) async fn read(log: &dyn EventLog, history: &History) -> Result<Self, LogError> {
        let mut reading = Reading::default();
        let apply = |place, event: &Event| {
            reading.apply(place, event);
            Ok::<_, LogError>(())
        };
        reading.outline.events = history.for_each(log, 0, apply).await?;
        Ok(reading.outline)
    }
}

impl Reading {
    fn apply(&mut self, place: u64, event: &Event) {
        match event.payload.known() {
            Some(Payload::Session(session)) => self.session(place, event, session),
            Some(Payload::Turn(Turn::Prompted(_))) => self.turn_from = place,
            Some(Payload::Tool(tool)) => self.tool(place, tool),
            Some(Payload::Workspace(Workspace::Snapshotted(taken))) => {
                // A tree that cannot be named is as good as none: what comes of it is said where it is needed.
                let Ok(tree) = taken.tree.parse::<TreeId>() else { return };
                match (&taken.after, self.outline.beginning) {
                    (None, None) => self.outline.beginning = Some((tree, self.written_until)),
                    // The calls before it found other files, which nobody knows.
                    (Some(_), None) => self.outline.beginning = Some((tree, place)),
                    (None, Some(_)) => {
                        let from = if self.written_until > self.turn_from { place } else { self.turn_from };
                        self.outline.by_hand.insert(from, tree);
                    }
                    (Some(_), Some(_)) => {}
                }
            }
            _ => {}
        }
    }

    fn session(&mut self, place: u64, event: &Event, session: &Session) {
        let (workspace, settings) = match session {
            Session::Started(started) => (&started.workspace, &started.settings),
            Session::Forked(forked) => (&forked.workspace, &forked.settings),
            Session::Imported(_) => {
                self.imported = Some(event.envelope.id);
                return;
            }
            Session::Configured(_)
            | Session::Closed(_)
            | Session::ControlHandled(_)
            | Session::RuleAdded(_)
            | Session::Planned(_) => return,
        };
        self.turn_from = place;
        self.outline.workspaces.push(PathBuf::from(workspace));
        self.outline.settings.get_or_insert_with(|| settings.clone());
    }

    fn tool(&mut self, place: u64, tool: &Tool) {
        let (call, has_result) = match tool {
            Tool::Called(called) => {
                if self.imported == Some(called.request) {
                    self.foreign.insert(called.call.clone());
                } else if called.effect == ToolEffect::Writes {
                    self.writing.insert(called.call.clone());
                }
                return;
            }
            Tool::Finished(finished) => (&finished.call, true),
            Tool::Denied(denied) => (&denied.call, false),
            Tool::OutcomeUnknown(unknown) => (&unknown.call, false),
            // Its parts are the calls.
            Tool::Parted(parted) => {
                self.parted.insert(parted.call.clone());
                return;
            }
            Tool::Approved(_)
            | Tool::ApprovalAsked(_)
            | Tool::BackgroundStarted(_)
            | Tool::BackgroundEnded(_)
            | Tool::ResultReused(_)
            | Tool::Refused(_) => return,
        };
        if self.parted.remove(call) {
            return;
        }
        self.outline.calls += 1;
        if self.foreign.remove(call) {
            self.outline.foreign_calls += 1;
        }
        if self.writing.remove(call) {
            self.written_until = place + 1;
        }
        if has_result {
            self.outline.results.insert(call.clone(), place);
        }
    }
}

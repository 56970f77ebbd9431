//! A session's calls as the log has them, one after the other: what was asked, what came of it, and the files behind it.
//!
//! A fold over the history's events that hands out each call where it ended. Calls that ran side by side only looked, so the order of
//! their ends means nothing.

use super::not_compared::NotCompared;
use crate::agent::without_note;
use base64::Engine as _;
use retrace_events::payload::settings::Settings;
use retrace_events::payload::tool::{ToolCalled, ToolDenied, ToolEffect, ToolFinished};
use retrace_events::payload::{Context, Payload, Session, Tool, Workspace};
use retrace_events::{BlobRef, CallId, Event, EventId, Hash, Timestamp};
use retrace_sandbox::snapshot::TreeId;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

/// Who settles calls of a turn that was broken off, and who cancels single ones.
const CANCELLED_BY: [&str; 2] = ["interruption", "user"];
const CANCELLED: &str = "The user cancelled this call.";

/// A call as the log has it.
#[derive(Debug, Clone)]
pub(super) struct RecordedCall {
    /// The place of its end in the history.
    pub(super) place: u64,
    pub(super) call: CallId,
    pub(super) tool: String,
    /// As the model wrote it.
    pub(super) input: String,
    pub(super) effect: ToolEffect,
    /// How long a command might run that named no time, in milliseconds.
    pub(super) command_timeout_ms: u64,
    /// Where the workspace was.
    pub(super) workspace: PathBuf,
    pub(super) came: Came,
    /// The files before it and behind it, as far as they are known.
    pub(super) files: [Option<TreeId>; 2],
    pub(super) began_at: Timestamp,
    pub(super) ended_at: Timestamp,
}

/// What came of a call.
#[derive(Debug, Clone)]
pub(super) enum Came {
    /// It was carried out to its end.
    Finished {
        finished: ToolFinished,
        /// The hashes of its images.
        images: Vec<String>,
    },
    /// It has no result that could be compared.
    Nothing(NotCompared),
}

/// The fold.
#[derive(Debug, Default)]
pub(super) struct CallReader {
    settings: Option<Settings>,
    workspace: PathBuf,
    imported: Option<EventId>,
    open: HashMap<CallId, (ToolCalled, Timestamp)>,
    /// Calls whose results are those of earlier ones.
    repeated: HashSet<CallId>,
    images: HashMap<CallId, Vec<String>>,
    /// The files as they are now; `None` where that is not known.
    files: Option<TreeId>,
    /// The files before the call whose snapshot was just read.
    before: Option<(CallId, Option<TreeId>)>,
    /// Whole outputs by their calls, those of background commands too.
    pub(super) outputs: HashMap<CallId, BlobRef>,
}

impl CallReader {
    /// A reader of a session whose files are these at first.
    pub(super) fn new(files: TreeId) -> Self {
        Self { files: Some(files), ..Self::default() }
    }

    /// Takes the event at `place`, and hands out the call that ends with it.
    pub(super) fn apply(&mut self, place: u64, event: &Event) -> Option<RecordedCall> {
        match event.payload.known()? {
            Payload::Session(session) => self.session(event, session),
            Payload::Context(Context::ImageAttached(image)) => {
                let bytes = base64::engine::general_purpose::STANDARD.decode(&image.data_base64).unwrap_or_default();
                let call = image.call.clone()?;
                self.images.entry(call).or_default().push(Hash::of(&bytes).to_string());
            }
            Payload::Workspace(workspace) => {
                let (after, files) = match workspace {
                    Workspace::Snapshotted(taken) => (&taken.after, taken.tree.parse().ok()),
                    Workspace::SnapshotFailed(failed) => (&failed.after, None),
                };
                let before = std::mem::replace(&mut self.files, files);
                self.before = after.clone().map(|call| (call, before));
            }
            Payload::Tool(tool) => return self.tool(place, event, tool),
            Payload::Turn(_)
            | Payload::Context(_)
            | Payload::Sandbox(_)
            | Payload::Summary(_)
            | Payload::Job(_)
            | Payload::Control(_) => {}
        }
        None
    }

    /// The calls that were begun and have no end.
    pub(super) fn unfinished(&mut self, place: u64) -> Vec<RecordedCall> {
        let calls: Vec<CallId> = self.open.keys().cloned().collect();
        let end = |call: CallId| self.end(place, Timestamp(0), call, Came::Nothing(NotCompared::NeverEnded));
        let mut ended: Vec<RecordedCall> = calls.into_iter().filter_map(end).collect();
        ended.sort_by_key(|call| call.began_at);
        ended
    }

    fn session(&mut self, event: &Event, session: &Session) {
        match session {
            Session::Started(started) => {
                self.settings = Some(started.settings.clone());
                self.workspace = PathBuf::from(&started.workspace);
            }
            Session::Forked(forked) => {
                self.settings = Some(forked.settings.clone());
                self.workspace = PathBuf::from(&forked.workspace);
            }
            Session::Configured(configured) => self.settings = Some(configured.settings.clone()),
            Session::Imported(_) => self.imported = Some(event.envelope.id),
            Session::Closed(_) | Session::ControlHandled(_) | Session::RuleAdded(_) | Session::Planned(_) => {}
        }
    }

    fn tool(&mut self, place: u64, event: &Event, tool: &Tool) -> Option<RecordedCall> {
        let at = event.envelope.at;
        match tool {
            Tool::Called(called) => {
                self.open.insert(called.call.clone(), (called.clone(), at));
                None
            }
            Tool::Finished(finished) => {
                if let Some(output) = finished.output {
                    self.outputs.insert(finished.call.clone(), output);
                }
                let images = self.images.remove(&finished.call).unwrap_or_default();
                let mut finished = finished.clone();
                if self.repeated.remove(&finished.call) {
                    finished.content = without_note(&finished.content).1;
                }
                let call = finished.call.clone();
                let came = Came::Finished { finished, images };
                self.end(place, at, call, came)
            }
            Tool::Denied(denied) => {
                let came = Came::Nothing(why_denied(denied));
                let never_begun = ToolCalled {
                    call: denied.call.clone(),
                    tool: String::new(),
                    input: String::new(),
                    request: EventId(uuid::Uuid::nil()),
                    effect: ToolEffect::ReadOnly,
                };
                self.open.entry(denied.call.clone()).or_insert((never_begun, at));
                self.end(place, at, denied.call.clone(), came)
            }
            Tool::OutcomeUnknown(unknown) => {
                self.end(place, at, unknown.call.clone(), Came::Nothing(NotCompared::OutcomeUnknown))
            }
            Tool::BackgroundEnded(ended) => {
                if let Some(output) = ended.output {
                    self.outputs.insert(ended.call.clone(), output);
                }
                None
            }
            // Each of its parts is a call, and it comes to what these come to.
            Tool::Parted(parted) => {
                self.open.remove(&parted.call);
                None
            }
            Tool::ResultReused(reused) => {
                self.repeated.insert(reused.call.clone());
                None
            }
            Tool::Approved(_) | Tool::ApprovalAsked(_) | Tool::BackgroundStarted(_) | Tool::Refused(_) => None,
        }
    }

    fn end(&mut self, place: u64, ended_at: Timestamp, call: CallId, came: Came) -> Option<RecordedCall> {
        let (called, began_at) = self.open.remove(&call)?;
        let before = match self.before.take_if(|(of, _)| *of == call) {
            Some((_, before)) => before,
            None => self.files,
        };
        let came = if self.imported == Some(called.request) { Came::Nothing(NotCompared::Foreign) } else { came };
        Some(RecordedCall {
            place,
            call,
            tool: called.tool,
            input: called.input,
            effect: called.effect,
            command_timeout_ms: self.settings.as_ref().map_or(1, |settings| settings.command_timeout_ms),
            workspace: self.workspace.clone(),
            came,
            files: [before, self.files],
            began_at,
            ended_at,
        })
    }
}

fn why_denied(denied: &ToolDenied) -> NotCompared {
    let is_cancelled = denied.by == CANCELLED_BY[0] || denied.by == CANCELLED_BY[1] && denied.content == CANCELLED;
    if is_cancelled { NotCompared::Cancelled } else { NotCompared::Denied }
}

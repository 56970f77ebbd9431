//! The step that is going on: what is known of it so far, until the next one begins or its turn ends.

use super::budget::{self, Dropped};
use super::digest::Digest;
use super::digest_item::{DigestItem, DigestKind};
use super::digest_plan::DigestPlan;
use super::open_call::OpenCall;
use super::reading::Reading;
use super::{done, noted, said};
use retrace_events::payload::{Payload, Session, Tool, Turn};
use retrace_events::{CallId, Envelope, Event, EventId};
use serde::{Deserialize, Serialize};

/// More items than this are brought down to what a few leaves could hold.
const MAX_ITEMS: usize = 96;

/// What stays then, in bytes.
const MAX_BYTES: usize = 4 * budget::LEAF_BYTES;

/// The most calls that wait for their results.
const MAX_CALLS: usize = 128;

/// The most commands in the background that are known by name.
const MAX_BACKGROUND: usize = 32;

/// From where to where a step reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Span {
    pub(super) first_seq: u64,
    pub(super) last_seq: u64,
    pub(super) first_at_ms: i64,
    pub(super) last_at_ms: i64,
    pub(super) first_event: EventId,
}

/// The step that is going on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenStep {
    /// Whether it has its prompt or its answer; before that it only gathers what happens between steps.
    pub(super) begun: bool,
    pub(super) span: Option<Span>,
    items: Vec<DigestItem>,
    plan: Option<DigestPlan>,
    dropped: Dropped,
    calls: Vec<OpenCall>,
}

/// What outlives a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Standing {
    pub(super) workspace: String,
    pub(super) prompted: bool,
    background: Vec<OpenCall>,
}

impl OpenStep {
    /// Whether an event begins a step.
    pub(super) fn begins(event: &Event) -> bool {
        matches!(event.payload.known(), Some(Payload::Turn(Turn::Prompted(_) | Turn::Answered(_))))
    }

    /// Whether an event ends the step that it belongs to.
    pub(super) fn ends(event: &Event) -> bool {
        let Some(payload) = event.payload.known() else { return false };
        matches!(payload, Payload::Turn(Turn::Ended(_) | Turn::Interrupted(_)) | Payload::Session(Session::Closed(_)))
    }

    /// Takes in the next event of the session.
    pub(super) fn take(&mut self, event: &Event, standing: &mut Standing, redactor: &retrace_events::redact::Redactor) {
        self.reach(&event.envelope);
        self.begun |= Self::begins(event);
        let Some(payload) = event.payload.known() else { return };
        let workspace = std::mem::take(&mut standing.workspace);
        let (seq, id) = (event.envelope.seq, event.envelope.id);
        let reading = Reading { redactor, workspace: &workspace, seq, event: id };
        let moved = self.read(payload, standing, &reading);
        standing.workspace = moved.unwrap_or(workspace);
        self.bound();
    }

    /// The calls whose results may still come when `event` begins another step. An answer can be logged in pieces with the
    /// results of its calls behind the last; a prompt means that nobody waits any more.
    pub(super) fn late_calls(&mut self, event: &Event) -> Vec<OpenCall> {
        match event.payload.known() {
            Some(Payload::Turn(Turn::Answered(_))) => std::mem::take(&mut self.calls),
            _ => Vec::new(),
        }
    }

    /// Takes over calls of the step before. What comes of them is in this one, and so is the event that is named for them.
    pub(super) fn open_with(&mut self, mut calls: Vec<OpenCall>, event: &Event) {
        calls.iter_mut().for_each(|call| call.be_told_by(event.envelope.seq, event.envelope.id));
        self.calls = calls;
    }

    /// What is remembered of a payload; returns the workspace when the event names it.
    fn read(&mut self, payload: &Payload, standing: &mut Standing, reading: &Reading<'_>) -> Option<String> {
        match payload {
            Payload::Turn(turn) => {
                let items = said::items(turn, reading, !standing.prompted);
                standing.prompted |= items.iter().any(|item| item.kind == DigestKind::Words && item.weight > 0);
                self.items.extend(items);
            }
            Payload::Tool(tool) => self.read_tool(tool, standing, reading),
            Payload::Session(session) => {
                self.items.extend(noted::item(session, reading));
                match session {
                    Session::Planned(planned) => self.plan = Some(DigestPlan::of(planned, reading)),
                    Session::Started(started) => return Some(started.workspace.clone()),
                    Session::Forked(forked) => return Some(forked.workspace.clone()),
                    Session::Configured(_)
                    | Session::Closed(_)
                    | Session::ControlHandled(_)
                    | Session::Imported(_)
                    | Session::RuleAdded(_) => {}
                }
            }
            Payload::Context(context) => self.items.extend(noted::compacted(context, reading)),
            Payload::Sandbox(_)
            | Payload::Workspace(_)
            | Payload::Summary(_)
            | Payload::Job(_)
            | Payload::Control(_) => {}
        }
        None
    }

    fn read_tool(&mut self, tool: &Tool, standing: &mut Standing, reading: &Reading<'_>) {
        match tool {
            Tool::Called(called) => {
                if self.calls.len() < MAX_CALLS {
                    self.calls.push(OpenCall::begun(called, reading));
                }
            }
            Tool::Finished(done) => {
                let call = self.settled(&done.call, reading);
                self.items.extend(done::finished(call.as_ref(), done, reading));
            }
            Tool::Denied(denied) => {
                let call = self.settled(&denied.call, reading);
                self.items.extend(done::denied(call.as_ref(), denied, reading));
            }
            Tool::OutcomeUnknown(unknown) => {
                let call = self.settled(&unknown.call, reading);
                self.items.extend(done::unknown(call.as_ref(), unknown, reading));
            }
            Tool::BackgroundStarted(started) => {
                let id = OpenCall::id(&started.call);
                if let Some(call) = self.calls.iter_mut().find(|call| call.id == id) {
                    call.background = true;
                    if standing.background.len() < MAX_BACKGROUND {
                        standing.background.push(call.clone());
                    }
                }
            }
            Tool::BackgroundEnded(ended) => {
                let id = OpenCall::id(&ended.call);
                let place = standing.background.iter().position(|call| call.id == id);
                let Some(mut call) = place.map(|place| standing.background.swap_remove(place)) else { return };
                call.be_told_by(reading.seq, reading.event);
                let how = ended.exit.and_then(done::exit).unwrap_or_else(|| "outcome unknown".to_owned());
                let failed = ended.exit.is_none_or(done::failed);
                self.items.extend(call.item(Some(format!("in the background, {how}")), failed));
            }
            // Its parts are calls of their own, and it comes to what these come to.
            Tool::Parted(parted) => {
                let id = OpenCall::id(&parted.call);
                self.calls.retain(|call| call.id != id);
            }
            Tool::Approved(_) | Tool::ApprovalAsked(_) | Tool::ResultReused(_) | Tool::Refused(_) => {}
        }
    }

    /// The call whose result has come.
    fn settled(&mut self, call: &CallId, reading: &Reading<'_>) -> Option<OpenCall> {
        let id = OpenCall::id(call);
        let place = self.calls.iter().position(|open| open.id == id)?;
        let mut call = self.calls.remove(place);
        if call.late {
            call.be_told_by(reading.seq, reading.event);
        }
        Some(call)
    }

    fn reach(&mut self, envelope: &Envelope) {
        let (seq, at_ms) = (envelope.seq, i64::try_from(envelope.at.0).unwrap_or(i64::MAX));
        match &mut self.span {
            // Clocks go backwards; a stretch of time does not.
            Some(span) => (span.last_seq, span.last_at_ms) = (seq, span.last_at_ms.max(at_ms)),
            none @ None => {
                *none = Some(Span {
                    first_seq: seq,
                    last_seq: seq,
                    first_at_ms: at_ms,
                    last_at_ms: at_ms,
                    first_event: envelope.id,
                });
            }
        }
    }

    /// What says nothing goes, and a step with very many calls is brought down to its more important part.
    fn bound(&mut self) {
        self.items.retain(|item| !item.text.is_empty());
        if self.items.len() > MAX_ITEMS {
            let folded = budget::fold(std::mem::take(&mut self.items));
            self.items = budget::fit(folded, MAX_BYTES, &mut self.dropped);
            // Many small items would fit that budget, and then each event would sort them again.
            for item in self.items.drain(self.items.len().min(MAX_ITEMS / 2)..) {
                *self.dropped.entry(item.kind).or_default() += u64::from(item.count);
            }
        }
    }

    /// The digest of what is known so far. A call that has no result is told with that.
    pub(super) fn digest(&self) -> Digest {
        let open = self.calls.iter().filter_map(|call| call.item(Some("no result".to_owned()), false));
        let items = self.items.iter().cloned().chain(open);
        Digest::settled(items, self.plan.clone(), self.dropped.clone(), 0)
    }
}

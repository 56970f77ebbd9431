//! [`SessionState`]: what a session is after each of its events. What an event of a subject changes stands beside it
//! (`session_events.rs`, `turn_events.rs`, `context_events.rs`, `tool_events.rs`).
//!
//! A fork's state is folded from its history: its parent's events up to the fork, then its own. Numbers of events that are
//! compared with one another (the transcript's, an epoch's) are *places* in the history; [`SessionState::next_seq`] alone
//! counts in the session's own stream.

use super::calls::OpenCall;
use super::compaction::Compaction;
use super::files_at::FilesAt;
use super::forked_part::ForkedPart;
use super::images::PendingImages;
use super::imported::ImportedPart;
use super::kept_outputs::KeptOutputs;
use super::measured::{Measured, SentRequest};
use super::parted_call::PartedCall;
use super::past_runs::PastRuns;
use super::queue::QueuedPrompt;
use super::step_text::StepText;
use super::totals::Totals;
use super::transcript::Transcript;
use super::turn_state::{Stage, TurnState};
use crate::envelope::Event;
use crate::hash::Hash;
use crate::id::{CallId, EventId, Timestamp};
use crate::payload::session::PlanItem;
use crate::payload::settings::Settings;
use crate::payload::{Payload, Sandbox, Session, context, turn};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The context requests are rendered from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epoch {
    /// The event that began it.
    pub event: EventId,
    /// Its place in the history.
    pub seq: u64,
    /// What it says.
    pub start: context::ContextEpochStarted,
}

/// A session at a moment.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SessionState {
    /// What it is about.
    pub title: String,
    /// The workspace's absolute path.
    pub workspace: String,
    /// How it behaves; `None` only before the first event.
    pub settings: Option<Settings>,
    /// When its first event was made.
    pub started_at: Timestamp,
    /// The last event of the history: its number in its own stream, its hash and its time.
    pub head: Option<(u64, Hash, Timestamp)>,
    /// How it came out of another session, when it did.
    pub fork: Option<ForkedPart>,
    /// The workspace's files, as far as snapshots tell.
    pub files: FilesAt,
    /// The first kind or schema of it that only a newer version knows. Such a session must not be written.
    pub newer: Option<String>,
    /// The context requests are rendered from.
    pub epoch: Option<Epoch>,
    /// The conversation since the epoch began.
    pub transcript: Transcript,
    /// What has come of asking the API for a summary in this epoch.
    pub compaction: Compaction,
    /// The turn that is going on.
    pub turn: Option<TurnState>,
    /// The calls of the newest answer, while one of them has no result.
    pub calls: Vec<OpenCall>,
    /// Those of them that are made of others; what they are made of stands behind them in `calls`.
    pub parted: Vec<PartedCall>,
    /// Commands of its past whose results may stand for their being run again.
    pub past_runs: PastRuns,
    /// The event that holds the newest answer.
    pub last_answer: Option<EventId>,
    /// The request that answer was given to.
    pub last_request: Option<EventId>,
    /// The last request that was sent.
    pub sent: Option<SentRequest>,
    /// What the last answered one cost in tokens; `None` after a change of the model.
    pub measured: Option<Measured>,
    /// How the last turn ended: outcome in the log's words, and the note; `None` after an interruption.
    pub last_end: Option<(turn::TurnOutcome, String)>,
    /// What it has used.
    pub totals: Totals,
    /// Whole outputs, for calls whose result shows only a part.
    pub outputs: KeptOutputs,
    /// What another program did before the session came here.
    pub imported: Option<ImportedPart>,
    /// Whether it was closed for good.
    pub closed: bool,
    /// Prompts that wait for the present turn to end.
    pub queue: VecDeque<QueuedPrompt>,
    /// The first event of the control stream that was not handled yet.
    pub control_next: u64,
    /// Rules on calls that were given for this session.
    pub rules: Vec<String>,
    /// The model's plan.
    pub plan: Vec<PlanItem>,
    /// Commands that run in the background: the call that started them, and the command.
    pub background: Vec<(CallId, String)>,
    /// The steps of the open turn, for whoever looks whether it goes round in circles.
    pub steps: VecDeque<StepText>,
    /// Images whose prompt or result has not come yet.
    pub images: PendingImages,
}

impl SessionState {
    /// The sequence number the next event will have in its stream.
    #[must_use]
    pub fn next_seq(&self) -> u64 {
        self.head.map_or(0, |(seq, ..)| seq.saturating_add(1))
    }

    /// The place the next event will have in the history.
    #[must_use]
    pub fn next_place(&self) -> u64 {
        self.inherited_events().saturating_add(self.next_seq())
    }

    /// How many events of its history are its ancestors'.
    #[must_use]
    pub fn inherited_events(&self) -> u64 {
        self.fork.as_ref().map_or(0, |fork| fork.inherited_events)
    }

    /// The hash of the last event; [`Hash::GENESIS`] before the first.
    #[must_use]
    pub fn head_hash(&self) -> Hash {
        self.head.map_or(Hash::GENESIS, |(_, hash, _)| hash)
    }

    /// What the session has used itself: what its ancestors used, or another program before it came here, is left out.
    #[must_use]
    pub fn own_totals(&self) -> Totals {
        match (&self.fork, &self.imported) {
            (Some(fork), _) => self.totals.without(&fork.inherited_totals),
            (None, Some(imported)) => self.totals.without(&imported.totals),
            (None, None) => self.totals,
        }
    }

    /// As [`Self::own_totals`], with what another program used before an import: what is the session's and not its parent's.
    #[must_use]
    pub fn totals_since_fork(&self) -> Totals {
        self.fork.as_ref().map_or(self.totals, |fork| self.totals.without(&fork.inherited_totals))
    }

    /// Takes the next event of the history in.
    pub fn apply(&mut self, event: &Event) {
        let envelope = &event.envelope;
        if let Some(Payload::Session(Session::Forked(forked))) = event.payload.known() {
            self.leave_parent(forked, envelope.at);
        }
        self.head = Some((envelope.seq, event.hash, envelope.at));
        let Some(payload) = event.payload.known() else {
            self.newer.get_or_insert_with(|| format!("`{}` (schema {})", envelope.kind, envelope.schema));
            return;
        };
        match payload {
            Payload::Session(session) => self.apply_session(envelope, session),
            Payload::Turn(turn) => self.apply_turn(envelope, turn),
            Payload::Context(context) => self.apply_context(envelope, context),
            Payload::Tool(tool) => {
                self.apply_tool(envelope, tool);
                self.remember_run(envelope, tool);
            }
            Payload::Workspace(workspace) => {
                self.files = FilesAt::of(workspace);
                if let Some(turn) = &mut self.turn {
                    turn.files_told = true;
                }
                if let Some(fork) = &mut self.fork {
                    fork.see(&self.files);
                }
            }
            Payload::Sandbox(sandbox) => {
                if let (Some(fork), Sandbox::Started(_)) = (&mut self.fork, sandbox) {
                    fork.opened = true;
                }
                self.past_runs.see_sandbox(sandbox);
            }
            Payload::Summary(_) | Payload::Job(_) | Payload::Control(_) => {}
        }
    }

    /// The place of the event that is being taken in.
    pub(super) fn here(&self) -> u64 {
        self.next_place().saturating_sub(1)
    }

    pub(super) fn set_stage(&mut self, stage: Stage) {
        if let Some(turn) = &mut self.turn {
            turn.stage = stage;
        }
    }

    pub(super) fn end_turn(&mut self, at: Timestamp) {
        if let Some(turn) = self.turn.take() {
            let turn_ms = at.since_ms(turn.started_at);
            self.totals.turn_time_ms = self.totals.turn_time_ms.saturating_add(turn_ms);
            // No request of ours in it: the other program's turn.
            if let Some(imported) = self.imported.as_mut().filter(|_| turn.requests == 0) {
                imported.totals.turn_time_ms = imported.totals.turn_time_ms.saturating_add(turn_ms);
            }
        }
    }
}

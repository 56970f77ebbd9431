//! [`SessionState`] and how each event changes it.

use super::calls::{CallApproval, CallProgress, OpenCall, calls_in};
use super::compaction::Compaction;
use super::images::PendingImages;
use super::imported::ImportedPart;
use super::kept_outputs::KeptOutputs;
use super::measured::{Measured, SentRequest};
use super::queue::QueuedPrompt;
use super::step_record::keep_step;
use super::step_text::StepText;
use super::totals::Totals;
use super::transcript::{Transcript, TranscriptItem};
use super::turn_state::{Stage, TurnState};
use crate::envelope::{Envelope, Event};
use crate::hash::Hash;
use crate::id::{CallId, EventId, Timestamp};
use crate::payload::session::PlanItem;
use crate::payload::settings::Settings;
use crate::payload::{Context, Payload, Session, Tool, Turn, context, tool, turn};
use std::collections::VecDeque;

/// About how many bytes of text make a token.
const BYTES_PER_TOKEN: usize = 4;

/// The context requests are rendered from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epoch {
    /// The event that began it.
    pub event: EventId,
    /// Its place.
    pub seq: u64,
    /// What it says.
    pub start: context::ContextEpochStarted,
}

/// A session at a moment.
#[derive(Debug, Clone, Default)]
pub struct SessionState {
    /// What it is about.
    pub title: String,
    /// The workspace's absolute path.
    pub workspace: String,
    /// How it behaves; `None` only before the first event.
    pub settings: Option<Settings>,
    /// When its first event was made.
    pub started_at: Timestamp,
    /// Place, hash and time of its last event.
    pub head: Option<(u64, Hash, Timestamp)>,
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
    /// The sequence number the next event will have.
    #[must_use]
    pub fn next_seq(&self) -> u64 {
        self.head.map_or(0, |(seq, ..)| seq + 1)
    }

    /// The hash of the last event; [`Hash::GENESIS`] before the first.
    #[must_use]
    pub fn head_hash(&self) -> Hash {
        self.head.map_or(Hash::GENESIS, |(_, hash, _)| hash)
    }

    /// What the session has used itself: what another program used before it came here is left out.
    #[must_use]
    pub fn own_totals(&self) -> Totals {
        self.imported.map_or(self.totals, |imported| self.totals.without(&imported.totals))
    }

    /// Takes the next event in.
    pub fn apply(&mut self, event: &Event) {
        let envelope = &event.envelope;
        self.head = Some((envelope.seq, event.hash, envelope.at));
        let Some(payload) = event.payload.known() else {
            self.newer.get_or_insert_with(|| format!("`{}` (schema {})", envelope.kind, envelope.schema));
            return;
        };
        match payload {
            Payload::Session(session) => self.apply_session(envelope, session),
            Payload::Turn(turn) => self.apply_turn(envelope, turn),
            Payload::Context(context) => self.apply_context(envelope, context),
            Payload::Tool(tool) => self.apply_tool(envelope, tool),
            Payload::Sandbox(_)
            | Payload::Workspace(_)
            | Payload::Summary(_)
            | Payload::Job(_)
            | Payload::Control(_) => {}
        }
    }

    fn apply_session(&mut self, envelope: &Envelope, session: &Session) {
        let at = envelope.at;
        match session {
            Session::Started(started) => {
                self.title.clone_from(&started.title);
                self.workspace.clone_from(&started.workspace);
                self.settings = Some(started.settings.clone());
                self.started_at = at;
            }
            Session::Forked(forked) => {
                self.title.clone_from(&forked.title);
                self.workspace.clone_from(&forked.workspace);
                self.settings = Some(forked.settings.clone());
                self.started_at = at;
            }
            Session::Configured(configured) => self.settings = Some(configured.settings.clone()),
            Session::Closed(_) => self.closed = true,
            Session::ControlHandled(handled) => self.control_next = handled.seq.saturating_add(1),
            Session::RuleAdded(added) => {
                if !self.rules.contains(&added.rule) {
                    self.rules.push(added.rule.clone());
                }
            }
            Session::Planned(planned) => self.plan.clone_from(&planned.items),
            Session::Imported(_) => {
                self.imported = Some(ImportedPart { event: envelope.id, totals: Totals::default() });
            }
        }
    }

    fn apply_turn(&mut self, envelope: &Envelope, event: &Turn) {
        let (id, at, seq) = (envelope.id, envelope.at, envelope.seq);
        match event {
            Turn::Prompted(prompt) => self.apply_prompt(envelope, prompt),
            Turn::Queued(queued) => {
                let turn::TurnQueued { text, source, attachments } = queued.clone();
                let images = self.images.take(None);
                self.queue.push_back(QueuedPrompt { event: id, text, source, attachments, images });
            }
            Turn::Warned(warned) => {
                self.transcript.push(seq, TranscriptItem::Warning { note: warned.note.clone() });
                if let Some(turn) = &mut self.turn {
                    turn.warned.push(warned.rule.clone());
                }
            }
            Turn::Requested(request) => {
                self.totals.requests += 1;
                if let Some(turn) = &mut self.turn {
                    turn.requests += 1;
                }
                self.sent = Some(SentRequest { event: id, body_bytes: request.body_bytes, at });
                self.set_stage(Stage::Waiting { request: id, cost_bound_microusd: request.cost_bound_microusd });
            }
            Turn::Answered(answer) => self.apply_answer(seq, id, answer),
            Turn::Failed(failed) => self.apply_failure(at, failed),
            Turn::Interrupted(_) => {
                self.transcript.push(seq, TranscriptItem::Interruption);
                self.last_end = None;
                self.end_turn(at);
            }
            Turn::Ended(ended) => {
                self.last_end = Some((ended.outcome, ended.note.clone()));
                self.end_turn(at);
            }
        }
    }

    fn apply_prompt(&mut self, envelope: &Envelope, prompt: &turn::TurnPrompted) {
        let (id, at) = (envelope.id, envelope.at);
        let queued = envelope.cause.and_then(|cause| self.queue.iter().position(|queued| queued.event == cause));
        let images = match queued.and_then(|place| self.queue.remove(place)) {
            Some(queued) => queued.images,
            None => self.images.take(None),
        };
        self.totals.prompts += 1;
        self.transcript.push(envelope.seq, TranscriptItem::Prompt { text: prompt.text.clone(), images });
        if self.turn.is_none() {
            self.steps.clear();
            let stage = Stage::Ask { not_before: Timestamp(0) };
            let warned = Vec::new();
            let turn = TurnState {
                prompt: id,
                started_at: at,
                stage,
                failed_attempts: 0,
                cut_answers: 0,
                requests: 0,
                recoveries: 0,
                warned,
            };
            self.turn = Some(turn);
        }
    }

    fn apply_answer(&mut self, seq: u64, id: EventId, answer: &turn::TurnAnswered) {
        self.totals.add(&answer.usage, answer.cost_microusd);
        if let Some(imported) = self.imported.as_mut().filter(|imported| imported.event == answer.request) {
            imported.totals.add(&answer.usage, answer.cost_microusd);
        }
        self.calls = calls_in(&answer.content);
        keep_step(&mut self.steps, StepText::answered(&answer.content, &self.calls));
        self.last_answer = Some(id);
        self.last_request = Some(answer.request);
        let input_tokens = answer.usage.total_input_tokens();
        if let Some(sent) = self.sent.filter(|sent| sent.event == answer.request && input_tokens > 0) {
            self.measured = Some(Measured { body_bytes: sent.body_bytes, input_tokens });
        }
        let calls = self.calls.iter().map(|call| call.id.clone()).collect();
        let content = answer.content.clone();
        self.transcript.push(seq, TranscriptItem::Answer { event: id, content, calls, carried_over: false });
        let stop_reason = answer.stop_reason.clone();
        if let Some(turn) = &mut self.turn {
            turn.failed_attempts = 0;
            if stop_reason != "model_context_window_exceeded" {
                turn.recoveries = 0;
            }
            turn.cut_answers = if stop_reason == "max_tokens" { turn.cut_answers + 1 } else { 0 };
        }
        self.set_stage(if self.calls.is_empty() { Stage::Answered { stop_reason } } else { Stage::Calls });
    }

    fn apply_failure(&mut self, at: Timestamp, failed: &turn::TurnFailed) {
        self.totals.unknown_cost_microusd = self.totals.unknown_cost_microusd.saturating_add(failed.billed_microusd);
        // A crash of our own says nothing about the server, and must not use up its retries.
        if let Some(turn) = self.turn.as_mut().filter(|_| failed.failure != turn::TurnFailure::Lost) {
            turn.failed_attempts += 1;
        }
        self.set_stage(match failed.retry_in_ms {
            Some(wait_ms) => Stage::Ask { not_before: Timestamp(at.0.saturating_add(wait_ms)) },
            None => Stage::GaveUp { failure: failed.failure, message: failed.message.clone() },
        });
    }

    fn apply_context(&mut self, envelope: &Envelope, event: &Context) {
        match event {
            Context::EpochStarted(start) => {
                // A first epoch takes in the prompt that was logged just before it, and what another program did.
                if start.compacted.is_some() {
                    self.transcript.drop_before(start.from_seq);
                } else if self.epoch.is_some() || self.imported.is_some() {
                    self.transcript.carry_over(start.from_seq);
                }
                self.compaction = Compaction::default();
                if self.epoch.as_ref().is_some_and(|before| before.start.model != start.model) {
                    self.measured = None;
                }
                if let Some(turn) = self.turn.as_mut().filter(|turn| turn.stage.is_over()) {
                    turn.recoveries += 1;
                    turn.failed_attempts = 0;
                    turn.stage = Stage::Ask { not_before: Timestamp(0) };
                }
                self.epoch = Some(Epoch { event: envelope.id, seq: envelope.seq, start: start.clone() });
            }
            Context::Retrieved(found) => {
                self.transcript.push(envelope.seq, TranscriptItem::Passages(found.passages.clone()));
            }
            Context::ImageAttached(attached) => self.images.add(attached),
            Context::Compacted(compacted) => {
                self.transcript.carry_over(envelope.seq);
                let tokens = u32::try_from(compacted.summary.len() / BYTES_PER_TOKEN).unwrap_or(u32::MAX);
                let (text, source) = (compacted.summary.clone(), context::ContextSource::Summary(compacted.by.clone()));
                let summary = context::ContextPassage { text, source, tokens, score_milli: 0 };
                self.transcript.push(envelope.seq, TranscriptItem::Passages(vec![summary]));
            }
            Context::CompactionRequested(request) => {
                self.totals.requests += 1;
                self.compaction.requested(envelope.id, request);
            }
            Context::CompactionAnswered(answer) => {
                self.totals.add_aside(&answer.usage, answer.cost_microusd);
                self.compaction.answered(envelope.id, answer);
            }
            Context::CompactionFailed(failed) => {
                let unknown = &mut self.totals.unknown_cost_microusd;
                *unknown = unknown.saturating_add(failed.billed_microusd);
                self.compaction.failed(envelope.at, failed);
            }
        }
    }

    fn apply_tool(&mut self, envelope: &Envelope, event: &Tool) {
        match event {
            Tool::Called(called) => {
                self.totals.calls += 1;
                if let Some(call) = self.asked_call(&called.call) {
                    call.progress = CallProgress::Begun(called.effect);
                }
            }
            Tool::ApprovalAsked(asked) => {
                if let Some(call) = self.asked_call(&asked.call) {
                    call.approval = CallApproval::Asked;
                }
            }
            Tool::Approved(approved) => {
                if let Some(call) = self.asked_call(&approved.call) {
                    call.approval = CallApproval::Given;
                }
            }
            Tool::Denied(denied) => self.apply_result(envelope, &denied.call, true, &denied.content, false),
            Tool::Finished(tool::ToolFinished { call, is_error, content, output, changed, .. }) => {
                if let Some(blob) = output {
                    self.outputs.insert(call.clone(), *blob);
                }
                self.apply_result(envelope, call, *is_error, content, !changed.is_empty());
            }
            Tool::OutcomeUnknown(unknown) => {
                self.apply_result(envelope, &unknown.call, true, &unknown.content, true);
            }
            Tool::BackgroundStarted(started) => self.background.push((started.call.clone(), started.command.clone())),
            Tool::BackgroundEnded(ended) => self.apply_background_end(envelope.seq, ended),
        }
    }

    /// The call, while nothing was done for it.
    fn asked_call(&mut self, call: &CallId) -> Option<&mut OpenCall> {
        self.calls.iter_mut().find(|open| open.id == *call && open.progress == CallProgress::Asked)
    }

    fn apply_background_end(&mut self, seq: u64, ended: &tool::ToolBackgroundEnded) {
        if let Some(blob) = ended.output {
            self.outputs.insert(ended.call.clone(), blob);
        }
        let Some(place) = self.background.iter().position(|(call, _)| *call == ended.call) else { return };
        let (call, command) = self.background.remove(place);
        self.transcript.push(seq, TranscriptItem::BackgroundEnded { call, command, why: ended.why.clone() });
    }

    fn apply_result(&mut self, envelope: &Envelope, call: &CallId, is_error: bool, content: &str, wrote: bool) {
        let images = self.images.take(Some(call));
        let open = self.calls.iter_mut().find(|open| open.id == *call && open.progress != CallProgress::Done);
        // A second result for a call, or one for no call, never reaches the model: the API would refuse it.
        let Some(open) = open else { return };
        open.progress = CallProgress::Done;
        if let Some(step) = self.steps.back_mut() {
            step.finished(call, content, is_error, wrote);
        }
        let result = TranscriptItem::Result { call: call.clone(), is_error, content: content.to_owned(), images };
        self.transcript.push(envelope.seq, result);
        if self.calls.iter().all(|open| open.progress == CallProgress::Done) {
            self.transcript.sort_last_results();
            self.calls.clear();
            self.set_stage(Stage::Ask { not_before: Timestamp(0) });
        }
    }

    fn set_stage(&mut self, stage: Stage) {
        if let Some(turn) = &mut self.turn {
            turn.stage = stage;
        }
    }

    fn end_turn(&mut self, at: Timestamp) {
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

//! How prompts, requests and answers change a session's state.

use super::SessionState;
use super::calls::calls_in;
use super::forked_part::ForkedPart;
use super::measured::{Measured, SentRequest};
use super::queue::QueuedPrompt;
use super::step_record::keep_step;
use super::step_text::StepText;
use super::transcript::TranscriptItem;
use super::turn_state::{Stage, TurnState};
use crate::envelope::Envelope;
use crate::id::{EventId, Timestamp};
use crate::payload::{Turn, turn};

impl SessionState {
    pub(super) fn apply_turn(&mut self, envelope: &Envelope, event: &Turn) {
        let (id, at, here) = (envelope.id, envelope.at, self.here());
        match event {
            Turn::Prompted(prompt) => self.apply_prompt(envelope, prompt),
            Turn::Queued(queued) => {
                let turn::TurnQueued { text, source, attachments } = queued.clone();
                let images = self.images.take(None);
                self.queue.push_back(QueuedPrompt { event: id, text, source, attachments, images });
            }
            Turn::Warned(warned) => {
                self.transcript.push(here, TranscriptItem::Warning { note: warned.note.clone() });
                if let Some(fork) = self.fork.as_mut().filter(|_| warned.rule == ForkedPart::WARNING) {
                    fork.told = true;
                }
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
            Turn::Answered(answer) => self.apply_answer(id, answer),
            Turn::Failed(failed) => self.apply_failure(at, failed),
            Turn::Interrupted(_) => {
                self.transcript.push(here, TranscriptItem::Interruption);
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
        let (id, at, here) = (envelope.id, envelope.at, self.here());
        let queued = envelope.cause.and_then(|cause| self.queue.iter().position(|queued| queued.event == cause));
        let images = match queued.and_then(|place| self.queue.remove(place)) {
            Some(queued) => queued.images,
            None => self.images.take(None),
        };
        self.totals.prompts += 1;
        self.transcript.push(here, TranscriptItem::Prompt { text: prompt.text.clone(), images });
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
                files_told: false,
            };
            self.turn = Some(turn);
        }
    }

    fn apply_answer(&mut self, id: EventId, answer: &turn::TurnAnswered) {
        self.totals.add(&answer.usage, answer.cost_microusd);
        if let Some(imported) = self.imported.as_mut().filter(|imported| imported.event == answer.request) {
            imported.totals.add(&answer.usage, answer.cost_microusd);
        }
        self.calls = calls_in(&answer.content);
        self.parted.clear();
        keep_step(&mut self.steps, StepText::answered(&answer.content, &self.calls));
        self.last_answer = Some(id);
        self.last_request = Some(answer.request);
        let input_tokens = answer.usage.total_input_tokens();
        if let Some(sent) = self.sent.filter(|sent| sent.event == answer.request && input_tokens > 0) {
            self.measured = Some(Measured { body_bytes: sent.body_bytes, input_tokens });
        }
        let calls = self.calls.iter().map(|call| call.id.clone()).collect();
        let (content, here) = (answer.content.clone(), self.here());
        self.transcript.push(here, TranscriptItem::Answer { event: id, content, calls, carried_over: false });
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
}

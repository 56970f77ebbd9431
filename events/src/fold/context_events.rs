//! How epochs, what is put at their tail, and summaries change a session's state.

use super::SessionState;
use super::compaction::Compaction;
use super::session_state::Epoch;
use super::transcript::TranscriptItem;
use super::turn_state::Stage;
use crate::envelope::Envelope;
use crate::id::Timestamp;
use crate::payload::{Context, context};

impl SessionState {
    /// About how many bytes of text make a token.
    const BYTES_PER_TOKEN: usize = 4;

    pub(super) fn apply_context(&mut self, envelope: &Envelope, event: &Context) {
        let here = self.here();
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
                self.epoch = Some(Epoch { event: envelope.id, seq: here, start: start.clone() });
            }
            Context::Retrieved(found) => {
                self.transcript.push(here, TranscriptItem::Passages(found.passages.clone()));
            }
            Context::ImageAttached(attached) => self.images.add(attached),
            Context::Compacted(compacted) => {
                self.transcript.carry_over(here);
                let tokens = u32::try_from(compacted.summary.len() / Self::BYTES_PER_TOKEN).unwrap_or(u32::MAX);
                let (text, source) = (compacted.summary.clone(), context::ContextSource::Summary(compacted.by.clone()));
                let summary = context::ContextPassage { text, source, tokens, score_milli: 0 };
                self.transcript.push(here, TranscriptItem::Passages(vec![summary]));
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
}

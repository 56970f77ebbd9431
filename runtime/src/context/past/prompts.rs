//! The user's own words, which are never summed up while there is room for them.

use super::passages::{Room, cut};
use retrace_events::payload::context::{ContextPassage, ContextSource};
use retrace_events::{Envelope, EventId};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How many prompts are kept beside the first.
const KEPT: usize = 200;
/// How much of one is kept, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// The prompts of a session: the first, and the newest.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Prompts {
    first: Option<Prompt>,
    newest: VecDeque<Prompt>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Prompt {
    event: EventId,
    seq: u64,
    text: String,
}

impl Prompts {
    pub(super) fn add(&mut self, envelope: &Envelope, text: &str) {
        let prompt = Prompt { event: envelope.id, seq: envelope.seq, text: cut(text, MAX_BYTES) };
        if self.first.is_none() {
            self.first = Some(prompt);
            return;
        }
        self.newest.push_back(prompt);
        if self.newest.len() > KEPT {
            self.newest.pop_front();
        }
    }

    /// Those before `kept_from`, as far as there is room: the first, since it says what all is about, and then the newest.
    pub(super) fn passages(&self, kept_from: u64, room: &mut Room<'_>) -> Vec<ContextPassage> {
        let newest = self.newest.iter().rev().filter(|prompt| prompt.seq < kept_from);
        let first = self.first.iter().filter(|prompt| prompt.seq < kept_from);
        let mut passages = Vec::new();
        for prompt in first.chain(newest) {
            // A long one leaves room for others.
            let text = cut(&prompt.text, room.left_bytes() / 2);
            let Some(taken) = room.take(ContextPassage::new(text, ContextSource::Prompt(prompt.event), 0)) else {
                break;
            };
            passages.push((prompt.seq, taken));
        }
        passages.sort_by_key(|(seq, _)| *seq);
        passages.into_iter().map(|(_, passage)| passage).collect()
    }
}

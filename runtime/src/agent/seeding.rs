//! What a fresh epoch begins with: nothing, the whole conversation, or a seed that stands for its older part.

use super::agent_handle::Agent;
use super::error::AgentError;
use super::fullness::estimate;
use super::recovery::was_too_large;
use super::retrieving::Relevance;
use crate::claude::ModelRow;
use crate::context::{conversation_bytes, kept_from};
use retrace_events::SessionState;
use retrace_events::fold::TranscriptItem;
use retrace_events::payload::context::{ContextPassage, ContextSource};

/// The share of the budget that the newest steps may take, in percent. What is left behind the seed is room to grow: the more
/// of it, the more rarely the cache is written anew.
const KEPT_PERCENT: u64 = 15;
/// The share of what stands for older steps, in percent.
const SEED_PERCENT: u64 = 25;
/// The share of it that is for what the index finds, in percent.
const RECALLED_PERCENT: u64 = 20;
/// The most passages that the index may add.
const RECALLED: usize = 12;
/// A conversation that takes less than this share of the budget is kept whole, in percent.
const WHOLE_PERCENT: u64 = 50;
/// How much of the model's last words is looked for, in characters.
const SAID_CHARS: usize = 600;

/// What an epoch begins with.
#[derive(Debug, Default)]
pub(super) struct Seed {
    /// The passages, in order.
    pub(super) passages: Vec<ContextPassage>,
    /// The first event whose words are kept as they are.
    pub(super) from_seq: u64,
}

impl Agent {
    /// The seed of the next epoch.
    pub(super) async fn seed(&mut self) -> Result<Seed, AgentError> {
        let before = self.state.epoch.as_ref().map(|epoch| epoch.start.clone());
        if before.is_none() && self.state.imported.is_none() {
            return Ok(Seed::default());
        }
        let row = self.parts.models.row(&self.settings.model);
        let body_bytes = match before {
            // A call without a result cannot be rendered, and does not happen between steps.
            Some(_) => self.body()?.len() as u64,
            // What another program did may be longer than any request.
            None => conversation_bytes(&self.state.transcript),
        };
        let tokens = estimate(&self.state, body_bytes);
        let over = self.state.turn.as_ref().is_some_and(was_too_large);
        if over {
            self.too_large_tokens = Some(self.too_large_tokens.map_or(tokens, |known| known.min(tokens)));
        }
        let budget = seed_budget(&row, self.context_budget());
        // What stands behind a summary of the API's is not the whole conversation.
        let summarized = before.as_ref().is_some_and(|before| before.compacted.is_some());
        if !over && !summarized && !self.wishes_compaction && stays_whole(tokens, budget) {
            return Ok(before.map_or_else(Seed::default, |before| Seed {
                passages: without_instructions(&before.seed),
                from_seq: before.from_seq,
            }));
        }
        let SeedPlan { from_seq, past_tokens, recalled_tokens } = SeedPlan::of(&self.state, budget, tokens, body_bytes);
        let mut passages = self.past_now().await?.seed(from_seq, past_tokens);
        let room = usize::try_from(recalled_tokens).unwrap_or(usize::MAX);
        let query = task(&self.state);
        passages.extend(self.recalled(&query, Relevance::Seed, RECALLED, room).await?.0);
        // What the model wrote is in the log as it came; what stands in a seed is written anew.
        for passage in &mut passages {
            passage.text = self.parts.redactor.redact(&passage.text).into_owned();
        }
        Ok(Seed { passages, from_seq })
    }
}

/// How large the seed of an epoch is, and what is kept behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SeedPlan {
    /// The first event whose words are kept as they are.
    pub(crate) from_seq: u64,
    /// What the session's own past may take, in tokens.
    pub(crate) past_tokens: u64,
    /// What the index may add, in tokens.
    recalled_tokens: u64,
}

impl SeedPlan {
    /// For a state whose next request has `body_bytes`, which are about `tokens`.
    pub(crate) fn of(state: &SessionState, budget: u64, tokens: u64, body_bytes: u64) -> Self {
        let kept_bytes = (budget * KEPT_PERCENT / 100).saturating_mul(body_bytes) / tokens.max(1);
        let from_seq = kept_from(&state.transcript, kept_bytes).unwrap_or_else(|| state.next_place());
        let seed_tokens = budget * SEED_PERCENT / 100;
        let recalled_tokens = seed_tokens * RECALLED_PERCENT / 100;
        Self { from_seq, past_tokens: seed_tokens - recalled_tokens, recalled_tokens }
    }
}

/// The tokens of which a seed and what is kept behind it take their shares.
pub(crate) fn seed_budget(row: &ModelRow, context_budget: Option<u64>) -> u64 {
    let window = row.context_window_tokens / 2;
    context_budget.map_or(window, |budget| budget.min(window))
}

/// Whether a conversation of so many tokens is kept as it is.
pub(crate) const fn stays_whole(tokens: u64, budget: u64) -> bool {
    tokens * 100 < budget * WHOLE_PERCENT
}

/// The seed without instruction files, which are read anew.
pub(crate) fn without_instructions(seed: &[ContextPassage]) -> Vec<ContextPassage> {
    seed.iter().filter(|passage| !matches!(passage.source, ContextSource::Instructions(_))).cloned().collect()
}

/// What is being done, for whoever looks for what belongs to it: the newest prompt and the model's last words.
fn task(state: &SessionState) -> String {
    let mut said = None;
    for item in state.transcript.items().iter().rev() {
        match item {
            TranscriptItem::Prompt { text, .. } => return format!("{text} {}", said.unwrap_or_default()),
            TranscriptItem::Answer { content, .. } if said.is_none() => said = words_of(content),
            TranscriptItem::Answer { .. }
            | TranscriptItem::Result { .. }
            | TranscriptItem::Passages(_)
            | TranscriptItem::Interruption
            | TranscriptItem::Warning { .. }
            | TranscriptItem::BackgroundEnded { .. } => {}
        }
    }
    said.unwrap_or_default()
}

/// The words of an answer, without its thinking and its calls.
fn words_of(content: &str) -> Option<String> {
    let blocks: serde_json::Value = serde_json::from_str(content).ok()?;
    let texts = blocks.as_array()?.iter().filter_map(|block| block.get("text").and_then(|text| text.as_str()));
    let words: String = texts.collect::<Vec<_>>().join(" ").chars().take(SAID_CHARS).collect();
    (!words.trim().is_empty()).then_some(words)
}

/// Whether the newest thing in the conversation is an answer without calls.
pub(super) fn ends_with_answer(state: &SessionState) -> bool {
    matches!(state.transcript.items().last(), Some(TranscriptItem::Answer { .. }))
}

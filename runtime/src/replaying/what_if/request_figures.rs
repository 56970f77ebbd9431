//! What a request came to, or would have.

use crate::context::ContextPart;
use std::collections::BTreeMap;

/// What tokens of a request are spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemKind {
    /// The system prompt and the descriptions of tools.
    Frame,
    /// What people said.
    Prompts,
    /// What the model said, its thinking and its calls.
    Answers,
    /// What came of calls.
    Results,
    /// What stands for older parts or was found: seeds, files, summaries, instructions.
    Passages,
}

impl ItemKind {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 5] = [Self::Frame, Self::Prompts, Self::Answers, Self::Results, Self::Passages];

    /// Its name, in tables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Frame => "system, tools",
            Self::Prompts => "prompts",
            Self::Answers => "answers",
            Self::Results => "results",
            Self::Passages => "passages",
        }
    }

    /// What a part of a request is.
    pub(super) fn of(part: &ContextPart) -> Self {
        match (part.place, part.what) {
            ("system" | "tools", _) => Self::Frame,
            ("kept" | "tail", "prompt") => Self::Prompts,
            ("kept" | "tail", "answer") => Self::Answers,
            ("kept" | "tail", "result" | "command ended") => Self::Results,
            _ => Self::Passages,
        }
    }
}

/// What a request came to, or would have; sums of several too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestFigures {
    /// The epoch, from 1; in sums how many there were.
    pub epoch: u64,
    /// Input tokens, however they are billed.
    pub input_tokens: u64,
    /// Of these, by what they are spent on; estimated by bytes.
    pub by_kind: BTreeMap<ItemKind, u64>,
    /// Of the input, read from the cache.
    pub read_tokens: u64,
    /// Of the input, written to the cache.
    pub written_tokens: u64,
    /// Output tokens, as they came.
    pub output_tokens: u64,
    /// What it costs, in millionths of a US dollar.
    pub cost_microusd: u64,
}

impl RequestFigures {
    /// Adds another request's.
    pub(in crate::replaying) fn add(&mut self, other: &Self) {
        self.epoch = self.epoch.max(other.epoch);
        self.input_tokens += other.input_tokens;
        other.by_kind.iter().for_each(|(kind, tokens)| *self.by_kind.entry(*kind).or_default() += tokens);
        self.read_tokens += other.read_tokens;
        self.written_tokens += other.written_tokens;
        self.output_tokens += other.output_tokens;
        self.cost_microusd += other.cost_microusd;
    }

    /// Input tokens that the cache had no part in.
    #[must_use]
    pub const fn fresh_tokens(&self) -> u64 {
        self.input_tokens.saturating_sub(self.read_tokens + self.written_tokens)
    }
}

/// Bytes of a request by what they are spent on.
pub(super) fn bytes_by_kind(parts: &[ContextPart]) -> BTreeMap<ItemKind, u64> {
    let mut bytes = BTreeMap::new();
    parts.iter().for_each(|part| *bytes.entry(ItemKind::of(part)).or_default() += part.bytes);
    bytes
}

/// `total` tokens divided as the bytes are.
pub(in crate::replaying) fn divided(bytes: &BTreeMap<ItemKind, u64>, total: u64) -> BTreeMap<ItemKind, u64> {
    let all: u64 = bytes.values().sum();
    bytes.iter().map(|(kind, bytes)| (*kind, share(total, *bytes, all))).collect()
}

/// The share of `part` of `whole` in `total`.
pub(in crate::replaying) fn share(total: u64, part: u64, whole: u64) -> u64 {
    let share = u128::from(total) * u128::from(part) / u128::from(whole.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}

//! What a session has used so far.

use crate::payload::turn::Usage;
use serde::{Deserialize, Serialize};

/// Sums over a whole session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Totals {
    /// Prompts.
    pub prompts: u32,
    /// Answers.
    pub steps: u32,
    /// Attempts at a request, answered or not.
    pub requests: u32,
    /// Tool calls that were begun.
    pub calls: u32,
    /// Tokens of all answers.
    pub usage: Usage,
    /// Cost of all answers, in millionths of a US dollar.
    pub cost_microusd: u64,
    /// Upper bound of what unanswered requests may have cost besides, in millionths of a US dollar.
    pub unknown_cost_microusd: u64,
    /// Time in turns that are over, in milliseconds.
    pub turn_time_ms: u64,
}

impl Totals {
    /// Tokens in and out, however they were billed.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.usage.total_input_tokens() + self.usage.output_tokens
    }

    /// These sums without `part`, which must be a part of them.
    #[must_use]
    pub(super) const fn without(&self, part: &Self) -> Self {
        let (usage, less) = (&self.usage, &part.usage);
        Self {
            prompts: self.prompts.saturating_sub(part.prompts),
            steps: self.steps.saturating_sub(part.steps),
            requests: self.requests.saturating_sub(part.requests),
            calls: self.calls.saturating_sub(part.calls),
            usage: Usage {
                input_tokens: usage.input_tokens.saturating_sub(less.input_tokens),
                cache_write_5m_tokens: usage.cache_write_5m_tokens.saturating_sub(less.cache_write_5m_tokens),
                cache_write_1h_tokens: usage.cache_write_1h_tokens.saturating_sub(less.cache_write_1h_tokens),
                cache_read_tokens: usage.cache_read_tokens.saturating_sub(less.cache_read_tokens),
                output_tokens: usage.output_tokens.saturating_sub(less.output_tokens),
            },
            cost_microusd: self.cost_microusd.saturating_sub(part.cost_microusd),
            unknown_cost_microusd: self.unknown_cost_microusd.saturating_sub(part.unknown_cost_microusd),
            turn_time_ms: self.turn_time_ms.saturating_sub(part.turn_time_ms),
        }
    }

    pub(super) fn add(&mut self, usage: &Usage, cost_microusd: u64) {
        self.steps += 1;
        self.add_aside(usage, cost_microusd);
    }

    /// Adds an answer that is no step of a turn.
    pub(super) fn add_aside(&mut self, usage: &Usage, cost_microusd: u64) {
        self.cost_microusd = self.cost_microusd.saturating_add(cost_microusd);
        let sum = &mut self.usage;
        for (total, more) in [
            (&mut sum.input_tokens, usage.input_tokens),
            (&mut sum.cache_write_5m_tokens, usage.cache_write_5m_tokens),
            (&mut sum.cache_write_1h_tokens, usage.cache_write_1h_tokens),
            (&mut sum.cache_read_tokens, usage.cache_read_tokens),
            (&mut sum.output_tokens, usage.output_tokens),
        ] {
            *total = total.saturating_add(more);
        }
    }
}

//! What tokens cost, in integer micro-dollars (millionths of a US dollar).
//!
//! Integers only, rounded up once at the end, so that the same usage always costs the same and a bound is a bound.

use serde::{Deserialize, Serialize};

use super::Usage;

/// Tokens that one price stands for.
const PER_TOKENS: u128 = 1_000_000;

/// How many bytes of a request body make one token, at the least, for the estimate before sending. Code and JSON
/// measure 3 to 4.
const BYTES_PER_TOKEN: u64 = 3;

/// Prices in micro-dollars per million tokens (1,000,000 = one US dollar per million tokens).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Fresh input tokens.
    pub input: u64,
    /// Output tokens, thinking included.
    pub output: u64,
    /// Input tokens written to the 5-minute cache.
    pub cache_write_5m: u64,
    /// Input tokens written to the 1-hour cache.
    pub cache_write_1h: u64,
    /// Input tokens read from the cache.
    pub cache_read: u64,
}

/// Prices that hold for the whole request once its prompt is longer than a limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongPromptPrices {
    /// The limit: prompts of more input tokens than this (cache reads and writes included) pay these prices.
    pub above_input_tokens: u64,
    /// The prices above the limit.
    pub prices: Prices,
}

impl Prices {
    /// Cost of `usage`, in micro-dollars, rounded up.
    #[must_use]
    pub fn cost_micros(&self, usage: &Usage) -> u64 {
        sum_micros(&[
            (usage.input_tokens, self.input),
            (usage.output_tokens, self.output),
            (usage.cache_write_5m(), self.cache_write_5m),
            (usage.cache_creation_1h_input_tokens, self.cache_write_1h),
            (usage.cache_read_input_tokens, self.cache_read),
        ])
    }

    /// What a request of `input_tokens` with `max_tokens` of output costs at the most, in micro-dollars: every input
    /// token at the dearest input price, every output token produced.
    #[must_use]
    pub fn bound_micros(&self, input_tokens: u64, max_tokens: u64) -> u64 {
        let dearest = self.input.max(self.cache_write_5m).max(self.cache_write_1h).max(self.cache_read);
        sum_micros(&[(input_tokens, dearest), (max_tokens, self.output)])
    }
}

/// Estimated input tokens of a body of `size_bytes` bytes; errs on the high side for text and code.
pub(super) fn estimate_input_tokens(size_bytes: u64) -> u64 {
    size_bytes.div_ceil(BYTES_PER_TOKEN)
}

fn sum_micros(parts: &[(u64, u64)]) -> u64 {
    let total: u128 = parts.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum();
    u64::try_from(total.div_ceil(PER_TOKENS)).unwrap_or(u64::MAX)
}

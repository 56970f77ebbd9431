//! When to try a failed request again: a pure function, so that the caller can log the decision before it waits.

use std::time::Duration;

use rand::{Rng, RngExt};

use super::Failure;

/// How often and how fast to try again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryPolicy {
    /// Attempts in all, the first one included.
    pub max_attempts: u32,
    /// The wait after the first failure; it doubles with each further one.
    pub base: Duration,
    /// The longest wait of our own choosing.
    pub cap: Duration,
    /// The share of a wait that chance may take off, 0 to 1, so that many clients do not come back at once.
    pub jitter: f64,
    /// The longest wait that a server may ask for; beyond it trying again is given up.
    pub longest: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 6,
            base: Duration::from_millis(500),
            cap: Duration::from_secs(8),
            jitter: 0.25,
            longest: Duration::from_hours(1),
        }
    }
}

impl RetryPolicy {
    /// How long to wait before the next attempt, or `None` to give up. `attempt` counts from 1 and names the attempt
    /// that just failed. The server's own figure is obeyed, also when it is longer than `cap`.
    pub fn next(&self, attempt: u32, failure: &Failure, rng: &mut impl Rng) -> Option<Duration> {
        if attempt >= self.max_attempts || !failure.is_retryable() {
            return None;
        }
        if let Some(asked) = failure.retry_after() {
            return (asked <= self.longest).then_some(asked);
        }
        let doublings = attempt.saturating_sub(1).min(31);
        let wait = self.base.saturating_mul(1 << doublings).min(self.cap);
        let share: f64 = rng.random();
        Some(wait.mul_f64(1.0 - self.jitter.clamp(0.0, 1.0) * share))
    }
}

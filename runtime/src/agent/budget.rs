//! Budgets: what a session, and the tree of forks it belongs to, may use; checked before each request.

use super::family::FamilyUsage;
use retrace_events::fold::Totals;
use retrace_events::payload::settings::Budget;
use retrace_events::{SessionState, Timestamp};

/// Says which budget is used up, in words with the figures; `None` while there is some left of all.
pub(super) fn reached(state: &SessionState, now: Timestamp, family: Option<&FamilyUsage>) -> Option<String> {
    let settings = state.settings.as_ref()?;
    let own = used(&state.own_totals(), state.turn.as_ref().map_or(0, |turn| now.since_ms(turn.started_at)));
    let whole = family.map(|family| own.and(&family.others)).and_then(|used| over(&used, &settings.tree_budget));
    over(&own, &settings.budget)
        .or_else(|| whole.map(|note| format!("{note} by the session and the forks it belongs to")))
}

/// What was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Used {
    steps: u64,
    tokens: u64,
    cost_microusd: u64,
    time_ms: u64,
}

impl Used {
    /// The sum.
    pub(super) const fn and(&self, other: &Self) -> Self {
        Self {
            steps: self.steps.saturating_add(other.steps),
            tokens: self.tokens.saturating_add(other.tokens),
            cost_microusd: self.cost_microusd.saturating_add(other.cost_microusd),
            time_ms: self.time_ms.saturating_add(other.time_ms),
        }
    }
}

/// What `totals` say was used, with so many milliseconds of an open turn.
pub(super) fn used(totals: &Totals, open_turn_ms: u64) -> Used {
    Used {
        steps: u64::from(totals.steps),
        tokens: totals.tokens(),
        cost_microusd: totals.cost_microusd.saturating_add(totals.unknown_cost_microusd),
        time_ms: totals.turn_time_ms.saturating_add(open_turn_ms),
    }
}

fn over(used: &Used, budget: &Budget) -> Option<String> {
    if let Some(limit) = budget.max_steps.filter(|limit| used.steps >= u64::from(*limit)) {
        return Some(format!("{} of {limit} steps are used", used.steps));
    }
    if let Some(limit) = budget.max_tokens.filter(|limit| used.tokens >= *limit) {
        return Some(format!("{} of {limit} tokens are used", used.tokens));
    }
    if let Some(limit) = budget.max_cost_microusd.filter(|limit| used.cost_microusd >= *limit) {
        return Some(format!("${} of ${} are used", dollars(used.cost_microusd), dollars(limit)));
    }
    let limit = budget.max_time_ms.filter(|limit| used.time_ms >= *limit)?;
    Some(format!("{} s of {} s are used", used.time_ms / 1_000, limit / 1_000))
}

/// Millionths of a dollar as dollars with four decimals.
fn dollars(microusd: u64) -> String {
    format!("{}.{:04}", microusd / 1_000_000, microusd % 1_000_000 / 100)
}

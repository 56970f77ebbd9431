//! Budgets: what a session may use, checked before each request.

use retrace_events::{SessionState, Timestamp};

/// Says which budget is used up, in words with the figures; `None` while there is some left of all.
pub(super) fn reached(state: &SessionState, now: Timestamp) -> Option<String> {
    let budget = state.settings.as_ref()?.budget;
    let totals = &state.totals;
    let cost = totals.cost_microusd.saturating_add(totals.unknown_cost_microusd);
    let this_turn_ms = state.turn.as_ref().map_or(0, |turn| now.since_ms(turn.started_at));
    let time_ms = totals.turn_time_ms.saturating_add(this_turn_ms);
    if let Some(limit) = budget.max_steps.filter(|limit| totals.steps >= *limit) {
        return Some(format!("{} of {limit} steps are used", totals.steps));
    }
    if let Some(limit) = budget.max_tokens.filter(|limit| totals.tokens() >= *limit) {
        return Some(format!("{} of {limit} tokens are used", totals.tokens()));
    }
    if let Some(limit) = budget.max_cost_microusd.filter(|limit| cost >= *limit) {
        return Some(format!("${} of ${} are used", dollars(cost), dollars(limit)));
    }
    let limit = budget.max_time_ms.filter(|limit| time_ms >= *limit)?;
    Some(format!("{} s of {} s are used", time_ms / 1_000, limit / 1_000))
}

/// Millionths of a dollar as dollars with four decimals.
fn dollars(microusd: u64) -> String {
    format!("{}.{:04}", microusd / 1_000_000, microusd % 1_000_000 / 100)
}

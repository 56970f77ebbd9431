//! Whether a turn goes round in circles: the detector of stuck and runaway turns.
//!
//! [`detect`] is a pure function of the steps of the open turn, as the fold keeps them. Each rule of [`rules`] counts how
//! often something came without anything new; one occurrence before its limit the model is to be warned, at the limit the turn
//! is to end. Invariants: nothing is stopped that was not warned of a step earlier; a call whose result differs from last time is
//! no repetition (polling is work), and neither is one after a change that was not made before in this turn; waiting has
//! five times the patience. What goes on for ever and is new each time is not for this module: the budgets end it.

mod past;
mod rules;

#[cfg(test)]
mod tests;

use past::PastStep;
use retrace_events::fold::StepRecord;
use rules::{Finding, RULES};

/// A turn goes round in circles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    /// The rule that says so: one of [`rule_names`].
    pub rule: &'static str,
    /// Whether the turn is to end; otherwise the model is to be warned, once for each rule and turn.
    pub stop: bool,
    /// What repeats, how often, and what to do instead, on one line for the model and for people.
    pub note: String,
}

/// Looks at the steps of a turn, oldest first. A newest step whose calls do not all have a result yet is not judged.
///
/// Says `stop` only of a rule of which it gave the warning at an earlier step; when several rules fit, a stop goes first, then
/// a warning that was not given before.
#[must_use]
pub fn detect<'a>(steps: impl Iterator<Item = &'a StepRecord>) -> Option<Stuck> {
    let records: Vec<&StepRecord> = steps.collect();
    if !records.iter().all(|record| record.is_complete()) {
        return None;
    }
    let past = PastStep::all(&records);
    let mut warned: Vec<&'static str> = Vec::new();
    let mut verdict = None;
    for end in 1..=past.len() {
        verdict = judge(&past[..end], &warned);
        warned.extend(verdict.map(|(finding, _)| finding.rule_name()));
    }
    let ((finding, stop), newest) = verdict.zip(past.last())?;
    Some(Stuck { rule: finding.rule_name(), stop, note: finding.note(newest, stop) })
}

/// The names of all rules.
pub fn rule_names() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|rule| rule.name)
}

/// What is found at the newest of `past`, when the rules in `warned` gave their warning before, and whether it is to stop.
fn judge(past: &[PastStep<'_>], warned: &[&'static str]) -> Option<(Finding, bool)> {
    let found: Vec<Finding> = RULES.iter().filter_map(|rule| rule.look(past)).collect();
    let was_warned = |finding: &&Finding| warned.contains(&finding.rule_name());
    let stop = found.iter().filter(was_warned).find(|finding| finding.is_full());
    let warning = || found.iter().find(|finding| !was_warned(finding)).or_else(|| found.first());
    stop.map(|finding| (*finding, true)).or_else(|| warning().map(|finding| (*finding, false)))
}

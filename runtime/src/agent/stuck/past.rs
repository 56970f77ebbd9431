//! [`PastStep`]: a step as the rules see it, beside the steps before it.

use retrace_events::Hash;
use retrace_events::fold::{CallRecord, StepRecord};
use std::collections::HashSet;

/// A call and what came of it; two equal ones are the same again.
type Outcome<'a> = (&'a str, Hash, Option<Hash>, bool);

/// A complete step.
#[derive(Debug)]
pub(super) struct PastStep<'a> {
    /// What it said.
    pub(super) said: Option<Hash>,
    /// Its calls and results in no particular order: two steps with equal ones did the same, with the same result.
    pub(super) outcomes: Vec<Outcome<'a>>,
    /// Whether it made calls, and all of them failed.
    pub(super) fails: bool,
    /// Whether it waits for something.
    pub(super) waits: bool,
    /// Whether everything in it, results included, was there before in this turn.
    pub(super) repeats: bool,
    /// Whether it may have changed something, and in a way that was not tried before in this turn.
    pub(super) changes: bool,
    calls: &'a [CallRecord],
}

impl<'a> PastStep<'a> {
    /// The steps of a turn, oldest first.
    pub(super) fn all(records: &[&'a StepRecord]) -> Vec<Self> {
        let mut known = Known::default();
        records.iter().map(|record| known.next(record)).collect()
    }

    /// Whether it is the same as `other`: the same calls with the same results, or, without calls, the same words.
    pub(super) fn is_like(&self, other: &PastStep<'_>) -> bool {
        self.outcomes == other.outcomes && (self.has_calls() || self.said == other.said)
    }

    /// Whether it made calls.
    pub(super) const fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Its calls in a few words.
    pub(super) fn in_words(&self) -> String {
        match self.calls {
            [] => "an answer without a call".to_owned(),
            [call] => format!("`{}` {}", call.tool, call.gist),
            [call, more @ ..] => format!("`{}` {} and {} more", call.tool, call.gist, more.len()),
        }
    }
}

/// What there was in a turn so far.
#[derive(Default)]
struct Known<'a> {
    outcomes: HashSet<Outcome<'a>>,
    inputs: HashSet<(&'a str, Hash)>,
    said: HashSet<Option<Hash>>,
}

impl<'a> Known<'a> {
    fn next(&mut self, record: &'a StepRecord) -> PastStep<'a> {
        let calls = &record.calls;
        let outcome = |call: &'a CallRecord| (call.tool.as_str(), call.input, call.result, call.is_error);
        let mut outcomes: Vec<Outcome<'a>> = calls.iter().map(outcome).collect();
        outcomes.sort_unstable();
        let known_words = !self.said.insert(record.said);
        let new_outcomes = outcomes.iter().filter(|outcome| self.outcomes.insert(**outcome)).count();
        let tried = |call: &&CallRecord| self.inputs.contains(&(call.tool.as_str(), call.input));
        let changes = calls.iter().any(|call| call.wrote && !call.is_error && !tried(&call));
        self.inputs.extend(calls.iter().map(|call| (call.tool.as_str(), call.input)));
        PastStep {
            said: record.said,
            fails: !calls.is_empty() && calls.iter().all(|call| call.is_error),
            waits: calls.iter().any(|call| call.waits),
            repeats: if calls.is_empty() { known_words } else { new_outcomes == 0 },
            changes,
            outcomes,
            calls,
        }
    }
}

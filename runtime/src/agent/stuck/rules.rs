//! The rules, each with its limit and the reason for it.
//!
//! The limits of the first four are those of OpenHands' detector (4, 3, 3, 6) and that of the window is crush's (5 of 10); the
//! others follow from them: three rounds of any cycle are a limit.

use super::past::PastStep;

/// How much longer than other things waiting may bring nothing new: a quiet build that is looked at once a minute has twenty
/// minutes.
const PATIENCE: usize = 5;

/// The newest steps in which a repeated step is counted.
const WINDOW: usize = 10;

/// The newest steps in which steps without anything new are counted.
const LONG_WINDOW: usize = 20;

/// A rule: how often something may come.
pub(super) struct Rule {
    /// Its name in the log.
    pub(super) name: &'static str,
    /// At so many the turn ends.
    limit: usize,
    /// How many there are, newest step included; none when that is not one of them.
    count: fn(&[PastStep<'_>]) -> usize,
    /// What repeats.
    what: fn(&PastStep<'_>, usize) -> String,
    /// What to do instead.
    instead: &'static str,
}

/// All rules; where several fit, the first one speaks.
pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "same_error",
        limit: 3,
        count: |past| if newest(past, |step| step.fails) { in_a_row(past, is_like) } else { 0 },
        what: |step, count| format!("{} failed {count} times in a row in the same way", step.in_words()),
        instead: "read the error, change the call or what it depends on, or say what is missing",
    },
    Rule {
        name: "same_words",
        limit: 3,
        count: |past| if newest(past, speaks) { in_a_row(past, says_and_does_the_same) } else { 0 },
        what: |step, count| {
            let with = if step.has_calls() { "with the same call and result" } else { "without a call" };
            format!("the same words came {count} times in a row, {with}")
        },
        instead: "do the next step, or end the turn with what there is",
    },
    Rule {
        name: "same_call",
        limit: 4,
        count: |past| in_a_row(past, is_like),
        what: |step, count| format!("{} came {count} times in a row with the same result", step.in_words()),
        instead: "the result is known; change something first, do something else, or end the turn",
    },
    Rule {
        name: "alternation",
        limit: 6,
        count: |past| in_turns(past, 2),
        what: |step, count| format!("two steps take turns, {count} steps by now; the newest is {}", step.in_words()),
        instead: "neither brings anything new; find out why and try a third way, or say what is missing",
    },
    Rule {
        name: "cycle",
        limit: 9,
        count: |past| in_turns(past, 3),
        what: |step, count| format!("three steps take turns, {count} steps by now; the newest is {}", step.in_words()),
        instead: "none of them brings anything new; find out why and try another way, or say what is missing",
    },
    // Counted since the last change that is new: a test that fails after each of five different edits is work.
    Rule {
        name: "often_again",
        limit: 5,
        count: often_again,
        what: |step, count| {
            format!("{} came {count} times in the last {WINDOW} steps with the same result", step.in_words())
        },
        instead: "the result is known; change something before doing it again",
    },
    // Whatever the cycle, nothing is new in it; two further rounds of one of four are eight steps.
    Rule {
        name: "no_progress",
        limit: 8,
        count: |past| past.iter().rev().take_while(|step| step.repeats).count(),
        what: |_, count| format!("{count} steps in a row only repeated what was done before, with the same results"),
        instead: "use what is known already, try another way, or say what is missing",
    },
    // Different calls may well fail one after the other while the model looks for its way; not this often.
    Rule {
        name: "only_errors",
        limit: 12,
        count: |past| past.iter().rev().take_while(|step| step.fails).count(),
        what: |_, count| format!("every call failed in {count} steps in a row"),
        instead: "go back to something that works, or say what is missing",
    },
    // Something new now and then does not make reading the same again any better.
    Rule {
        name: "reading_again",
        limit: 15,
        count: reading_again,
        what: |_, count| {
            format!(
                "{count} of the last {LONG_WINDOW} steps only repeated what was done before, and nothing was changed"
            )
        },
        instead: "use what was read already, make the change, or say what is missing",
    },
];

impl Rule {
    /// How near the newest of `past` is to the limit; `None` when it is not near.
    pub(super) fn look(&'static self, past: &[PastStep<'_>]) -> Option<Finding> {
        let count = (self.count)(past);
        let counted = past.len().checked_sub(count.max(1)).map(|start| &past[start..])?;
        let patience = if counted.iter().any(|step| step.waits) { PATIENCE } else { 1 };
        let finding = Finding { rule: self, count, limit: self.limit * patience };
        (count + 1 >= finding.limit).then_some(finding)
    }
}

/// A rule that fits: one more and its limit is reached, or it is reached already.
#[derive(Clone, Copy)]
pub(super) struct Finding {
    rule: &'static Rule,
    count: usize,
    limit: usize,
}

impl Finding {
    /// The rule's name.
    pub(super) const fn rule_name(&self) -> &'static str {
        self.rule.name
    }

    /// Whether the limit is reached.
    pub(super) const fn is_full(&self) -> bool {
        self.count >= self.limit
    }

    /// What the model is told, and people; `newest` is the step it was found at.
    pub(super) fn note(&self, newest: &PastStep<'_>, stop: bool) -> String {
        let what = (self.rule.what)(newest, self.count);
        let then = if stop { ", and the model had been warned" } else { "; if this goes on, the turn is ended" };
        format!("{what}{then}. hint: {}", self.rule.instead)
    }
}

fn newest(past: &[PastStep<'_>], is: impl Fn(&PastStep<'_>) -> bool) -> bool {
    past.last().is_some_and(is)
}

/// Without calls silence is as bad as words; with them it is nothing special.
fn speaks(step: &PastStep<'_>) -> bool {
    step.said.is_some() || !step.has_calls()
}

fn is_like(one: &PastStep<'_>, other: &PastStep<'_>) -> bool {
    one.is_like(other)
}

fn says_and_does_the_same(one: &PastStep<'_>, other: &PastStep<'_>) -> bool {
    one.said == other.said && one.is_like(other)
}

/// How many of the newest steps are the same as the newest.
fn in_a_row(past: &[PastStep<'_>], same: impl Fn(&PastStep<'_>, &PastStep<'_>) -> bool) -> usize {
    let Some(newest) = past.last() else { return 0 };
    past.iter().rev().take_while(|step| same(step, newest)).count()
}

/// How many of the newest steps are a cycle of `period` steps. Where all are the same, a rule with a lower limit speaks.
fn in_turns(past: &[PastStep<'_>], period: usize) -> usize {
    let again =
        past.iter().rev().zip(past.iter().rev().skip(period)).take_while(|(one, other)| one.is_like(other)).count();
    if again > 0 { again + period } else { 0 }
}

/// How many steps of the window, since the last new change, are the same as the newest.
fn often_again(past: &[PastStep<'_>]) -> usize {
    let Some(newest) = past.last().filter(|step| step.has_calls() && step.repeats) else { return 0 };
    since_change(past, WINDOW).iter().filter(|step| step.is_like(newest)).count()
}

/// How many steps of the long window, since the last new change, bring nothing new.
fn reading_again(past: &[PastStep<'_>]) -> usize {
    if !newest(past, |step| step.repeats) {
        return 0;
    }
    since_change(past, LONG_WINDOW).iter().filter(|step| step.repeats).count()
}

/// The newest steps, at most `window`, back to the last change that is new.
fn since_change<'p, 's>(past: &'p [PastStep<'s>], window: usize) -> &'p [PastStep<'s>] {
    let recent = &past[past.len().saturating_sub(window)..];
    let start = recent.iter().rposition(|step| step.changes).unwrap_or(0);
    &recent[start..]
}

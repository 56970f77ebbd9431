//! Turns that get on, however monotonous they look, are never stopped.

use super::{Driven, detect, drive, step, turn};

/// Fails the test when the turn is stopped; says of what it was warned.
#[track_caller]
fn goes_on(steps: &str) -> Vec<(usize, &'static str)> {
    let Driven { warned, stopped } = drive(turn(steps));
    assert_eq!(stopped, None, "{steps}");
    warned
}

/// `round` with `#` as a number that grows.
fn rounds(count: usize, round: &str) -> String {
    (0..count).map(|n| format!("{} ", round.replace('#', &n.to_string()))).collect()
}

#[test]
fn polling_something_that_changes() {
    assert_eq!(goes_on(&rounds(200, "A=#")), []);
    assert_eq!(goes_on(&rounds(200, "still waiting:A=#~")), []);
    assert_eq!(goes_on(&rounds(200, "A=# B=#")), []);
}

#[test]
fn polling_something_that_changes_now_and_then() {
    assert_eq!(goes_on(&rounds(50, "A=# A=#")), []);
    // Eighteen looks at the same, then it moves: long for a call, not for a wait.
    assert_eq!(goes_on(&rounds(20, &"A=#~ ".repeat(18))), []);
}

#[test]
fn editing_and_testing() {
    assert_eq!(goes_on(&rounds(50, "edit#* test=#")), [], "the test fails in another way each time");
    assert_eq!(goes_on(&rounds(50, "edit#* test=bad!")), [], "the test fails in the same way after each new edit");
    assert_eq!(goes_on(&rounds(50, "look# edit#* test=bad! log=bad")), []);
    assert_eq!(goes_on(&rounds(50, "edit#*+test=bad!")), [], "both in one answer");
}

#[test]
fn reading_many_files() {
    assert_eq!(goes_on(&rounds(200, "read#")), []);
    assert_eq!(goes_on(&rounds(100, "let-me-see:read#")), []);
    assert_eq!(goes_on(&rounds(60, "read#a+read#b+read#c")), []);
    assert_eq!(goes_on(&rounds(100, "search#=none")), [], "different searches that find nothing");
}

#[test]
fn reading_some_files_again_between_edits() {
    assert_eq!(goes_on(&rounds(40, "read edit#=done* list")), []);
    assert_eq!(goes_on("A B C D E F A B C D E F edit*"), [], "six known things again, then to work");
}

#[test]
fn a_retry_that_succeeds() {
    assert_eq!(goes_on("A! A"), [], "a second attempt is nothing to warn of once it succeeded");
    assert_eq!(goes_on("A! A! A B C"), [(2, "same_error")]);
    assert_eq!(goes_on("A! fix* A! fix2* A! fix3* A"), []);
}

#[test]
fn repeating_a_little_and_going_on() {
    assert_eq!(goes_on("A A A B C D"), [(3, "same_call")]);
    assert_eq!(goes_on("A B A B A C D E"), [(5, "alternation")]);
    assert_eq!(goes_on("hm: hm: A"), [(2, "same_words")]);
    assert_eq!(goes_on("A A B C A D E A F G A H I A"), [(8, "often_again")]);
    assert_eq!(goes_on("A A change* A A change2* A A change3* A A"), [], "counted afresh after each change");
}

#[test]
fn many_different_failures_with_some_success() {
    assert_eq!(goes_on(&rounds(20, "a#! b#! c#! d#! e#! f#! g#")), []);
}

#[test]
fn a_step_that_is_not_over_is_not_judged() {
    let mut steps = turn("A A A A");
    assert!(detect(steps.iter()).is_some_and(|stuck| stuck.stop));
    steps[3].calls[0].result = None;
    assert_eq!(detect(steps.iter()), None);
    steps.iter_mut().for_each(|step| step.calls[0].result = None);
    assert_eq!(detect(steps.iter()), None);
    assert_eq!(detect([].iter()), None);
    assert_eq!(detect([step("A")].iter()), None);
}

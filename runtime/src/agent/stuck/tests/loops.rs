//! Every kind of loop is stopped within its limit, one step after its only warning.

use super::{Driven, drive, turn};
use crate::agent::stuck::rule_names;
use std::collections::BTreeSet;

/// Loops, with the rule that ends them, the step at which it warns and the one at which it stops. What stands behind `...`
/// goes on for ever.
const LOOPS: &[(&str, &str, &str, (usize, usize))] = &[
    ("one command again and again", "... A", "same_call", (3, 4)),
    ("a command that may write", "... A*", "same_call", (3, 4)),
    ("after some work", "W* X Y ... A", "same_call", (6, 7)),
    ("with other words each time", "a:A b:A c:A d:A e:A f:A", "same_call", (3, 4)),
    ("a pair of calls in one answer", "... A+B", "same_call", (3, 4)),
    ("a pair in changing order", "... A+B B+A", "same_call", (3, 4)),
    ("a failing command", "... A!", "same_error", (2, 3)),
    ("a failing edit", "... A!*", "same_error", (2, 3)),
    ("a denied call", "X ... A!", "same_error", (3, 4)),
    ("a pair of which both fail", "... A!+B!", "same_error", (2, 3)),
    ("a pair of which one fails", "... A!+B", "same_call", (3, 4)),
    ("the same words and no call", "... hm:", "same_words", (2, 3)),
    ("not a word and no call", "X ... :", "same_words", (3, 4)),
    ("the same words and the same call", "... hm:A", "same_words", (2, 3)),
    ("two by turns", "... A B", "alternation", (5, 6)),
    ("an edit and its opposite", "... A* B*", "alternation", (5, 6)),
    ("two that fail by turns", "... A! B!", "alternation", (5, 6)),
    ("a call and words by turns", "... A hm:", "alternation", (5, 6)),
    ("three by turns", "... A B C", "cycle", (8, 9)),
    ("two of one and one of another", "... A A B", "often_again", (5, 7)),
    ("an edit, its test, its opposite, a look", "... A* B C* D", "no_progress", (11, 12)),
    ("five by turns", "... A B C D E", "no_progress", (12, 13)),
    ("the same between new looks", "A r1 A r2 A r3 A r4 A r5 A r6 A", "often_again", (7, 9)),
    (
        "three again between new looks",
        "A B C r1 A B C r2 A B C r3 A B C r4 A B C r5 A B C r6 A B C r7",
        "reading_again",
        (22, 23),
    ),
    ("the same between edits that fail", "A e1*! A e2*! A e3*! A e4*! A e5*! A", "often_again", (7, 9)),
    ("a test while the same edit is made twice", "T T e* T T a T e* T b T", "often_again", (9, 11)),
    ("words by turns", "... hm: well: so: then:", "no_progress", (11, 12)),
    ("nothing but errors", "e1! e2! e3! e4! e5! e6! e7! e8! e9! e10! e11! e12! e13! e14!", "only_errors", (11, 12)),
    ("a look at the background, unchanged", "... A~", "same_call", (19, 20)),
    ("a failing look while it sleeps", "... A!~", "same_error", (14, 15)),
    ("two looks by turns", "... A~ B~", "alternation", (29, 30)),
    ("waiting and looking by turns", "... A~ B", "alternation", (29, 30)),
];

/// A loop's steps, at least 40 of them if it goes on for ever.
fn unrolled(text: &str) -> String {
    match text.split_once("...") {
        Some((before, round)) => format!("{before} {}", round.repeat(40)),
        None => text.to_owned(),
    }
}

#[test]
fn each_loop_is_stopped_one_occurrence_after_the_only_warning() {
    for (what, steps, rule, (warn, stop)) in LOOPS {
        let expected = Driven { warned: vec![(*warn, *rule)], stopped: Some((*stop, *rule)) };
        assert_eq!(drive(turn(&unrolled(steps))), expected, "{what}");
    }
}

#[test]
fn every_rule_stops_something() {
    let used: BTreeSet<&str> = LOOPS.iter().map(|(_, _, rule, _)| *rule).collect();
    assert_eq!(used, rule_names().collect());
}

#[test]
fn a_model_that_heeds_the_warning_and_falls_back_is_stopped() {
    let driven = drive(turn("A A A X Y Z A A A A A A"));
    assert_eq!(
        (driven.warned.first(), driven.stopped),
        (Some(&(3, "same_call")), Some((8, "often_again"))),
        "{driven:?}"
    );
}

#[test]
fn a_loop_is_found_however_long_the_turn_was_before() {
    let work: String = (0..500).map(|n| format!("work{n}* look{n} ")).collect();
    let driven = drive(turn(&format!("{work} {}", "A ".repeat(8))));
    assert_eq!((driven.warned, driven.stopped), (vec![(1003, "same_call")], Some((1004, "same_call"))));
}

//! When two results are the same.

use crate::replaying::comparison::{CallOutcome, Likeness, compare, compare_texts};
use crate::replaying::normaliser::{Normaliser, Places};
use proptest::prelude::*;
use retrace_events::payload::tool::ToolExit;

fn texts(then: &str, now: &str) -> Likeness {
    compare_texts(then, now, &Places::default())
}

#[test]
fn the_normalisers_named_are_those_that_are_needed() {
    assert_eq!(texts("a\nb", "a\nb"), Likeness::Same);
    assert_eq!(texts("took 1s, pid 3", "took 2s, pid 3"), Likeness::Normalised(vec![Normaliser::Times]));
    let both = Likeness::Normalised(vec![Normaliser::Times, Normaliser::Pids]);
    assert_eq!(texts("took 1s, pid 3", "took 2s, pid 4"), both);
    assert_eq!(texts("took 1s: ok", "took 2s: failed"), Likeness::Differs);
}

#[test]
fn order_is_the_last_resort_and_said() {
    assert_eq!(texts("a\nb\nc", "c\na\nb"), Likeness::Reordered(vec![]));
    assert_eq!(texts("a in 1s\nb", "b\na in 2s"), Likeness::Reordered(vec![Normaliser::Times]));
    assert_eq!(texts("a\na\nb", "a\nb\nb"), Likeness::Differs, "as often as before");
    assert_eq!(texts("a\nb", "a\nb\nc"), Likeness::Differs);
}

#[test]
fn exit_error_and_images_count_whatever_the_words_are() {
    let exit = |code| Some(ToolExit { code: Some(code), signal: None, timed_out: false });
    let outcome = CallOutcome { text: "x".to_owned(), exit: exit(0), ..CallOutcome::default() };
    let compare = |other: CallOutcome| compare(&outcome, &other, &Places::default());
    assert_eq!(compare(outcome.clone()), Likeness::Same);
    assert_eq!(compare(CallOutcome { exit: exit(1), ..outcome.clone() }), Likeness::Differs);
    assert_eq!(compare(CallOutcome { exit: None, ..outcome.clone() }), Likeness::Differs);
    assert_eq!(compare(CallOutcome { is_error: true, ..outcome.clone() }), Likeness::Differs);
    assert_eq!(compare(CallOutcome { images: vec!["h".to_owned()], ..outcome.clone() }), Likeness::Differs);
}

#[test]
fn what_is_too_large_is_compared_as_it_is() {
    let large = "pid 1 ".repeat(800_000);
    assert_eq!(texts(&large, &large), Likeness::Same);
    assert_eq!(texts(&large, &large.replace('1', "2")), Likeness::Differs);
}

proptest! {
    #[test]
    fn it_does_not_matter_which_side_is_which(then in "(pid [0-9]|[ab]|1s|\n){0,8}", now in "(pid [0-9]|[ab]|2s|\n){0,8}") {
        prop_assert_eq!(texts(&then, &now), texts(&now, &then));
    }

    #[test]
    fn words_that_differ_differ(common in "[a-z\n]{0,40}") {
        prop_assert_eq!(texts(&format!("{common}yes"), &format!("{common}no")), Likeness::Differs);
    }

    #[test]
    fn lines_in_another_order_are_the_same_lines(mut lines in proptest::collection::vec("[a-z]{1,6}", 2..8), by in 1_usize..5) {
        let then = lines.join("\n");
        let turns = by % lines.len();
        lines.rotate_left(turns);
        let now = lines.join("\n");
        let likeness = texts(&then, &now);
        prop_assert!(likeness.is_alike(), "{:?}", likeness);
        prop_assert_eq!(likeness == Likeness::Same, then == now);
    }
}

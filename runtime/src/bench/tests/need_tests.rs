//! Needs and what is found of them, by hand.

use super::super::lexicon::Lexicon;
use super::super::measure::{Measure, Metric};
use super::super::need::Need;
use super::super::{Composed, Piece};
use super::{call, result, session, user};
use serde_json::json;

const OLD: &str = "let first_value = 1;\nlet second_value = 2;\nlet third_value = 3;";

fn played() -> super::BenchSession {
    session(vec![
        user("mend src/a.rs and src/b.rs"),
        result("Read", "src/a.rs", &format!("{OLD}\nlet fourth_value = 4;")),
        result("Read", "src/b.rs", "let second_value = 2;\n\nlet third_value = 3;"),
        call(
            "Edit",
            "src/a.rs",
            &json!({ "file_path": "src/a.rs", "old_string": OLD, "new_string": "let brand_new = 0;" }),
        ),
        result("Edit", "src/a.rs", "let brand_new = 0;"),
    ])
}

fn share(composed: &[Piece<'_>], measure: Measure, old: bool) -> Option<f64> {
    let (played, near) = (played(), [Piece::item(2, 1)]);
    let lexicon = Lexicon::of(&played.items);
    let need = Need::of(&played.items, &lexicon, 3);
    let found = |pieces: &[Piece<'_>]| need.find(&Composed::from(pieces.to_vec()), &lexicon);
    found(composed).share(Metric { measure, old }, &found(&near))
}

#[test]
fn needed_is_what_the_call_uses_and_what_was_there_before() {
    let played = played();
    let lexicon = Lexicon::of(&played.items);
    let need = Need::of(&played.items, &lexicon, 3);
    // src/a.rs and three values; `brand_new` comes only now.
    assert_eq!(need.size(Measure::Id), 4);
    assert_eq!(need.size(Measure::Line), 3);
    assert_eq!(need.size(Measure::Pair), 2);
    // What is no call, or is not there, needs what a call without input does.
    assert_eq!(Need::of(&played.items, &lexicon, 99).size(Measure::Id), 0);
}

#[test]
fn whole_items_and_texts_count_alike() {
    let text = played().items[1].text.clone();
    for (measure, metric) in [(Measure::Id, Some(0.75)), (Measure::Line, Some(1.0)), (Measure::Pair, Some(1.0))] {
        assert_eq!(share(&[Piece::item(1, 1)], measure, false), metric);
        assert_eq!(share(&[Piece::text(text.as_str(), 1)], measure, false), metric);
    }
    assert_eq!(share(&[], Measure::Id, false), Some(0.0));
}

#[test]
fn two_lines_in_two_pieces_are_no_pair() {
    let apart: Vec<Piece<'_>> = OLD.lines().map(|line| Piece::text(line, 1)).collect();
    assert_eq!(share(&apart, Measure::Line, false), Some(1.0));
    assert_eq!(share(&apart, Measure::Pair, false), Some(0.0));
    // Neither is a pair with another indentation.
    let shifted = OLD.replace("let second", " let second");
    assert_eq!(share(&[Piece::text(shifted, 1)], Measure::Pair, false), Some(0.0));
}

#[test]
fn old_is_what_the_tail_window_misses() {
    // The window has the second and the third line, so only the first is old.
    assert_eq!(share(&[Piece::item(2, 1)], Measure::Line, true), Some(0.0));
    assert_eq!(share(&[Piece::text("  let first_value = 1;", 1)], Measure::Line, true), Some(1.0));
    assert_eq!(share(&[Piece::item(1, 1)], Measure::Pair, true), Some(1.0));
}

#[test]
fn where_nothing_is_needed_there_is_no_share() {
    let played = session(vec![user("go"), call("Read", "", &json!({ "path": "x" }))]);
    let lexicon = Lexicon::of(&played.items);
    let found = Need::of(&played.items, &lexicon, 1).find(&Composed::default(), &lexicon);
    assert!(Metric::ALL.into_iter().all(|metric| found.share(metric, &found).is_none()));
}

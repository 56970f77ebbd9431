//! What stands in an epoch, line by line.

use super::super::standing::{LinesOf, MissingLines, Standing};
use proptest::prelude::*;

fn file() -> LinesOf {
    LinesOf::file("a.rs")
}

/// The runs from line to before line.
fn runs(missing: &MissingLines) -> Vec<(usize, usize)> {
    missing.runs.iter().map(|run| (run.start, run.end)).collect()
}

#[test]
fn a_line_stands_where_it_stood_behind_the_line_before() {
    let mut standing = Standing::default();
    standing.mark(file(), ["let a = 1;", "let b = 2;", "let c = 3;"], 5);
    assert_eq!(runs(&standing.missing(file(), &["let a = 1;", "let b = 2;", "let c = 3;"])), []);
    let missing = standing.missing(file(), &["let a = 1;", "let c = 3;", "let d = 4;", "let d = 5;"]);
    assert_eq!((runs(&missing), missing.share), (vec![(0, 4)], 1.0));
    // Only what is new, with the line before it.
    let missing = standing.missing(file(), &["let a = 1;", "let b = 2;", "let x = 9;", "let b = 2;", "let c = 3;"]);
    assert_eq!((runs(&missing), missing.share), (vec![(1, 4)], 0.5));
    assert_eq!(runs(&standing.missing(file(), &["let b = 2;"])), []);
    assert_eq!(runs(&standing.missing(file(), &["let z = 2;"])), [(0, 1)]);
    assert_eq!(runs(&standing.missing(file(), &[])), []);
}

#[test]
fn a_brace_at_the_very_end_is_no_news() {
    let mut standing = Standing::default();
    standing.mark(file(), ["let a = 1;", "let b = 2;"], 5);
    assert_eq!(runs(&standing.missing(file(), &["let a = 1;", "let b = 2;", "}"])), []);
    assert_eq!(runs(&standing.missing(file(), &["let a = 1;", "}", "let b = 2;"])), [(0, 3)]);
}

#[test]
fn files_share_nothing_and_outputs_all() {
    let mut standing = Standing::default();
    standing.mark(file(), ["one", "two"], 5);
    standing.mark(LinesOf::OUTPUTS, ["three", "four"], 5);
    assert_eq!(runs(&standing.missing(LinesOf::file("b.rs"), &["one", "two"])), [(0, 2)]);
    assert_eq!(runs(&standing.missing(LinesOf::OUTPUTS, &["one", "two"])), [(0, 2)]);
    assert_eq!(runs(&standing.missing(LinesOf::OUTPUTS, &["three", "four"])), []);
    // Compared is what is shown of a line.
    let long = "x".repeat(5_000);
    standing.mark(LinesOf::OUTPUTS, ["five", &long], 5);
    assert_eq!(runs(&standing.missing(LinesOf::OUTPUTS, &["five", &long[..300]])), []);
    standing.mark(file(), ["five", &long], 5);
    assert_eq!(runs(&standing.missing(file(), &["five", &long[..400]])), []);
}

#[test]
fn a_fresh_epoch_keeps_what_came_with_it() {
    let mut standing = Standing::default();
    standing.mark(file(), ["one", "two"], 5);
    standing.mark(file(), ["two", "three"], 6);
    standing.keep_from(6);
    assert_eq!(runs(&standing.missing(file(), &["one", "two", "three"])), [(0, 2)]);
    // Shown again later, it stays longer.
    standing.mark(file(), ["two", "three"], 9);
    standing.keep_from(9);
    assert_eq!(runs(&standing.missing(file(), &["two", "three"])), []);
}

#[test]
fn without_epochs_the_older_half_goes() {
    let mut standing = Standing::default();
    let lines: Vec<String> = (0..300_000).map(|n| format!("line {n}")).collect();
    for (place, pair) in lines.chunks(1_000).enumerate() {
        standing.mark(file(), pair.iter().map(String::as_str), place as u64);
    }
    assert_eq!(runs(&standing.missing(file(), &[&lines[299_000], &lines[299_001]])), []);
    assert_eq!(runs(&standing.missing(file(), &[&lines[0], &lines[1]])), [(0, 2)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// What is shown of some lines is all that is missing: afterwards nothing is, whatever stood there before. Runs are in order
    /// and do not touch.
    #[test]
    fn shown_once_nothing_is_missing(
        before in prop::collection::vec("[a-d]{3}|\\}|", 0..20),
        lines in prop::collection::vec("[a-d]{3}|\\}|", 0..20),
    ) {
        let mut standing = Standing::default();
        standing.mark(file(), before.iter().map(String::as_str), 1);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let missing = standing.missing(file(), &lines);
        prop_assert!((0.0..=1.0).contains(&missing.share));
        prop_assert_eq!(missing.share > 0.0, !missing.runs.is_empty());
        for pair in missing.runs.windows(2) {
            prop_assert!(pair[0].end < pair[1].start, "{:?}", missing.runs);
        }
        for run in missing.runs {
            prop_assert!(run.end <= lines.len() && (run.len() > 1 || lines.len() == 1));
            standing.mark(file(), lines[run].iter().copied(), 2);
        }
        prop_assert!(standing.missing(file(), &lines).runs.is_empty());
    }
}

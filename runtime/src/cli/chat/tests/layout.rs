//! Where the line editor writes.

use super::super::layout::misplaced;

#[test]
fn a_line_that_fits_and_ends_at_the_cursor_is_no_danger() {
    for line in ["", "short", "two\nlines", "three\nlines\nhere", &"x".repeat(96)] {
        assert!(!misplaced(line, line.len(), 2, 100), "{line:?}");
    }
    // It wraps, and is counted as it is.
    assert!(!misplaced(&"x".repeat(150), 150, 2, 100));
}

#[test]
fn an_empty_last_line_is_not_counted() {
    assert!(misplaced("ends with one\n", 14, 2, 100));
    assert!(misplaced("\n", 1, 2, 100));
}

#[test]
fn a_cursor_further_up_is_a_danger() {
    assert!(misplaced("two\nlines", 1, 2, 100));
    assert!(misplaced(&"x".repeat(150), 10, 2, 100));
    assert!(!misplaced("one line", 1, 2, 100));
}

#[test]
fn characters_of_several_bytes_are_a_danger_when_they_fit_and_are_counted_as_if_not() {
    let fits = "世".repeat(40);
    assert!(misplaced(&fits, fits.len(), 2, 100), "120 bytes, 80 columns");
    let few = "世".repeat(30);
    assert!(!misplaced(&few, few.len(), 2, 100), "90 bytes, 60 columns");
    let accents = "é".repeat(60);
    assert!(misplaced(&accents, accents.len(), 2, 100), "120 bytes, 60 columns");
}

#[test]
fn the_very_edge_and_odd_sizes_are_decided_too() {
    let edge = "x".repeat(97);
    assert!(misplaced(&edge, 97, 2, 100), "100 counted, 99 columns");
    assert!(!misplaced(&edge, 97, 15, 100), "a longer prompt wraps it");
    misplaced("é", 1, 2, 0);
    misplaced("", 9, 2, 1);
}

//! The stretch of a text that holds most of the words.

use super::NOW;
use crate::query::Query;
use crate::query::window::{Matches, best_window};
use proptest::prelude::*;

fn window(query: &str, text: &str, max_chars: usize) -> String {
    let matches = Matches::of(&Query::parse(query, NOW), text);
    text[best_window(text, &matches, max_chars)].to_owned()
}

#[test]
fn different_words_beat_the_same_word_again() {
    let text = format!("red red red red {} red blue {} blue blue", "x ".repeat(60), "y ".repeat(60));
    assert!(window("red blue", &text, 40).contains("red blue"));
}

#[test]
fn more_matches_beat_fewer() {
    let text = format!("red {} red red red", "x ".repeat(100));
    assert!(window("red", &text, 30).contains("red red red"));
}

#[test]
fn of_equals_the_first() {
    let text = format!("alpha one {} alpha two", "x ".repeat(100));
    assert!(window("alpha", &text, 30).starts_with("alpha one"));
}

#[test]
fn a_text_that_fits_is_shown_whole() {
    assert_eq!(window("x", "  a short text\n", 100), "a short text");
    assert_eq!(window("x", "", 100), "");
    assert_eq!(window("x", " \n ", 2), "");
}

#[test]
fn a_match_that_is_too_long_is_begun() {
    let long = "z".repeat(500);
    let shown = window(&long, &format!("a b {long} c"), 50);
    assert!(shown.starts_with('z') && shown.chars().count() <= 48, "{shown}");
}

proptest! {
    #[test]
    fn windows_lie_inside_and_fit(text in "([abc é漢\n]{0,30}){0,5}", words in "[abcé漢 ]{0,8}", max_chars in 0_usize..50) {
        let matches = Matches::of(&Query::parse(&words, NOW), &text);
        let window = best_window(&text, &matches, max_chars);
        prop_assert!(text.is_char_boundary(window.start) && text.is_char_boundary(window.end));
        let shown = &text[window];
        prop_assert!(shown.chars().count() <= max_chars);
        prop_assert_eq!(shown.trim(), shown);
    }
}

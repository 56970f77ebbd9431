//! Snippets: the right piece of the text, and marks that lie where the words are.

use super::NOW;
use crate::query::{Query, Snippet};
use expect_test::{Expect, expect};
use proptest::prelude::*;

/// The snippet with `[` and `]` around what is marked.
fn marked(snippet: &Snippet) -> String {
    let mut shown = snippet.text.clone();
    for span in snippet.highlights.iter().rev() {
        shown.insert(span.end, ']');
        shown.insert(span.start, '[');
    }
    shown
}

fn check(query: &str, text: &str, max_chars: usize, expected: Expect) {
    expected.assert_eq(&marked(&Snippet::of(&Query::parse(query, NOW), text, max_chars)));
}

const STORY: &str = "The build ran for a while. Then the linker said that it cannot find value frobnicate in this scope, \
                     which came from a macro. After the macro was fixed the build was green again and everybody went home.";

#[test]
fn the_piece_where_the_words_meet() {
    check("frobnicate scope", STORY, 60, expect!["…find value [frobnicate] in this [scope], which came from a…"]);
    check("green build", STORY, 50, expect!["…fixed the [build] was [green] again and everybody…"]);
    check("home", STORY, 30, expect!["…and everybody went [home]."]);
    check("The while", STORY, 30, expect!["[The] build ran for a [while].…"]);
}

#[test]
fn without_a_match_the_beginning() {
    check("zebra", STORY, 30, expect!["The build ran for a while.…"]);
    check("", STORY, 20, expect!["The build ran for…"]);
    check("kind:code", "short", 20, expect!["short"]);
}

#[test]
fn inflected_words_and_parts_of_names_are_marked() {
    check("logging errors", "It logged one error.", 80, expect!["It [logged] one [error]."]);
    check(
        "indexWriter",
        "the index_writer and an IndexWriter",
        80,
        expect!["the [index]_[writer] and an [IndexWriter]"],
    );
    check("café", "In the CAFE and the cafe\u{301}.", 80, expect!["In the [CAFE] and the [cafe\u{301}]."]);
}

#[test]
fn excluded_words_are_not_marked() {
    check("one -two", "one two", 80, expect!["[one] two"]);
}

#[test]
fn scripts_without_spaces() {
    check("検索", "全文検索は速い", 80, expect!["全文[検索]は速い"]);
    check("検索", "全文検索は速いです。日本語の文書です。", 8, expect!["…文[検索]は速い…"]);
}

#[test]
fn tiny_and_absurd_sizes() {
    let query = Query::parse("word", NOW);
    assert_eq!(Snippet::of(&query, "a word here", 0), Snippet::default());
    for max_chars in 1..6 {
        let snippet = Snippet::of(&query, "a word here", max_chars);
        assert!(snippet.text.chars().count() <= max_chars, "{snippet:?}");
    }
    let long = "x".repeat(3_000_000);
    assert!(Snippet::of(&query, &long, 100).text.chars().count() <= 100);
    let many = "word ".repeat(500_000);
    let snippet = Snippet::of(&query, &many, 100);
    assert!(snippet.text.chars().count() <= 100);
    assert!(!snippet.highlights.is_empty());
}

proptest! {
    /// Whatever the text and the query: marks lie inside, on whole characters, in order, apart from each other, and what is
    /// shown is a piece of the text of at most the wanted length.
    #[test]
    fn marks_lie_inside(
        text in "([a-cA-C ._/é漢\u{301}\n-]{0,20}|\\PC{0,20}){0,6}",
        words in "[a-cA-C é漢./\"-]{0,12}",
        max_chars in 0_usize..60,
    ) {
        let snippet = Snippet::of(&Query::parse(&words, NOW), &text, max_chars);
        prop_assert!(snippet.text.chars().count() <= max_chars, "{:?}", snippet);
        let mut end = 0;
        for span in &snippet.highlights {
            prop_assert!(span.start < span.end && span.end <= snippet.text.len());
            prop_assert!(snippet.text.is_char_boundary(span.start) && snippet.text.is_char_boundary(span.end));
            prop_assert!(end == 0 || span.start > end);
            end = span.end;
        }
        let piece = snippet.text.trim_start_matches('…').trim_end_matches('…');
        prop_assert!(text.contains(piece), "{:?} in {:?}", piece, text);
    }

    /// A word that is in the text is shown, if it fits.
    #[test]
    fn a_word_that_is_there_is_marked(before in "[a-y ]{0,80}", after in "[a-y ]{0,80}") {
        let text = format!("{before} zz1 {after}");
        let snippet = Snippet::of(&Query::parse("zz1", NOW), &text, 20);
        let shown: Vec<&str> = snippet.highlights.iter().map(|span| &snippet.text[span.clone()]).collect();
        prop_assert_eq!(shown, vec!["zz1"], "{:?}", snippet);
    }
}

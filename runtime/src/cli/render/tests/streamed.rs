//! An answer's text as it comes in.

use super::{SECRET, redactor};
use crate::cli::render::streamed::Streamed;
use proptest::prelude::*;

/// What is on the screen after `pieces`.
fn screen(pieces: &[String]) -> String {
    let redactor = redactor();
    let mut streamed = Streamed::default();
    let mut screen: String = pieces.iter().map(|piece| streamed.push(piece, &redactor)).collect();
    screen.push_str(&streamed.finish(&redactor));
    screen
}

fn words(pieces: &[&str]) -> String {
    screen(&pieces.iter().map(|piece| (*piece).to_owned()).collect::<Vec<_>>())
}

#[test]
fn text_comes_word_by_word() {
    let redactor = redactor();
    let mut streamed = Streamed::default();
    assert_eq!(streamed.push("Hel", &redactor), "");
    assert!(!streamed.begun());
    assert_eq!(streamed.push("lo wor", &redactor), "Hello");
    assert!(streamed.begun());
    assert_eq!(streamed.push("ld, this\nnext ", &redactor), " world, this\nnext");
    assert_eq!(streamed.finish(&redactor), "\n");
    assert_eq!(streamed.push("again", &redactor), "");
    assert_eq!(streamed.finish(&redactor), "again\n");
    assert_eq!(streamed.finish(&redactor), "");
}

#[test]
fn a_secret_in_pieces_is_not_shown() {
    assert_eq!(words(&["it is hunt", "er2-correct", "-horse. ", "ok"]), "it is [redacted:known]. ok\n");
    assert_eq!(words(&["hunter2-", "correct-horse"]), "[redacted:known]\n");
}

#[test]
fn blocks_of_one_answer_stand_on_lines_of_their_own() {
    let redactor = redactor();
    let mut streamed = Streamed::default();
    let mut screen = streamed.push("first block", &redactor);
    screen.push_str(&streamed.end_block(&redactor));
    screen.push_str(&streamed.end_block(&redactor));
    screen.push_str(&streamed.push("second", &redactor));
    screen.push_str(&streamed.finish(&redactor));
    assert_eq!(screen, "first block\nsecond\n");
}

#[test]
fn a_line_without_end_is_printed_all_the_same() {
    let screen = screen(&vec!["word ".repeat(100); 100]);
    assert_eq!(screen.trim_end().replace('\n', ""), "word ".repeat(10_000).trim_end());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// However the text is cut: all words arrive, and no secret does.
    #[test]
    fn cuts_do_not_matter(
        before in "[a-z \n]{0,40}",
        after in "[a-z \n]{0,40}",
        cuts in prop::collection::vec(1_usize..7, 1..60),
    ) {
        let whole = format!("{before} {SECRET} {after}");
        let mut rest: &str = &whole;
        let mut pieces = Vec::new();
        for cut in cuts {
            let (piece, left) = rest.split_at(cut.min(rest.len()));
            pieces.push(piece.to_owned());
            rest = left;
        }
        pieces.push(rest.to_owned());
        let screen = screen(&pieces);
        prop_assert!(!screen.contains("hunter2-c"), "{screen}");
        let expected = whole.replace(SECRET, "[redacted:known]");
        prop_assert_eq!(screen.split_whitespace().collect::<Vec<_>>(), expected.split_whitespace().collect::<Vec<_>>());
    }
}

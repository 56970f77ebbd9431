//! Marks stay on the words they were on, whatever has to be taken out around them.

use super::{NASTY, SECRET, marked, redactor};
use crate::cli::render::Style;
use crate::cli::search::passage::Passage;
use proptest::prelude::*;
use retrace_events::redact::Redactor;

/// The passage of a text with marks, after what is done to it before it is shown.
fn shown(text: &str) -> Passage {
    let snippet = marked(text);
    Passage::new(&snippet.text, &snippet.highlights).shown(redactor())
}

/// The passage with its marks written as ‹ and ›.
fn written(passage: &Passage) -> String {
    let mut text = String::new();
    let mut at = 0;
    for mark in &passage.marks {
        text.push_str(&format!("{}‹{}›", &passage.text[at..mark.start], &passage.text[mark.clone()]));
        at = mark.end;
    }
    text + &passage.text[at..]
}

#[test]
fn marks_survive_what_is_taken_out() {
    let table = [
        ("plain ‹words› stay", "plain ‹words› stay".to_owned()),
        ("日本語 ‹検索› です", "日本語 ‹検索› です".to_owned()),
        ("\u{1b}[31mred\u{1b}[0m ‹word› \u{1b}[1mbold", "red ‹word› bold".to_owned()),
        ("\u{1b}[31m‹col›our\u{1b}[0m", "‹col›our".to_owned()),
        ("tab\t‹x›\ttab", "tab ‹x› tab".to_owned()),
        ("a\r\n‹b›\r\nc", "a\n‹b›\nc".to_owned()),
        ("a\rb ‹c›", "a b ‹c›".to_owned()),
        ("‹a› ‹b›\n‹c›", "‹a› ‹b›\n‹c›".to_owned()),
        ("no marks", "no marks".to_owned()),
        ("", String::new()),
    ];
    for (text, expected) in table {
        assert_eq!(written(&shown(text)), expected, "{text:?}");
    }
}

#[test]
fn a_mark_in_a_secret_goes_and_those_around_it_stay() {
    let text = format!("‹before› {SECRET} ‹behind›");
    assert_eq!(written(&shown(&text)), "‹before› [redacted:known] ‹behind›");
    let text = format!("‹before› ‹{SECRET}› behind");
    assert_eq!(written(&shown(&text)), "‹before› [redacted:known] behind");
}

#[test]
fn a_secret_that_was_held_apart_is_found() {
    let (head, tail) = SECRET.split_at(9);
    for between in ["\u{1b}[0m", "\u{200b}", "\u{1b}[31m\u{1b}[0m"] {
        let passage = shown(&format!("key {head}{between}{tail} ‹end›"));
        assert_eq!(written(&passage), "key [redacted:known] ‹end›", "{between:?}");
    }
}

#[test]
fn a_secret_that_cleaning_would_change_is_found_before() {
    let redactor = Redactor::new(vec!["open\tsesame\u{1b}now".to_owned()]);
    let text = "say open\tsesame\u{1b}now to it";
    let passage = Passage::new(text, &[]).shown(&redactor);
    assert_eq!(passage.text, "say [redacted:known] to it");
}

#[test]
fn nothing_harmful_is_left() {
    let passage = shown(&format!("‹{NASTY}›{NASTY}‹x›{NASTY}"));
    assert!(passage.text.chars().all(|c| !c.is_control() && !matches!(c, '\u{202a}'..='\u{202e}')), "{passage:?}");
    assert!(passage.marks.iter().all(|mark| passage.text.get(mark.clone()).is_some()), "{passage:?}");
}

#[test]
fn marks_that_cannot_be_meant_are_dropped() {
    let text = "äöü";
    let reversed = std::ops::Range { start: 4, end: 2 };
    let marks = [0..1, 0..2, reversed, 2..2, 4..99, usize::MAX - 1..usize::MAX, 1..4, 4..6];
    assert_eq!(Passage::new(text, &marks).marks, [0..2, 4..6]);
    let overlapping = [0..4, 2..6];
    assert_eq!(Passage::new(text, &overlapping).marks, vec![0..4]);
    let many: Vec<_> = (0..1_000).map(|at| at..at + 1).collect();
    assert_eq!(Passage::new(&"x".repeat(1_000), &many).marks.len(), 64);
}

#[test]
fn what_is_far_too_long_is_cut_at_a_character() {
    let passage = Passage::new(&"€".repeat(100_000), &[0..3, 16_383..16_386, 90_000..90_003]);
    assert_eq!((passage.text.len(), passage.marks.as_slice()), (16_383, std::slice::from_ref(&(0..3))));
}

#[test]
fn marks_are_counted_in_characters_for_programs() {
    let snippet = marked("日本 ‹検索› and ‹naïve›");
    let passage = Passage::new(&snippet.text, &snippet.highlights);
    assert_eq!(passage.marks_in_chars(), [[3, 5], [10, 15]]);
}

#[test]
fn lines_are_broken_at_blanks_where_there_are_some() {
    let lines = |text: &str, width| {
        let passage = Passage::new(text, &[]);
        passage.lines(width, 6).into_iter().map(|line| passage.text[line].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(lines("one two three four", Some(9)), ["one two", "three", "four"]);
    assert_eq!(lines("abcdefghijkl", Some(5)), ["abcde", "fghij", "kl"]);
    assert_eq!(lines("漢字漢字漢", Some(5)), ["漢字", "漢字", "漢"]);
    assert_eq!(lines("a\n\n  \n  b  \n", Some(5)), ["a", "  b"]);
    assert_eq!(lines("one two three", None), ["one two three"]);
    assert_eq!(lines("漢", Some(0)), ["漢"]);
}

#[test]
fn a_mark_over_a_line_end_is_painted_on_both_lines() {
    let snippet = marked("ab‹cd\nef›gh");
    let passage = Passage::new(&snippet.text, &snippet.highlights);
    let painted: Vec<String> =
        passage.lines(None, 6).iter().map(|line| passage.painted(line, Style::Coloured)).collect();
    assert_eq!(painted, ["ab\u{1b}[33mcd\u{1b}[0m", "\u{1b}[33mef\u{1b}[0mgh"]);
}

proptest! {
    #[test]
    fn any_text_with_any_marks_is_shown(
        text in "\\PC{0,40}(\u{1b}\\[[0-9]{0,2}[mJ]?|[\r\n\t\u{0}\u{200b}]){0,4}\\PC{0,40}",
        marks in proptest::collection::vec((0_usize..120, 0_usize..120), 0..6),
        width in 0_usize..30,
    ) {
        let marks: Vec<_> = marks.into_iter().map(|(start, end)| start..end).collect();
        let passage = Passage::new(&text, &marks).shown(redactor());
        for mark in &passage.marks {
            prop_assert!(passage.text.get(mark.clone()).is_some_and(|word| !word.is_empty()));
        }
        prop_assert!(passage.marks.windows(2).all(|pair| pair[0].end <= pair[1].start));
        // What is painted is what is there: the colours aside nothing is added, and only blanks are lost.
        let words = |text: &str| text.split_whitespace().collect::<String>();
        let painted: String =
            passage.lines(Some(width), usize::MAX).iter().map(|line| passage.painted(line, Style::Plain)).collect();
        prop_assert_eq!(words(&painted), words(&passage.text));
    }

    #[test]
    fn a_mark_stays_on_its_word(before in "[a-z\u{e4}\u{1b}\\[0-9m\r\t ]{0,30}", behind in "[a-z\u{e4}\t ]{0,30}") {
        let passage = shown(&format!("{before}\n‹WORD›\n{behind}"));
        prop_assert_eq!(passage.marks.len(), 1);
        prop_assert_eq!(&passage.text[passage.marks[0].clone()], "WORD");
    }
}

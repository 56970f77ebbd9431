//! Capping: never over the limit, never inside a character, head and tail kept; and the small texts.

use crate::tools::output::{Omitted, cap, count_lines, cut_line, head_of, one_line, plural, tail_of, thousands};
use proptest::prelude::*;

fn note(omitted: Omitted) -> String {
    format!("[{} lines, {} bytes, from {}]", omitted.lines, omitted.bytes, omitted.first_line)
}

#[test]
fn a_short_text_stays_as_it_is() {
    assert_eq!(cap("one\ntwo\n", 8, note), ("one\ntwo\n".to_owned(), None));
    assert_eq!(cap("", 0, note), (String::new(), None));
}

#[test]
fn a_long_text_keeps_whole_lines_of_head_and_tail() {
    let text: String = (1..=1000).map(|n| format!("line {n}\n")).collect();
    let (capped, omitted) = cap(&text, 500, note);
    let omitted = omitted.unwrap();
    let (head, tail) = capped.split_once('[').unwrap();
    assert!(head.starts_with("line 1\nline 2\n") && head.ends_with('\n'), "{head}");
    let tail = tail.split_once("]\n").unwrap().1;
    assert!(tail.starts_with("line ") && tail.ends_with("line 999\nline 1000\n"), "{tail}");
    assert!(tail.len() > head.len(), "the tail has the greater share");
    assert_eq!(head.lines().count() + tail.lines().count() + omitted.lines, 1000);
    assert_eq!(head.len() + tail.len() + omitted.bytes, text.len());
    assert_eq!(omitted.first_line, head.lines().count() + 1);
}

#[test]
fn one_endless_line_is_cut_inside() {
    let text = "ä".repeat(5_000);
    let (capped, omitted) = cap(&text, 1_000, note);
    assert!(capped.len() <= 1_000 && capped.len() > 900, "{}", capped.len());
    assert!(capped.starts_with("ää") && capped.ends_with("ää"));
    assert_eq!((omitted.unwrap().lines, omitted.unwrap().first_line), (1, 1));
}

#[test]
fn a_limit_smaller_than_the_note_leaves_the_note() {
    let (capped, omitted) = cap("0123456789\n0123456789\n0123456789\n", 5, note);
    assert_eq!(capped, "[3 lines, 33 bytes, from 1]\n");
    assert_eq!(omitted, Some(Omitted { lines: 3, bytes: 33, first_line: 1 }));
}

#[test]
fn lines_are_counted_with_the_last_unfinished_one() {
    let table = [("", 0), ("\n", 1), ("a", 1), ("a\n", 1), ("a\nb", 2), ("a\n\n", 2)];
    for (text, lines) in table {
        assert_eq!(count_lines(text), lines, "{text:?}");
    }
}

#[test]
fn a_line_is_cut_by_characters() {
    assert_eq!(cut_line("äöü", 3), "äöü");
    assert_eq!(cut_line("äöüß!", 3), "äöü [line cut: 2 more characters]");
}

#[test]
fn numbers_are_readable() {
    let table =
        [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"), (u64::MAX, "18,446,744,073,709,551,615")];
    for (number, text) in table {
        assert_eq!(thousands(number), text);
    }
    assert_eq!((plural(1, "line"), plural(0, "line")), ("1 line".to_owned(), "0 lines".to_owned()));
}

#[test]
fn a_summary_is_one_line() {
    assert_eq!(one_line("cargo  test\n  --all", 80), "cargo test --all");
    assert_eq!(one_line("", 80), "");
    assert_eq!(one_line("abc def", 5), "abc d…");
    assert_eq!(one_line("abcdefgh", 5), "abcde…");
    assert_eq!(one_line("abcde", 5), "abcde");
}

proptest! {
    #[test]
    fn a_cap_holds_and_both_ends_are_the_texts_own(text in "(.|\n|ä|€|🦀){0,150}", limit in 60_usize..200) {
        let (capped, omitted) = cap(&text, limit, note);
        prop_assert!(capped.len() <= limit, "{} > {limit}", capped.len());
        match omitted {
            None => prop_assert_eq!(capped, text),
            Some(omitted) => {
                let (head, tail) = capped.split_once(&format!("{}\n", note(omitted))).unwrap();
                // A head that ends inside a line was given a line end.
                let head = &head[..text.len() - omitted.bytes - tail.len()];
                prop_assert!(text.starts_with(head) && text.ends_with(tail));
            }
        }
    }

    #[test]
    fn head_and_tail_are_within_their_limits(text in "(.|\n|€){0,200}", limit in 0_usize..300) {
        let (head, tail) = (head_of(&text, limit), tail_of(&text, limit));
        prop_assert!(head.len() <= limit && text.starts_with(head));
        prop_assert!(tail.len() <= limit && text.ends_with(tail));
        if text.len() <= limit {
            prop_assert_eq!((head, tail), (text.as_str(), text.as_str()));
        }
    }

    #[test]
    fn one_line_has_no_line_end_and_its_limit(text in "(.|\n| ){0,100}", limit in 1_usize..50) {
        let line = one_line(&text, limit);
        prop_assert!(!line.contains('\n') && line.chars().count() <= limit + 1, "{:?}", line);
    }
}

//! What a terminal would have shown, and what is no text at all.

use super::super::clean::{ENCODED_RUN_BYTES, LINE_HEAD_BYTES, LeftOut, MAX_LINE_BYTES, without_escapes, worth};
use proptest::prelude::*;
use std::borrow::Cow;

#[test]
fn escapes_go_and_words_stay_apart() {
    assert_eq!(without_escapes("\x1b[31merror\x1b[0m: a\tb"), "error: a\tb");
    assert_eq!(without_escapes("10%\r20%\r\n\x1b[2Kdone"), "10%\n20%\ndone");
    assert_eq!(without_escapes("\x1b]8;;file:///x\x07link\x1b]8;;\x07"), "link");
    assert!(matches!(without_escapes("plain\ttext\n"), Cow::Borrowed(_)));
    assert_eq!(without_escapes("a\x0Bb\x0Cc\x7F"), "a\nb\nc");
}

#[test]
fn encoded_bytes_go_and_long_words_stay() {
    let mut left_out = LeftOut::default();
    let path = "a/very/long/path/".repeat(20) + "file.rs: it is kept";
    assert_eq!(worth(&path, &mut left_out), path);
    assert_eq!(left_out, LeftOut::default());
    let run = "QUJD".repeat(ENCODED_RUN_BYTES / 4);
    assert_eq!(worth(&format!("before {run} behind {run}"), &mut left_out), "before   behind  ");
    assert_eq!(left_out, LeftOut { lines: 1, bytes: 2 * (run.len() as u64 - 1) });
    let json = r#"{"name":"value","list":[1,2,3]},"#.repeat(100);
    assert_eq!(worth(&json, &mut left_out), json);
    let chinese = "漢字".repeat(1_000);
    assert_eq!(worth(&chinese, &mut left_out), chinese);
}

#[test]
fn of_a_line_without_end_a_beginning_is_taken() {
    let mut left_out = LeftOut::default();
    let line = "é ".repeat(MAX_LINE_BYTES);
    let kept = worth(&line, &mut left_out);
    assert!(kept.len() <= LINE_HEAD_BYTES && kept.len() + 4 > LINE_HEAD_BYTES);
    assert_eq!(left_out, LeftOut { lines: 1, bytes: (line.len() - kept.len()) as u64 });
    let long = "ab ".repeat(MAX_LINE_BYTES / 3);
    assert_eq!(worth(&long, &mut left_out), long);
    assert!(worth(&format!("{line}\n"), &mut left_out).ends_with('\n'), "lines stay apart");
}

proptest! {
    #[test]
    fn what_is_kept_and_what_is_counted_make_the_line(line in "[a-zA-Z0-9+/= \u{0}é\u{FFFD}]{0,2000}") {
        let mut left_out = LeftOut::default();
        let kept = worth(&line, &mut left_out).len();
        prop_assert_eq!(kept as u64 + left_out.bytes, line.len() as u64);
        prop_assert_eq!(left_out.lines, u64::from(left_out.bytes > 0));
    }

    #[test]
    fn no_control_character_is_left(text in "[a-z\u{1b}\\[0-9;m\r\n\t\u{7}\u{7f}]{0,200}") {
        let clean = without_escapes(&text);
        prop_assert!(!clean.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{:?}", clean);
        prop_assert_eq!(without_escapes(&clean), clean.clone());
    }
}

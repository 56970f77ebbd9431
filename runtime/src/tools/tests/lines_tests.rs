//! The line scanner: any cut into pieces gives the same lines, in bounded memory.

use crate::tools::lines::{Line, LineScanner};
use crate::tools::text_file::LineEnds;
use proptest::prelude::*;

type Seen = Vec<(u64, String, u64)>;

fn scan(pieces: &[&str], keep_chars: u64) -> (Seen, u64, LineEnds) {
    let mut seen = Vec::new();
    let mut visit = |line: Line<'_>| seen.push((line.number, line.text.to_owned(), line.omitted_chars));
    let mut scanner = LineScanner::new(keep_chars);
    for piece in pieces {
        scanner.feed(piece, &mut visit);
    }
    let (lines, ends) = scanner.finish(&mut visit);
    (seen, lines, ends)
}

fn texts(seen: &Seen) -> Vec<&str> {
    seen.iter().map(|(_, text, _)| text.as_str()).collect()
}

#[test]
fn lines_end_where_they_should() {
    let table: [(&str, &[&str], (u64, u64)); 8] = [
        ("", &[], (0, 0)),
        ("a", &["a"], (0, 0)),
        ("a\nb\n", &["a", "b"], (0, 2)),
        ("a\r\nb", &["a", "b"], (1, 0)),
        ("\r\n\n", &["", ""], (1, 1)),
        ("a\rb\n", &["a\rb"], (0, 1)),
        ("a\r\r\n", &["a\r"], (1, 0)),
        ("a\r", &["a\r"], (0, 0)),
    ];
    for (text, lines, (crlf, lf)) in table {
        let (seen, count, ends) = scan(&[text], 100);
        assert_eq!(texts(&seen), lines, "{text:?}");
        assert_eq!((count, ends), (lines.len() as u64, LineEnds { crlf, lf }), "{text:?}");
    }
}

#[test]
fn a_line_end_split_over_pieces_is_one() {
    let (seen, _, ends) = scan(&["a\r", "\nb"], 100);
    assert_eq!(texts(&seen), ["a", "b"]);
    assert_eq!(ends, LineEnds { crlf: 1, lf: 0 });
}

#[test]
fn a_long_line_is_cut_and_counted() {
    let (seen, ..) = scan(&["äbc", "def\r\n", "xyz"], 3);
    assert_eq!(seen, [(1, "äbc".to_owned(), 3), (2, "xyz".to_owned(), 0)]);
}

#[test]
fn a_numbered_line_says_what_it_lacks() {
    let mut text = String::new();
    Line { number: 12, text: "abc", omitted_chars: 0 }.write_numbered(&mut text);
    Line { number: 13, text: "abc", omitted_chars: 1_500 }.write_numbered(&mut text);
    assert_eq!(text, "    12\tabc\n    13\tabc [line cut: 1,500 more characters]\n");
}

proptest! {
    #[test]
    fn pieces_do_not_matter(pieces in prop::collection::vec("[a€\r\n]{0,6}", 0..12), keep in 0_u64..8) {
        let parts: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let whole = pieces.concat();
        prop_assert_eq!(scan(&parts, keep), scan(&[&whole], keep));
    }

    #[test]
    fn lines_are_those_of_the_standard_library(text in "[a€\r\n]{0,40}") {
        let (seen, count, _) = scan(&[&text], 1_000);
        // `str::lines` differs in one thing only: it takes a `\r` at the very end off as well.
        let expected: Vec<&str> = text.split_inclusive('\n').map(|line| {
            line.strip_suffix("\r\n").or_else(|| line.strip_suffix('\n')).unwrap_or(line)
        }).collect();
        prop_assert_eq!(texts(&seen), expected);
        prop_assert_eq!(count, seen.len() as u64);
    }
}

//! Capturing output: order, split characters, escapes, bounds.

use crate::tools::capture::{Capture, Captured, Source, clean};
use proptest::prelude::*;

fn captured(pieces: &[(Source, &[u8])], limit: usize) -> (Vec<String>, Captured) {
    let mut capture = Capture::new(limit);
    let mut seen: Vec<String> = pieces.iter().filter_map(|(source, bytes)| capture.push(*source, bytes)).collect();
    let (last, captured) = capture.finish();
    seen.extend(last);
    (seen, captured)
}

#[test]
fn both_streams_come_in_the_order_of_arrival() {
    use Source::{Stderr, Stdout};
    let (seen, all) = captured(&[(Stdout, b"one\ntw"), (Stderr, b"ERR\n"), (Stdout, b"o\n"), (Stdout, b"end")], 1000);
    assert_eq!(seen, ["one\n", "twERR\n", "o\n", "end"]);
    assert_eq!(all, Captured { text: "one\ntwERR\no\nend".to_owned(), lossy: false, lost_bytes: 0 });
}

#[test]
fn a_character_split_over_pieces_is_whole_again() {
    use Source::{Stderr, Stdout};
    let (_, all) = captured(&[(Stdout, b"\xE2\x82"), (Stderr, b"x"), (Stdout, b"\xAC\n")], 1000);
    assert_eq!((all.text.as_str(), all.lossy), ("x€\n", false));
}

#[test]
fn bytes_that_are_no_text_are_marked() {
    let (_, all) = captured(&[(Source::Stdout, b"a\xFF\xFEb\nunfinished \xE2\x82")], 1000);
    assert_eq!((all.text.as_str(), all.lossy), ("a\u{FFFD}\u{FFFD}b\nunfinished \u{FFFD}", true));
}

#[test]
fn an_escape_split_over_pieces_is_taken_out() {
    let (seen, _) = captured(&[(Source::Stdout, b"\x1B[3"), (Source::Stdout, b"2mgreen\x1B[0m\n")], 1000);
    assert_eq!(seen, ["green\n"]);
}

#[test]
fn a_progress_bar_is_shown_while_it_moves() {
    let bar: [(Source, &[u8]); 4] = [
        (Source::Stdout, b"10%\r20%\r"),
        (Source::Stdout, b"30%\r"),
        (Source::Stdout, b"\ndone\r"),
        (Source::Stdout, b"\n"),
    ];
    let (seen, all) = captured(&bar, 1000);
    // What ends in `\r` waits: the `\n` that belongs to it may come yet.
    assert_eq!(seen, ["10%\n", "20%\n", "30%\n", "done\n"]);
    assert_eq!(all.text, "10%\n20%\n30%\ndone\n");
}

#[test]
fn past_the_limit_bytes_are_counted_not_kept() {
    let (seen, all) =
        captured(&[(Source::Stdout, b"12345\n"), (Source::Stdout, b"67890\n"), (Source::Stdout, b"x\n")], 8);
    assert_eq!(seen.concat(), "12345\n67890\nx\n", "who watches sees all");
    assert_eq!((all.text.as_str(), all.lost_bytes), ("12345\n67", 6), "no later piece is put behind the gap");
}

#[test]
fn an_endless_line_does_not_pile_up() {
    let mut capture = Capture::new(1_000_000);
    let piece = [b'y'; 10_000];
    let passed_on =
        (0..20).filter_map(|_| capture.push(Source::Stdout, &piece)).map(|lines| lines.len()).sum::<usize>();
    assert!(passed_on >= 130_000, "{passed_on}");
    assert_eq!(capture.finish().1.text.len(), 200_000);
}

#[test]
fn text_is_cleaned_for_reading() {
    let table = [
        ("plain\ttab\n", "plain\ttab\n"),
        ("\x1B[1m\x1B[31merror\x1B[0m:\tx\n", "error:\tx\n"),
        ("a\r\nb\r\n", "a\nb\n"),
        (" 10%\r 20%\r100%\n", " 10%\n 20%\n100%\n"),
        ("one\0two\0", "one␀two␀"),
        ("bell\x07 and\x08 more\x7F\n", "bell and more\n"),
        ("\x1B]0;title\x07text\n", "text\n"),
        ("grün €\x1B[K\n", "grün €\n"),
    ];
    for (text, expected) in table {
        assert_eq!(clean(text), expected, "{text:?}");
    }
}

proptest! {
    #[test]
    fn any_cut_gives_the_same_text(text in "[a€\n\t]{0,60}", cuts in prop::collection::vec(0_usize..200, 0..5)) {
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<(Source, &[u8])> = cuts.windows(2).map(|w| (Source::Stdout, &bytes[w[0]..w[1]])).collect();
        let (seen, all) = captured(&pieces, 10_000);
        prop_assert_eq!(&all.text, &text);
        prop_assert_eq!(seen.concat(), text);
        prop_assert!(!all.lossy);
    }

    #[test]
    fn hostile_bytes_give_bounded_clean_text(bytes in prop::collection::vec(any::<u8>(), 0..300), limit in 0_usize..200) {
        let (_, all) = captured(&[(Source::Stderr, &bytes)], limit);
        prop_assert!(all.text.len() <= limit);
        prop_assert!(!all.text.bytes().any(|b| b < 0x20 && b != b'\n' && b != b'\t'), "{:?}", all.text);
    }
}

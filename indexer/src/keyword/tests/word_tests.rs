//! How text becomes tokens.

use crate::keyword::analyze;
use crate::keyword::words::{PieceKind, Pieces, TOKEN_BYTES};
use expect_test::{Expect, expect};
use proptest::prelude::*;

/// Tokens by position; wholes are in brackets.
fn tokens(text: &str) -> String {
    let mut shown = Vec::new();
    analyze(text, |token| {
        let word = if token.whole { format!("[{}]", token.text) } else { token.text };
        shown.push(format!("{}:{word}", token.position));
        true
    });
    shown.join(" ")
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&tokens(text));
}

#[test]
fn prose_is_reduced_to_stems() {
    check("The errors were logged twice.", expect!["0:the 1:error 2:were 3:log 4:twice"]);
    check("logging LOGS Logger", expect!["0:log 1:log 2:logger"]);
}

#[test]
fn names_are_split_and_kept() {
    check("fooBar", expect!["0:[foobar] 0:foo 1:bar"]);
    check("my_index", expect!["0:[my_index] 0:my 1:index"]);
    check("HTTPServer2Go", expect!["0:[httpserver2go] 0:http 1:server2 2:go"]);
    check("__init__ and _x_", expect!["0:init 1:and 2:x"]);
    check("SCREAMING_CASE utf8 iOS", expect!["0:[screaming_case] 0:scream 1:case 2:utf8 3:[ios] 3:i 4:os"]);
}

#[test]
fn paths_and_dotted_names_are_kept_whole_too() {
    check("src/my_index.rs", expect!["0:[src/my_index.rs] 0:src 1:[my_index] 1:my 2:index 3:rs"]);
    check("std::fmt::Display", expect!["0:[std::fmt::display] 0:std 1:fmt 2:display"]);
    check("re-index v1.27.3", expect!["0:[re-index] 0:re 1:index 2:[v1.27.3] 2:v1 3:27 4:3"]);
    check("foo.bar(baz)", expect!["0:[foo.bar] 0:foo 1:bar 2:baz"]);
    check("a.__init__.b", expect!["0:[a.__init__.b] 0:a 1:init 2:b"]);
}

#[test]
fn punctuation_ends_a_chunk() {
    check("one. two", expect!["0:one 1:two"]);
    check("one: two:three", expect!["0:one 1:two 2:three"]);
    check("/usr/lib/", expect!["0:[usr/lib] 0:usr 1:lib"]);
    check("https://x.org", expect!["0:https 1:[x.org] 1:x 2:org"]);
    check("a--b a..b a:::b", expect!["0:a 1:b 2:a 3:b 4:a 5:b"]);
    check("--no-verify", expect!["0:[no-verify] 0:no 1:verifi"]);
}

#[test]
fn noise_is_not_split() {
    check("aGVsbG8gV29ybGQgZm9vIGJhcg", expect!["0:agvsbg8gv29ybgqgzm9vigjhcg"]);
    check("0x7ffDeadBEEF", expect!["0:[0x7ffdeadbeef] 0:0x7ff 1:dead 2:beef"]);
}

#[test]
fn accents_and_case_do_not_count() {
    check("Café CAFÉ cafe\u{301}", expect!["0:cafe 1:cafe 2:cafe"]);
    check("Straße İstanbul", expect!["0:strasse 1:istanbul"]);
    check("Привет МИР", expect!["0:привет 1:мир"]);
    check("ПриветМир", expect!["0:[приветмир] 0:привет 1:мир"]);
    check("हिन्दी", expect!["0:हिन्दी"]);
}

#[test]
fn scripts_without_spaces_become_pairs() {
    check("検索", expect!["0:[検索] 0:検 1:索"]);
    check("全文検索", expect!["0:[全文] 0:全 1:[文検] 1:文 2:[検索] 2:検 3:索"]);
    check("tantivyで検索", expect!["0:tantivi 1:[で検] 1:で 2:[検索] 2:検 3:索"]);
    check("字", expect!["0:字"]);
}

#[test]
fn nothing_to_find() {
    check("", expect![""]);
    check("--- !!! … 🎉 ___", expect![""]);
}

#[test]
fn long_tokens_are_cut() {
    let mut lengths = Vec::new();
    let text = format!("{} {}", "x".repeat(100_000), "é".repeat(100_000));
    analyze(&text, |token| {
        lengths.push(token.text.len());
        true
    });
    assert!(!lengths.is_empty());
    assert!(lengths.iter().all(|length| *length <= TOKEN_BYTES), "{:?}", lengths.iter().max());
}

#[test]
fn absurd_chunks_stay_bounded() {
    for text in ["a.".repeat(300_000), "a_".repeat(300_000), "aB".repeat(300_000), "漢".repeat(100_000)] {
        let (mut pieces, mut count, mut wholes) = (Pieces::default(), 0_usize, 0);
        while let Some(piece) = pieces.advance(&text) {
            count += 1;
            wholes += usize::from(piece.kind == PieceKind::Whole);
        }
        assert!(count <= text.len(), "{count} pieces");
        assert!(wholes <= count / 2 + 1, "{wholes} wholes of {count}");
    }
}

#[test]
fn reading_stops_when_asked() {
    let mut seen = 0;
    analyze("one two three", |_| {
        seen += 1;
        seen < 2
    });
    assert_eq!(seen, 2);
}

#[test]
fn a_text_can_be_read_while_another_is() {
    let mut seen = Vec::new();
    analyze("outer words", |token| {
        seen.push(token.text);
        seen.push(tokens("inner text"));
        true
    });
    assert_eq!(seen, ["outer", "0:inner 1:text", "word", "0:inner 1:text"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Pieces lie on whole characters, come in the order of their positions, parts do not overlap and are numbered without
    /// gaps, and a whole covers exactly its parts.
    #[test]
    fn pieces_are_in_order(text in "([a-cA-C0-9_./:é漢字\u{301} -]{0,24}|\\PC{0,16}){0,4}") {
        let mut all = Vec::new();
        let mut pieces = Pieces::default();
        while let Some(piece) = pieces.advance(&text) {
            prop_assert!(text.is_char_boundary(piece.span.start) && text.is_char_boundary(piece.span.end));
            prop_assert!(piece.span.start < piece.span.end);
            all.push(piece);
        }
        prop_assert!(all.is_sorted_by_key(|piece| piece.position));
        let parts: Vec<_> = all.iter().filter(|piece| piece.kind == PieceKind::Part).collect();
        for (number, part) in parts.iter().enumerate() {
            prop_assert_eq!(part.position, number);
            prop_assert!(number == 0 || parts[number - 1].span.end <= part.span.start);
        }
        for whole in all.iter().filter(|piece| piece.kind == PieceKind::Whole) {
            prop_assert!(whole.positions > 1);
            let last = parts[whole.position + whole.positions - 1];
            prop_assert!(whole.span.start <= parts[whole.position].span.start && last.span.end <= whole.span.end);
        }
        // Nothing that could be looked for is lost.
        let covered: String = parts.iter().map(|part| &text[part.span.clone()]).collect();
        let letters = text.chars().filter(|letter| letter.is_ascii_alphanumeric());
        prop_assert!(letters.eq(covered.chars().filter(char::is_ascii_alphanumeric)));
    }

    /// The same word gives the same parts wherever it stands.
    #[test]
    fn parts_do_not_depend_on_their_surroundings(word in "[a-zA-Z0-9]{1,20}") {
        let parts = |text: &str| {
            let mut parts = Vec::new();
            analyze(text, |token| {
                if !token.whole {
                    parts.push(token.text);
                }
                true
            });
            parts
        };
        let alone = parts(&word);
        let inside = parts(&format!("xx.yy/{word}/zz::qq"));
        prop_assert_eq!(&inside[2..inside.len() - 2], &alone[..]);
        prop_assert_eq!(&parts(&format!("qq_{word}"))[1..], &alone[..]);
    }
}

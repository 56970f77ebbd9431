//! Nothing that disturbs a terminal gets through.

use crate::cli::render::clean;
use proptest::prelude::*;

/// Fails when `text` has a character that moves, hides, reorders or recolours anything, apart from line ends.
pub(super) fn assert_harmless(text: &str) {
    let harmful = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{61c}')
            || matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{2060}' | '\u{e0000}'..='\u{e007f}')
    };
    if let Some(found) = text.chars().find(|c| harmful(*c)) {
        panic!("{found:?} in {text:?}");
    }
}

#[test]
fn colours_of_commands_are_taken_off() {
    assert_eq!(clean::text("\u{1b}[1m\u{1b}[32mok\u{1b}[0m done\n"), "ok done\n");
    assert_eq!(clean::text("a\tb\r\nc\r\n"), "a b\nc\n");
    assert_eq!(clean::text("50%\r100%"), "50% 100%");
    assert_eq!(clean::text("Grüße, 世界 👋"), "Grüße, 世界 👋");
    assert_eq!(clean::text(""), "");
}

#[test]
fn an_unfinished_sequence_hides_no_more_than_its_line() {
    assert_eq!(clean::text("x\u{1b}]0;hidden\nrm -rf /\n"), "x\nrm -rf /\n");
    assert_eq!(clean::text("x\u{1b}P\nshown\u{9b}31m"), "x\nshown31m");
}

#[test]
fn a_line_hides_nothing_at_all() {
    assert_eq!(clean::line("echo a \u{1b}]0;x; rm -rf /"), "echo a ␛]0;x; rm -rf /");
    assert_eq!(clean::line("a\nb\rc\td\u{7f}\u{8}"), "a⏎b␍c d␡␈");
    assert_eq!(clean::line("  padded  "), "padded");
}

#[test]
fn long_lines_are_cut_by_characters() {
    assert_eq!(clean::short("äöüäöü", 4), "äöü…");
    assert_eq!(clean::short("äöü", 3), "äöü");
    let long = clean::line(&"x".repeat(1_000_000));
    assert!(long.chars().count() <= 2_001 && long.ends_with('…'));
}

/// Text with far more escape sequences and odd characters than chance would make.
fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        ".{0,8}",
        prop::sample::select(vec![
            "\u{1b}[", "\u{1b}]", "\u{9b}", "\u{9d}", "\u{90}", "31m", "\u{7}", "\u{1b}\\", "\r", "\n", "\u{202e}",
            "\u{0}"
        ])
        .prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_is_harmless(foreign in nasty(), max in 0_usize..50) {
        let text = clean::text(&foreign);
        assert_harmless(&text);
        prop_assert_eq!(text.matches('\n').count(), foreign.matches('\n').count());
        let line = clean::line(&foreign);
        assert_harmless(&line);
        prop_assert!(!line.contains('\n'));
        prop_assert!(clean::short(&foreign, max).chars().count() <= max.max(1));
    }

    #[test]
    fn json_means_the_same_and_is_harmless(foreign in nasty()) {
        let value = serde_json::json!({ "text": foreign, "list": [1, "a\tb"] });
        let line = clean::json(&value.to_string());
        assert_harmless(&line);
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap(), value);
    }

    #[test]
    fn plain_words_stay_as_they_are(words in "[a-zA-Z0-9 äöüß世界.,;:!?(){}\\[\\]<>/|\n]{0,200}") {
        prop_assert_eq!(clean::text(&words), words);
    }
}

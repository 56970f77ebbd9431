//! Any text, cut anywhere: in colours and without.

use super::clean::assert_harmless;
use super::plain_reference::PlainReference;
use super::{SECRET, redactor, uncoloured};
use crate::cli::render::markdown::{TAB, whole};
use crate::cli::render::streamed::Streamed;
use crate::cli::render::{Style, clean};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// What a model writes, what Markdown is made of, and what a terminal must never see.
fn hostile() -> impl Strategy<Value = String> {
    let markup = prop::sample::select(vec![
        "*",
        "**",
        "_",
        "__",
        "~~",
        "`",
        "``",
        "```",
        "```rust\n",
        "\n```\n",
        "~~~",
        "# ",
        "## ",
        "- ",
        "  - ",
        "1. ",
        "> ",
        "> > ",
        "| ",
        " | ",
        "|---|---|\n",
        "| a | b |\n|---|:-:|\n",
        "[",
        "](",
        ")",
        "![",
        "[x] ",
        "<",
        ">",
        "<b>",
        "</div>",
        "<!--",
        "&",
        "&amp;",
        "&#27;",
        "&#x202e;",
        "&lt;",
        "\\",
        "\\*",
        "---",
        "***\n",
        "===\n",
        "\n",
        "\n\n",
        "    ",
        "\t",
        " ",
        "  \n",
        "[a]: http://x \"t\"\n",
        "<http://x.y>",
        "fn main() {",
        "\"str\"",
        "// c",
        ": ",
    ]);
    let words = prop::sample::select(vec!["one", "two", "snake_case", "世界", "Grüße", "7", "a b", "end.", "e\u{301}"]);
    let bad = prop::sample::select(vec![
        "\u{1b}[31m",
        "\u{1b}]0;t\u{7}",
        "\u{1b}",
        "\u{9b}2J",
        "\u{202e}",
        "\u{200b}",
        "\r",
        "\u{0}",
        "\u{7f}",
        "\r\n",
        "\u{1b}[0m",
    ]);
    let piece = prop_oneof![
        8 => markup.prop_map(str::to_owned),
        8 => words.prop_map(str::to_owned),
        4 => Just(" ".to_owned()),
        2 => bad.prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// `text` in pieces of about `cuts` characters, over and over.
fn pieces(text: &str, cuts: &[usize]) -> Vec<String> {
    let mut chars = text.chars().peekable();
    let mut pieces = Vec::new();
    for cut in cuts.iter().cycle() {
        if chars.peek().is_none() {
            break;
        }
        pieces.push(chars.by_ref().take(*cut).collect());
    }
    pieces
}

fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![Just(vec![1]), prop::collection::vec(1_usize..9, 1..20), prop::collection::vec(1_usize..200, 1..5),]
}

fn streamed(style: Style, pieces: &[String]) -> String {
    let mut streamed = Streamed::new(style);
    let mut screen: String = pieces.iter().map(|piece| streamed.push(piece, &redactor())).collect();
    screen.push_str(&streamed.finish(&redactor()));
    screen
}

/// Every line as the redactor and the cleaner leave it.
fn cleaned(text: &str) -> String {
    let line = |line: &str| clean::text(&redactor().redact(line).replace('\t', TAB));
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, rng_seed: RngSeed::Fixed(3), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn colours_let_nothing_through_and_lose_no_word(text in hostile(), cuts in cuts()) {
        let screen = streamed(Style::Coloured, &pieces(&text, &cuts));
        let words = uncoloured(&screen);
        assert_harmless(&words);
        prop_assert_eq!(letters(&words), letters(&cleaned(&text)), "{}", screen);
        // Whatever is begun is ended on its line.
        for line in screen.lines() {
            let ends = line.matches("\u{1b}[0m").count();
            prop_assert_eq!(line.matches("\u{1b}[").count(), 2 * ends, "{}", line);
        }
    }

    /// What streamed is what would have been shown in one go: nothing is printed twice.
    #[test]
    fn cuts_change_nothing_in_colours(text in hostile(), cuts in cuts()) {
        let at_once = whole(&cleaned(&text), &redactor());
        let screen = streamed(Style::Coloured, &pieces(&text, &cuts));
        prop_assert_eq!(screen.trim_end(), at_once.trim_end());
    }

    #[test]
    fn without_colours_all_is_as_it_was(text in hostile(), cuts in cuts(), secret in any::<bool>(), block in 1_usize..9) {
        let text = if secret { text.replace("one", SECRET) } else { text };
        let (mut streamed, mut reference) = (Streamed::new(Style::Plain), PlainReference::default());
        let redactor = redactor();
        for (at, piece) in pieces(&text, &cuts).iter().enumerate() {
            prop_assert_eq!(streamed.push(piece, &redactor), reference.push(piece, &redactor));
            if at % block == block - 1 {
                prop_assert_eq!(streamed.end_block(&redactor), reference.end_block(&redactor));
            }
        }
        prop_assert_eq!(streamed.finish(&redactor), reference.finish(&redactor));
    }

    /// Markup inside a secret hides it from the redactor, until the markup is gone.
    #[test]
    fn no_secret_is_put_together(
        before in hostile(),
        marks in prop::collection::vec(prop::sample::select(vec![
            "", "", "**", "*", "_", "__", "`", "\\", "~~", "<b>", "\u{1b}[1m", "\u{200b}", "[", "]", "](", "&#8203;", "|",
        ]), 7),
        at in prop::collection::vec(1_usize..SECRET.len(), 6),
        after in hostile(),
        cuts in cuts(),
    ) {
        let mut at = at;
        at.extend([0, SECRET.len()]);
        at.sort_unstable();
        let parts = at.windows(2).map(|two| &SECRET[two[0]..two[1]]);
        let marked: String = parts.zip(&marks).map(|(part, mark)| format!("{mark}{part}")).collect();
        let text = format!("{before}{marked} {after}");
        let words = uncoloured(&streamed(Style::Coloured, &pieces(&text, &cuts)));
        // What came through in the clear without any colours is what comes through with them.
        let plain = streamed(Style::Plain, &pieces(&text, &cuts));
        prop_assert!(!words.contains(SECRET) || plain.contains(SECRET), "{}", words);
    }
}

//! Whatever the text is, every line is found exactly once, and the same text is always cut alike.

use super::samples::ALL;
use super::{assert_covers, chunk_file};
use proptest::prelude::*;

/// What scanners and layouts are sensitive to.
const TOKENS: [&str; 44] = [
    "\n",
    "\n\n",
    "\r\n",
    "    ",
    "\t",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "\"",
    "'",
    "`",
    "\"\"\"",
    "${",
    "#{",
    "$(",
    "<<EOF\n",
    "\nEOF\n",
    "<<<A\n",
    "/*",
    "*/",
    "//",
    "# ",
    "\\",
    "fn f() {",
    "def f(a):\n",
    "class A",
    "end\n",
    "=> ",
    ";",
    "\0",
    "😀",
    "é",
    "\u{2028}",
    "<?php ",
    "?>",
    "---\n",
    "# Title\n",
    "```\n",
    "impl A for B {",
    "function g() {",
    "@x\n",
];

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&TOKENS[..]), 0..80).prop_map(|tokens| tokens.concat())
}

/// A sample with a soup somewhere in it, repeated so that it is split, too.
fn spoilt() -> impl Strategy<Value = (usize, String)> {
    (0..ALL.len(), soup(), any::<prop::sample::Index>(), 1_usize..6).prop_map(|(which, soup, at, times)| {
        let mut text = ALL[which].1.repeat(times);
        text.insert_str(text.floor_char_boundary(at.index(text.len())), &soup);
        (which, text)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_line_of_a_spoilt_file_is_found_once((which, text) in spoilt()) {
        let chunks = chunk_file(ALL[which].0, &text);
        assert_covers(&text, &chunks);
        prop_assert_eq!(chunk_file(ALL[which].0, &text), chunks);
    }

    #[test]
    fn every_line_of_any_text_is_found_once(which in 0..=ALL.len(), text in prop_oneof![soup(), any::<String>()]) {
        let path = ALL.get(which).map_or("a.txt", |(path, _)| path);
        assert_covers(&text, &chunk_file(path, &text));
    }

    #[test]
    fn chunks_are_of_a_sensible_size(which in 0..ALL.len(), times in 1_usize..30) {
        let text = ALL[which].1.repeat(times);
        let chunks = chunk_file(ALL[which].0, &text);
        prop_assert!(chunks.iter().all(|chunk| chunk.text.len() <= 4_200), "too large");
        prop_assert!(chunks.len() <= 2 + text.len() / 150, "{} chunks of {} bytes", chunks.len(), text.len());
    }
}

//! Words and identifiers.

use super::super::line_text::LineText;
use super::super::words::{Bag, Word, first, hash, identifiers, last, names, words};
use crate::bench::evidence;
use proptest::prelude::*;

fn all(text: &str) -> Vec<Word> {
    let mut all = Vec::new();
    words(text, |word| all.push(word));
    all
}

#[test]
fn words_come_with_their_parts() {
    let expected = ["http2server", "http", "2", "server", "x", "_", "read_file", "read", "file"].map(hash);
    assert_eq!(all("HTTP2Server x _ (read_file)"), expected);
    let bag = Bag::of_text("a b a A");
    assert_eq!((bag.size, bag.counts.len()), (4, 2));
    assert_eq!(bag.counts.iter().map(|(_, count)| count).sum::<u32>(), 4);
}

#[test]
fn names_have_four_characters_and_no_digit_in_front() {
    let found: Vec<Word> = names("let abc = 12long_name(OneMore)").collect();
    assert_eq!(found, ["long_name", "OneMore"].map(hash));
}

#[test]
fn texts_are_cut_between_characters() {
    assert_eq!((first("aé", 2), last("éa", 2), first("abc", 9), last("abc", 9)), ("a", "a", "abc", "abc"));
    assert_eq!((first("é", 0), last("é", 0)), ("", ""));
}

#[test]
fn a_line_knows_what_it_has() {
    let line = LineText::new("pub fn read_file(path: &Path) -> String {");
    assert_eq!(line.facts().defines, Some(hash("read_file")));
    assert_eq!(&*line.facts().ids, [hash("read_file")]);
    assert!(line.facts().words.contains(&hash("read")));
    // Only what is shown counts.
    let line = LineText::new(&format!("{} far_away", "x ".repeat(300)));
    assert!(!line.facts().words.contains(&hash("far_away")));
}

proptest! {
    /// The benchmark measures with identifiers of the same definition.
    #[test]
    fn identifiers_are_those_of_the_benchmark(text in "(?s)[a-cA-C0-9_./ é\n-]{0,80}") {
        let ours: Vec<&str> = identifiers(&text).collect();
        prop_assert_eq!(ours, evidence::identifiers(&text).collect::<Vec<_>>());
    }
}

//! Words and their parts.

use super::super::words::{Bm25, Vocabulary};
use proptest::prelude::*;
use regex::Regex;

/// The words of a text as text, in order.
fn words(text: &str) -> Vec<String> {
    let mut vocabulary = Vocabulary::default();
    let numbers = vocabulary.words(text);
    // A number's word is the first of the candidates that has it.
    let mut candidates = Vec::new();
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
        for start in 0..word.len() {
            candidates.extend((start + 1..=word.len()).map(|end| word[start..end].to_ascii_lowercase()));
        }
    }
    let of =
        |number: &u32| candidates.iter().find(|word| vocabulary.words(word).first() == Some(number)).unwrap().clone();
    numbers.iter().map(of).collect()
}

#[test]
fn a_word_comes_whole_and_then_by_its_parts() {
    assert_eq!(words("parseHTTPHeader"), ["parsehttpheader", "parse", "http", "header"]);
    assert_eq!(words("snake_case x"), ["snake_case", "snake", "case", "x"]);
    assert_eq!(words("v2Beta"), ["v2beta", "v", "2", "beta"]);
    // What has only one part is that part.
    assert_eq!(words("Word WORD __w__"), ["word", "word", "__w__"]);
    assert_eq!(words("- + é"), Vec::<String>::new());
}

proptest! {
    #[test]
    fn parts_leave_out_nothing_but_underlines(word in "[aBc9_]{1,12}") {
        let mut vocabulary = Vocabulary::default();
        let count = vocabulary.words(&word).len();
        // The same, by an expression without looking ahead: a capital belongs to what it begins.
        let starts = Regex::new("[A-Z]?[a-z]+|[A-Z]+|[0-9]+").unwrap();
        let runs = starts.find_iter(&word).count();
        prop_assert!(count == 1 || count > 2, "{count}");
        prop_assert!(count <= 1 + 2 * runs.max(1));
    }

    #[test]
    fn a_bag_counts_every_word(text in "[ab ]{0,40}") {
        let mut vocabulary = Vocabulary::default();
        let bag = vocabulary.bag(&text);
        prop_assert_eq!(bag.counts.iter().map(|(_, count)| *count as usize).sum::<usize>(), bag.size);
        prop_assert!(bag.counts.windows(2).all(|pair| pair[0].0 < pair[1].0));
        prop_assert_eq!(bag.counts.iter().map(|(word, _)| *word).collect::<Vec<_>>(), vocabulary.set(&text));
    }
}

#[test]
fn rare_words_count_more_and_common_ones_not_at_all() {
    let bm25 = Bm25::new(10, 100);
    assert!(bm25.word(1.0, 1).unwrap() > bm25.word(1.0, 3).unwrap());
    assert_eq!((bm25.word(1.0, 0), bm25.word(1.0, 4)), (None, None));
    // By hand: ln(1 + (10 - 1 + 0.5) / (1 + 0.5)), and a text of mean size that has the word once.
    assert!((bm25.word(2.0, 1).unwrap() - 2.0 * (1.0_f64 + 9.5 / 1.5).ln()).abs() < 1e-12);
    assert!((bm25.add(1.0, 1, 10) - 1.0).abs() < 1e-12);
}

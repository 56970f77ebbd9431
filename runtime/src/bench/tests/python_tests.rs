//! The same figures as the older program in Python, whose output is kept here as it was.

use super::super::arms::{Ask, all_arms};
use super::super::lexicon::Lexicon;
use super::super::measure::Metric;
use super::super::need::Need;
use super::super::words::Vocabulary;
use super::super::{characters, evidence};
use super::small;
use serde::Deserialize;
use std::collections::BTreeSet;

const TEXTS: &str = include_str!("python_texts.jsonl");
const EXPECTED: &str = include_str!("small_session_expected.jsonl");

#[derive(Deserialize)]
struct Text {
    text: String,
    ids: BTreeSet<String>,
    lines: BTreeSet<String>,
    pairs: BTreeSet<(String, String)>,
    words: Vec<String>,
    tokens: u64,
}

#[test]
fn evidence_and_words_of_odd_texts() {
    let mut compared = 0;
    for line in TEXTS.lines() {
        let Text { text, ids, lines, pairs, words, tokens } = serde_json::from_str(line).unwrap();
        let owned = |(a, b): (&str, &str)| (a.to_owned(), b.to_owned());
        assert_eq!(evidence::identifiers(&text).map(str::to_owned).collect::<BTreeSet<_>>(), ids, "ids of {text:?}");
        assert_eq!(evidence::lines(&text).map(str::to_owned).collect::<BTreeSet<_>>(), lines, "lines of {text:?}");
        assert_eq!(evidence::pairs(&text).map(owned).collect::<BTreeSet<_>>(), pairs, "pairs of {text:?}");
        assert_eq!(characters::tokens(&text), tokens, "tokens of {text:?}");
        // The same numbers for the same words, in the same order.
        let mut vocabulary = Vocabulary::default();
        let numbers = vocabulary.words(&text);
        assert_eq!(numbers.len(), words.len(), "words of {text:?}");
        for (number, word) in numbers.iter().zip(&words) {
            assert_eq!(vocabulary.words(word).first(), Some(number), "{word:?} in {text:?}");
        }
        compared += 1;
    }
    assert!(compared >= 35, "{compared}");
}

/// Place, budget, arm, tokens used, and for each column how much was found of how much.
type Row = (usize, u64, String, u64, [(u64, u64); 6]);

#[test]
fn every_arm_finds_the_same() {
    let session = small();
    let lexicon = Lexicon::of(&session.items);
    let arms = all_arms();
    let mut composers: Vec<_> = arms.iter().map(|arm| (arm.name(), arm.open(&session))).collect();
    let mut old_found = 0;
    let mut tail = None;
    for line in EXPECTED.lines() {
        let (at, budget_tokens, name, used, counts): Row = serde_json::from_str(line).unwrap();
        let need = Need::of(&session.items, &lexicon, at);
        let ask = Ask { at, budget_tokens, sends: false };
        let (_, composer) = composers.iter_mut().find(|(known, _)| *known == name).unwrap();
        let composed = composer.compose(ask);
        // Of loose lines the older program counts the whole budget, or nothing when the lines do not fill it.
        if name == "bag" {
            assert!(composed.tokens() <= budget_tokens, "{line}");
        } else {
            assert_eq!(composed.tokens(), used, "tokens: {line}");
        }
        let found = need.find(&composed, &lexicon);
        // The tail window is the first arm of each place and budget.
        if name == "tail" {
            tail = Some(found.clone());
        }
        let near = tail.as_ref().unwrap();
        for (metric, (part, whole)) in Metric::ALL.into_iter().zip(counts) {
            let expected = (whole > 0).then(|| part as f64 / whole as f64);
            assert_eq!(found.share(metric, near), expected, "{}: {line}", metric.name());
            old_found += if metric.old { part } else { 0 };
        }
    }
    assert!(old_found > 20, "the session has too little to find: {old_found}");
}

//! The words of a query that can tell documents apart. "what did we do about the timeout" is about the timeout: words that
//! stand in every text cost time and push long chats to the top.

use crate::query::{Clause, Query};
use std::collections::HashSet;

/// Words that rank nothing as long as there are others.
const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but", "by", "can", "could",
    "did", "do", "does", "done", "for", "from", "had", "has", "have", "he", "her", "hers", "him", "his", "how", "i",
    "if", "in", "into", "is", "it", "its", "just", "may", "me", "might", "must", "my", "no", "not", "of", "on", "or",
    "our", "shall", "she", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "to", "too", "us", "very", "was", "we", "were", "what", "when", "where", "which", "who",
    "whom", "why", "will", "with", "would", "you", "your", "yours", "also",
];
/// The most different words that are looked at; the index takes the rarest of them.
const WORDS: usize = 512;

/// A query that ranks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct RankingQuery {
    /// Each word once, without those that tell nothing apart, and without the query's filter. Phrases and exclusions stay.
    pub(super) query: Query,
    /// How many different words there are.
    pub(super) words: usize,
}

/// The words of a query that tell documents apart, each once, in the order in which they were written.
pub(super) fn telling_words(query: &Query) -> Vec<&str> {
    let mut seen = HashSet::new();
    let ranking = query.clauses.iter().filter(|clause| !clause.negated && !clause.phrase);
    let words = ranking.map(|clause| bare(&clause.text)).filter(|word| !word.is_empty() && !is_function_word(word));
    words.filter(|word| seen.len() < WORDS && seen.insert(word.to_lowercase())).collect()
}

impl RankingQuery {
    pub(super) fn of(query: &Query) -> Self {
        let telling = |clause: &Clause| clause.negated || clause.phrase || !is_function_word(bare(&clause.text));
        let keep_all = !query.clauses.iter().any(|clause| !clause.negated && telling(clause));
        let mut seen = HashSet::new();
        let (mut plain, mut kept) = (Vec::new(), Vec::new());
        for clause in &query.clauses {
            let word = bare(&clause.text);
            if clause.phrase || clause.negated {
                kept.push(clause.clone());
            } else if (keep_all || telling(clause)) && seen.len() < WORDS && seen.insert(word.to_lowercase()) {
                // One clause for all plain words: each clause is analyzed by itself.
                if word.chars().skip(1).all(|letter| letter.is_ascii_lowercase()) && word.is_ascii() {
                    plain.push(word);
                } else {
                    kept.push(clause.clone());
                }
            }
        }
        if !plain.is_empty() {
            kept.push(Clause::word(plain.join(" ")));
        }
        Self { query: Query { clauses: kept, ..Query::default() }, words: seen.len() }
    }

    /// All that is looked for as one clause: for showing where a text has it, in one pass over the text.
    pub(super) fn shown(&self) -> Query {
        Query { clauses: vec![Clause::word(self.query.wanted_text())], ..Query::default() }
    }

    /// Whether something is required or excluded: then only what the keyword index lets through can be a hit.
    pub(super) fn is_strict(&self) -> bool {
        self.query.clauses.iter().any(|clause| clause.phrase || clause.negated)
    }
}

/// A word without the punctuation around it and without the `'s` of English.
fn bare(text: &str) -> &str {
    let word =
        text.trim_matches(|letter: char| letter.is_ascii_punctuation() && letter != '_' || "’‘“”…".contains(letter));
    word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word)
}

fn is_function_word(word: &str) -> bool {
    let negation = word.ends_with("n't") || word.ends_with("n’t");
    negation || FUNCTION_WORDS.iter().any(|function| function.eq_ignore_ascii_case(word))
}

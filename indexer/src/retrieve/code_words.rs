//! What the code is asked besides the query as it is. The index ranks by the rarest words of a query; of a long one, an issue or a
//! prompt, the first words tell more than the rest, and all of them together tell which file it is about.

use crate::keyword::{KeywordError, KeywordHit, KeywordIndex};
use crate::query::{Filter, Query};
use crate::retrieve::code_weights as weight;
use crate::retrieve::ranking_query::telling_words;
use std::collections::HashMap;

/// So many words are the head of a query.
const HEAD_WORDS: usize = 12;
/// Of so many words the index ranks by each.
const PART_WORDS: usize = 8;
/// The most parts that a query is asked in.
const PARTS: usize = 16;
/// How many documents each part may find.
const PART_HITS: usize = 600;
/// How many are found by their words in a head.
const HEAD_HITS: usize = 200;
/// How many of what was found are looked at.
const KEPT: usize = 200;
/// Up to so many words, somebody names what is looked for, and does not tell a story with it.
const BRIEF_WORDS: usize = 16;
/// Words that ask for tests, and for prose.
const ASKS_TESTS: [&str; 7] = ["test", "tests", "testing", "tested", "spec", "specs", "fixture"];
const ASKS_PROSE: [&str; 8] = ["doc", "docs", "documentation", "readme", "changelog", "guide", "manual", "json"];

/// How well a piece of code fits, on the scale of its index; 0 where it is not among the best.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct CodeFit {
    /// All words.
    pub(super) whole: f32,
    /// The first words.
    pub(super) head: f32,
    /// The first words, in paths and symbols.
    pub(super) head_names: f32,
}

/// The words of a query as code is asked for them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct CodeWords {
    /// The first words, where there are more.
    head: Option<Query>,
    /// All words in parts, where there are more than the index ranks by.
    parts: Vec<Query>,
    /// Whether tests are asked for.
    pub(super) asks_tests: bool,
    /// Whether prose or data are asked for.
    pub(super) asks_prose: bool,
}

impl CodeWords {
    pub(super) fn of(query: &Query) -> Self {
        let words = telling_words(query);
        let asks = |asking: &[&str]| {
            words.len() <= BRIEF_WORDS
                && words.iter().any(|word| asking.iter().any(|ask| ask.eq_ignore_ascii_case(word)))
        };
        let (asks_tests, asks_prose) = (asks(&ASKS_TESTS), asks(&ASKS_PROSE));
        let is_strict = query.clauses.iter().any(|clause| clause.phrase || clause.negated);
        if is_strict || words.len() <= HEAD_WORDS {
            return Self { asks_tests, asks_prose, ..Self::default() };
        }
        let words_alone = |words: &[&str]| Query::plain(&words.join(" "));
        Self {
            head: words.get(..HEAD_WORDS).map(words_alone),
            parts: words.chunks(PART_WORDS).take(PARTS).map(words_alone).collect(),
            asks_tests,
            asks_prose,
        }
    }

    /// Whether the query is so short that its head is all of it.
    pub(super) const fn is_brief(&self) -> bool {
        self.head.is_none()
    }

    /// The pieces of code that fit best.
    ///
    /// # Errors
    /// The index is damaged.
    pub(super) fn fits(
        &self,
        keyword: &KeywordIndex,
        filter: &Filter,
    ) -> Result<Vec<(KeywordHit, CodeFit)>, KeywordError> {
        let mut fits = Fits::default();
        for part in &self.parts {
            fits.add(keyword.search(part, filter, PART_HITS)?, |fit, score| fit.whole += score);
        }
        if let Some(head) = &self.head {
            fits.add(keyword.search(head, filter, HEAD_HITS)?, |fit, score| fit.head += score);
            fits.add(keyword.search_names(head, filter, HEAD_HITS)?, |fit, score| fit.head_names += score);
        }
        Ok(fits.best())
    }
}

/// What was found, by key.
#[derive(Default)]
struct Fits(HashMap<String, (KeywordHit, CodeFit)>);

impl Fits {
    fn add(&mut self, hits: Vec<KeywordHit>, set: impl Fn(&mut CodeFit, f32)) {
        for hit in hits {
            let score = if hit.score.is_finite() { hit.score.max(0.0) } else { 0.0 };
            let (_, fit) = self.0.entry(hit.key.clone()).or_insert_with(|| (hit, CodeFit::default()));
            set(fit, score);
        }
    }

    fn best(self) -> Vec<(KeywordHit, CodeFit)> {
        let mut found: Vec<(KeywordHit, CodeFit)> = self.0.into_values().collect();
        let best = |of: fn(&CodeFit) -> f32| found.iter().map(|(_, fit)| of(fit)).fold(f32::MIN_POSITIVE, f32::max);
        let (whole, head, names) = (best(|fit| fit.whole), best(|fit| fit.head), best(|fit| fit.head_names));
        let score = |fit: &CodeFit| {
            weight::WHOLE * fit.whole / whole
                + weight::HEAD * fit.head / head
                + weight::HEAD_NAMES * fit.head_names / names
        };
        found.sort_by(|(one_hit, one), (other_hit, other)| {
            score(other).total_cmp(&score(one)).then_with(|| one_hit.key.cmp(&other_hit.key))
        });
        found.truncate(KEPT);
        found
    }
}

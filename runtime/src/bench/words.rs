//! Words for ranking: as they are written and by their parts, in lower case, as numbers.

use crate::context::working::for_each_word;
use std::collections::HashMap;

/// The numbers of words.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    codes: HashMap<Box<str>, u32>,
}

impl Vocabulary {
    /// The number of `word`.
    fn code(&mut self, word: &str) -> u32 {
        if let Some(code) = self.codes.get(word) {
            return *code;
        }
        let code = u32::try_from(self.codes.len()).unwrap_or(u32::MAX);
        self.codes.insert(word.into(), code);
        code
    }

    /// How many words there are; their numbers are below that.
    pub(super) fn len(&self) -> usize {
        self.codes.len()
    }

    /// The words of `text` in order, as often as they are there.
    pub(super) fn words(&mut self, text: &str) -> Vec<u32> {
        let mut words = Vec::new();
        for_each_word(text, |word| words.push(self.code(word)));
        words
    }

    /// The words of `text`, each once, by their numbers.
    pub(super) fn set(&mut self, text: &str) -> Vec<u32> {
        let mut words = self.words(text);
        words.sort_unstable();
        words.dedup();
        words
    }

    /// The words of `text`, counted.
    pub(super) fn bag(&mut self, text: &str) -> Bag {
        let mut words = self.words(text);
        let size = words.len();
        words.sort_unstable();
        let mut counts: Vec<(u32, u32)> = Vec::new();
        for word in words {
            match counts.last_mut() {
                Some((last, count)) if *last == word => *count += 1,
                Some(_) | None => counts.push((word, 1)),
            }
        }
        counts.shrink_to_fit();
        Bag { counts, size }
    }
}

/// The words of a text, counted.
#[derive(Debug, Default)]
pub(super) struct Bag {
    /// Each word and how often it is there, by its number.
    pub(super) counts: Vec<(u32, u32)>,
    /// All words together.
    pub(super) size: usize,
}

/// What one word in one text adds to its rank: `weight` in the query, `hits` of `texts` have it, and this one `count` times;
/// `size` are the text's words, `mean_size` those of all on average. Words that are in many texts say nothing.
pub(super) struct Bm25 {
    texts: usize,
    mean_size: f64,
}

impl Bm25 {
    /// For ranking so many texts with so many words altogether.
    pub(super) fn new(texts: usize, words: usize) -> Self {
        let texts = texts.max(1);
        Self { texts, mean_size: (words as f64 / texts as f64).max(1.0) }
    }

    /// How much a word counts; `None` when it says nothing.
    pub(super) fn word(&self, weight: f64, hits: usize) -> Option<f64> {
        let (texts, hits_f) = (self.texts as f64, hits as f64);
        (hits > 0 && hits_f < 0.4 * texts).then(|| weight * (1.0 + (texts - hits_f + 0.5) / (hits_f + 0.5)).ln())
    }

    /// What it adds to a text.
    pub(super) fn add(&self, word: f64, count: u32, size: usize) -> f64 {
        let count = f64::from(count);
        word * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * size as f64 / self.mean_size))
    }
}

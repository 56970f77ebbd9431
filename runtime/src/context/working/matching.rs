//! How well the words of windows fit several weighted queries at once (BM25).

use super::words::{Bag, Word};
use std::collections::BTreeMap;

/// How many queries are asked at once.
pub(super) const QUERIES: usize = 4;

/// A word that so large a share of the windows has says nothing.
const COMMON_SHARE: f64 = 0.4;

/// A word of a query in a window: which window, which word, how much it counts there.
struct Found {
    window: usize,
    word: usize,
    share: f64,
}

/// By window: how well it fits each query, 1 being the best of all.
pub(super) fn matching(bags: &[&Bag], queries: &BTreeMap<Word, [f64; QUERIES]>) -> Vec<[f64; QUERIES]> {
    let count = bags.len() as f64;
    let mean = (bags.iter().map(|bag| bag.size).sum::<usize>() as f64 / count.max(1.0)).max(1.0);
    let queries: Vec<(Word, [f64; QUERIES])> = queries.iter().map(|(word, weights)| (*word, *weights)).collect();
    let filter = Filter::of(queries.iter().map(|(word, _)| *word));
    let (mut found, mut hits) = (Vec::new(), vec![0_u32; queries.len()]);
    for (window, bag) in bags.iter().enumerate() {
        let norm = 1.2 * (0.25 + 0.75 * bag.size as f64 / mean);
        for (word, times) in bag.counts.iter().filter(|(word, _)| filter.may_have(*word)) {
            let Ok(word) = queries.binary_search_by_key(word, |(word, _)| *word) else { continue };
            let times = f64::from(*times);
            hits[word] += 1;
            found.push(Found { window, word, share: times * 2.2 / (times + norm) });
        }
    }
    let rarity = |hits: &u32| {
        let hits = f64::from(*hits);
        if hits < COMMON_SHARE * count { (1.0 + (count - hits + 0.5) / (hits + 0.5)).ln() } else { 0.0 }
    };
    let rarities: Vec<f64> = hits.iter().map(rarity).collect();
    let mut scores = vec![[0.0; QUERIES]; bags.len()];
    for Found { window, word, share } in found {
        for (score, weight) in scores[window].iter_mut().zip(queries[word].1) {
            *score += weight * rarities[word] * share;
        }
    }
    let mut best = [0.0_f64; QUERIES];
    for score in &scores {
        best.iter_mut().zip(score).for_each(|(best, score)| *best = best.max(*score));
    }
    for score in &mut scores {
        score.iter_mut().zip(best).filter(|(_, best)| *best > 0.0).for_each(|(score, best)| *score /= best);
    }
    scores
}

/// Says of most words at once that no query has them.
pub(super) struct Filter(Vec<bool>);

impl Filter {
    /// The filter that lets `words` through.
    pub(super) fn of(words: impl Iterator<Item = Word>) -> Self {
        let mut filter = Self(vec![false; 1 << 16]);
        words.for_each(|word| filter.0[place(word)] = true);
        filter
    }

    /// Whether `word` may be one of them.
    pub(super) fn may_have(&self, word: Word) -> bool {
        self.0[place(word)]
    }
}

const fn place(word: Word) -> usize {
    (word & 0xffff) as usize
}

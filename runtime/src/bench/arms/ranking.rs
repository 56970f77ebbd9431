//! Which earlier items have the words of what was said last.

use crate::bench::characters::first;
use crate::bench::item::{Item, ItemKind};
use crate::bench::session::BenchSession;
use crate::bench::words::{Bm25, Vocabulary};

/// How much of an item is ranked, in characters.
const RANKED_CHARS: usize = 6_000;

/// The items of a session by their words.
pub(super) struct ItemRanking {
    /// The words' numbers.
    pub(super) vocabulary: Vocabulary,
    /// By word: the items that have it, in order, and how often.
    postings: Vec<Vec<(usize, u32)>>,
    /// By item: how many words it has, and how many those before it have together.
    sizes: Vec<(usize, usize)>,
}

impl ItemRanking {
    /// Reads all items.
    pub(super) fn of(items: &[Item]) -> Self {
        let mut ranking = Self { vocabulary: Vocabulary::default(), postings: Vec::new(), sizes: Vec::new() };
        let mut before = 0;
        for (at, item) in items.iter().enumerate() {
            let bag = ranking.vocabulary.bag(first(&item.text, RANKED_CHARS));
            ranking.postings.resize_with(ranking.vocabulary.len(), Vec::new);
            for (word, count) in &bag.counts {
                if let Some(posting) = ranking.postings.get_mut(*word as usize) {
                    posting.push((at, *count));
                }
            }
            ranking.sizes.push((bag.size, before));
            before += bag.size;
        }
        ranking
    }

    /// The items before `at` that have any of the words `query`, best first, and of equals the newer first.
    pub(super) fn best(&self, at: usize, query: &[u32]) -> Vec<usize> {
        let words_before = match self.sizes.get(at) {
            Some((_, before)) => *before,
            None => self.sizes.last().map_or(0, |(size, before)| size + before),
        };
        let bm25 = Bm25::new(at, words_before);
        let mut scores = vec![0.0; at];
        for word in query {
            let posting = self.postings.get(*word as usize).map_or(&[][..], Vec::as_slice);
            let hits = posting.get(..posting.partition_point(|(item, _)| *item < at)).unwrap_or_default();
            let Some(weight) = bm25.word(1.0, hits.len()) else { continue };
            for (item, count) in hits {
                if let (Some(score), Some((size, _))) = (scores.get_mut(*item), self.sizes.get(*item)) {
                    *score += bm25.add(weight, *count, *size);
                }
            }
        }
        let mut ranked: Vec<(f64, usize)> = scores.into_iter().zip(0..).filter(|(score, _)| *score != 0.0).collect();
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        ranked.into_iter().map(|(_, item)| item).collect()
    }
}

/// The last prompt, the last words of the model and the head of the last result, as one text.
pub(super) fn last_words(session: &BenchSession, at: usize) -> String {
    let newest = |kinds: &[ItemKind], chars| session.newest(at, kinds).map_or("", |item| first(&item.text, chars));
    let prompt = newest(&[ItemKind::User], 1_500);
    let words = newest(&[ItemKind::Assistant, ItemKind::Thinking], 1_500);
    let result = newest(&[ItemKind::ToolResult], 800);
    format!("{prompt} {words} {result}")
}

//! Half the tail window, half what a keyword search for the last words finds among all older items.

use super::ranking::{ItemRanking, last_words};
use super::tail::{Caps, Tail};
use super::{Arm, Ask, Composer};
use crate::bench::characters::{behind, first};
use crate::bench::composed::{Composed, Piece};
use crate::bench::session::BenchSession;

/// How much of one output stays in the tail, in tokens.
const TAIL_CAP_TOKENS: u64 = 800;

/// How much of one hit is shown, in tokens.
const HIT_TOKENS: u64 = 400;

/// The same in characters, and from where to where the next such piece begins.
const HIT_CHARS: usize = 1_600;
const STRIDE_CHARS: usize = 800;

/// So close to the budget no other hit is looked for.
const CLOSE_TOKENS: u64 = 50;

/// Whole items by keyword.
pub(super) struct Bm25Arm;

impl Arm for Bm25Arm {
    fn name(&self) -> &'static str {
        "bm25"
    }

    fn about(&self) -> &'static str {
        "half the tail, half items found by the last words"
    }

    fn open<'s>(&self, session: &'s BenchSession) -> Box<dyn Composer + 's> {
        let ranking = ItemRanking::of(&session.items);
        Box::new(Bm25Composer {
            session,
            ranking,
            pieces: vec![None; session.items.len()],
            at: 0,
            query: Vec::new(),
            ranked: Vec::new(),
        })
    }
}

/// A piece of an item and its words, each once, in order.
type WordedPiece<'s> = (&'s str, Vec<u32>);

struct Bm25Composer<'s> {
    session: &'s BenchSession,
    ranking: ItemRanking,
    /// By item that is too long for a hit: its pieces, each with its words.
    pieces: Vec<Option<Vec<WordedPiece<'s>>>>,
    /// For which place `query` and `ranked` are.
    at: usize,
    query: Vec<u32>,
    ranked: Vec<usize>,
}

impl<'s> Bm25Composer<'s> {
    fn rank(&mut self, at: usize) {
        if self.at != at {
            self.at = at;
            self.query = self.ranking.vocabulary.set(&last_words(self.session, at));
            self.ranked = self.ranking.best(at, &self.query);
        }
    }

    /// The piece of an item that has the most words of the query, the first one among equals.
    fn best_piece(&mut self, item: usize) -> &'s str {
        let Some(slot) = self.pieces.get_mut(item) else { return "" };
        let text = self.session.items.get(item).map_or("", |item| item.text.as_str());
        let vocabulary = &mut self.ranking.vocabulary;
        let pieces = slot.get_or_insert_with(|| {
            let mut rest = text;
            let mut pieces = Vec::new();
            while !rest.is_empty() {
                let piece = first(rest, HIT_CHARS);
                pieces.push((piece, vocabulary.set(piece)));
                rest = behind(rest, STRIDE_CHARS);
            }
            pieces
        });
        let (mut best, mut most) = ("", None);
        for (piece, words) in pieces {
            let shared = words.iter().filter(|word| self.query.binary_search(word).is_ok()).count();
            if most.is_none_or(|most| shared > most) {
                (best, most) = (*piece, Some(shared));
            }
        }
        best
    }
}

impl Composer for Bm25Composer<'_> {
    fn compose(&mut self, ask: Ask) -> Composed<'_> {
        self.rank(ask.at);
        let caps = Caps { each_tokens: Some(TAIL_CAP_TOKENS), newest_result_tokens: None };
        let tail = Tail::of(&self.session.items, ask.at, ask.budget_tokens / 2, caps);
        let (mut used, mut pieces) = (tail.used, Vec::new());
        // The item that the tail holds in part may be found; what it holds whole is not looked for.
        for place in 0..self.ranked.len() {
            let Some(found) = self.ranked.get(place).copied().filter(|found| Some(*found) <= tail.reaches) else {
                continue;
            };
            let Some(item) = self.session.items.get(found) else { continue };
            let tokens = item.tokens.min(HIT_TOKENS);
            if used + tokens > ask.budget_tokens {
                continue;
            }
            used += tokens;
            pieces.push(match item.tokens <= HIT_TOKENS {
                true => Piece::item(found, tokens),
                false => Piece::text(self.best_piece(found), tokens),
            });
            if used + CLOSE_TOKENS > ask.budget_tokens {
                break;
            }
        }
        pieces.extend(tail.in_order());
        pieces.into()
    }
}

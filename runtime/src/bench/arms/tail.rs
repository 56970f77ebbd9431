//! The newest text that fits: what an agent has that keeps a window of its history. Measured against it is everything else.

use super::{Arm, Ask, Composer};
use crate::bench::characters::{CHARS_PER_TOKEN, first, last, tokens};
use crate::bench::composed::{Composed, Piece};
use crate::bench::item::{Item, ItemKind};
use crate::bench::session::BenchSession;

/// The newest results, which may keep more of their text.
const NEWEST_RESULTS: u32 = 2;

/// The tail window.
pub(super) struct TailArm;

impl Arm for TailArm {
    fn name(&self) -> &'static str {
        "tail"
    }

    fn about(&self) -> &'static str {
        "the newest text that fits"
    }

    fn open<'s>(&self, session: &'s BenchSession) -> Box<dyn Composer + 's> {
        Box::new(TailComposer { session })
    }
}

struct TailComposer<'s> {
    session: &'s BenchSession,
}

impl Composer for TailComposer<'_> {
    fn compose(&mut self, ask: Ask) -> Composed<'_> {
        Tail::of(&self.session.items, ask.at, ask.budget_tokens, Caps::default()).in_order().into()
    }
}

/// How much of an item is kept: half from its beginning, half from its end.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Caps {
    /// Of any item, in tokens; `None` keeps all of it.
    pub(super) each_tokens: Option<u64>,
    /// Of the newest results, in tokens; `None` treats them as the others.
    pub(super) newest_result_tokens: Option<u64>,
}

/// The newest items that fit.
pub(super) struct Tail<'s> {
    /// Newest first.
    pub(super) pieces: Vec<Piece<'s>>,
    /// What they cost.
    pub(super) used: u64,
    /// All items before this one were looked at and left out, or not looked at; it itself is there in part.
    pub(super) reaches: Option<usize>,
}

impl<'s> Tail<'s> {
    /// The newest of the items before `at`. The first one that does not fit is cut, and is the last.
    pub(super) fn of(items: &'s [Item], at: usize, budget_tokens: u64, caps: Caps) -> Self {
        let mut tail = Self { pieces: Vec::new(), used: 0, reaches: None };
        let mut results = 0;
        for (place, item) in items.iter().enumerate().take(at).rev() {
            let mut cap = caps.each_tokens;
            if item.kind == ItemKind::ToolResult {
                results += 1;
                if results <= NEWEST_RESULTS {
                    cap = caps.newest_result_tokens.or(cap);
                }
            }
            let cost = cap.map_or(item.tokens, |cap| cap.min(item.tokens));
            if tail.used + cost > budget_tokens {
                let room = chars(budget_tokens.saturating_sub(tail.used));
                if room > 0 {
                    let text = last(&item.text, room);
                    tail.add(Piece::text(text, tokens(text)));
                }
                tail.reaches = Some(place);
                return tail;
            }
            tail.add(match cap.filter(|_| cost < item.tokens) {
                None => Piece::item(place, cost),
                Some(cap) => Piece::text(head_and_tail(&item.text, chars(cap) / 2), cost),
            });
        }
        tail
    }

    fn add(&mut self, piece: Piece<'s>) {
        self.used += piece.tokens;
        self.pieces.push(piece);
    }

    /// Its pieces, the oldest first.
    pub(super) fn in_order(mut self) -> Vec<Piece<'s>> {
        self.pieces.reverse();
        self.pieces
    }
}

/// The characters that so many tokens have.
fn chars(tokens: u64) -> usize {
    usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(CHARS_PER_TOKEN)
}

/// So many characters from either end.
fn head_and_tail(text: &str, chars: usize) -> String {
    format!("{}\n{}", first(text, chars), last(text, chars))
}

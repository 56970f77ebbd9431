//! No context at all: the distinct lines of the history, loose, the newest first. Whatever it scores can be faked; on pairs of
//! lines it must score nothing.

use super::{Arm, Ask, Composer};
use crate::bench::characters::{CHARS_PER_TOKEN, length};
use crate::bench::composed::{Composed, Piece};
use crate::bench::evidence;
use crate::bench::session::BenchSession;
use std::collections::HashMap;

/// Loose lines.
pub(super) struct BagArm;

impl Arm for BagArm {
    fn name(&self) -> &'static str {
        "bag"
    }

    fn about(&self) -> &'static str {
        "the distinct lines of the history without order: what can be faked"
    }

    fn open<'s>(&self, session: &'s BenchSession) -> Box<dyn Composer + 's> {
        let mut numbers = HashMap::new();
        let mut lines: Vec<Vec<(usize, &'s str)>> = Vec::with_capacity(session.items.len());
        for item in &session.items {
            let mut texts: Vec<&'s str> = evidence::lines(&item.text).collect();
            texts.sort_unstable();
            texts.dedup();
            let next = |text: &'s str| {
                let next = numbers.len();
                (*numbers.entry(text).or_insert(next), text)
            };
            lines.push(texts.into_iter().map(next).collect());
        }
        Box::new(BagComposer { lines, known: numbers.len() })
    }
}

struct BagComposer<'s> {
    /// By item, in order of the alphabet, each with its number.
    lines: Vec<Vec<(usize, &'s str)>>,
    /// How many different lines there are.
    known: usize,
}

impl Composer for BagComposer<'_> {
    fn compose(&mut self, ask: Ask) -> Composed<'_> {
        let mut seen = vec![false; self.known];
        let room = usize::try_from(ask.budget_tokens).unwrap_or(usize::MAX).saturating_mul(CHARS_PER_TOKEN);
        let (mut used, mut pieces) = (0, Vec::new());
        for (number, line) in self.lines.iter().take(ask.at).rev().flatten() {
            let Some(seen) = seen.get_mut(*number).filter(|seen| !**seen) else { continue };
            *seen = true;
            let now = used + length(line) + 1;
            if now > room {
                break;
            }
            // Rounded over all lines together: each for itself would count many short ones twice.
            let tokens = (now / CHARS_PER_TOKEN - used / CHARS_PER_TOKEN) as u64;
            pieces.push(Piece::text(*line, tokens));
            used = now;
        }
        pieces.into()
    }
}

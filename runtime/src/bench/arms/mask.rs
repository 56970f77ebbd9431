//! Masking: the outputs of all but the newest calls are left out, and of the rest the newest that fits is kept.

use super::{Arm, Ask, Composer};
use crate::bench::composed::{Composed, Piece};
use crate::bench::item::ItemKind;
use crate::bench::session::BenchSession;

/// The results that keep their text.
const KEPT_RESULTS: u32 = 10;

/// What it costs to say that an output was left out, in tokens.
const MASKED_TOKENS: u64 = 5;

/// Old outputs masked.
pub(super) struct MaskArm;

impl Arm for MaskArm {
    fn name(&self) -> &'static str {
        "mask"
    }

    fn about(&self) -> &'static str {
        "outputs of all but the newest 10 calls left out, then the newest that fits"
    }

    fn open<'s>(&self, session: &'s BenchSession) -> Box<dyn Composer + 's> {
        Box::new(MaskComposer { session })
    }
}

struct MaskComposer<'s> {
    session: &'s BenchSession,
}

impl Composer for MaskComposer<'_> {
    fn compose(&mut self, ask: Ask) -> Composed<'_> {
        let (mut pieces, mut used, mut results) = (Vec::new(), 0, 0);
        for (place, item) in self.session.items.iter().enumerate().take(ask.at).rev() {
            if item.kind == ItemKind::ToolResult {
                results += 1;
                if results > KEPT_RESULTS {
                    used += MASKED_TOKENS;
                    pieces.push(Piece::text("(output left out)", MASKED_TOKENS));
                    continue;
                }
            }
            if used + item.tokens > ask.budget_tokens {
                break;
            }
            used += item.tokens;
            pieces.push(Piece::item(place, item.tokens));
        }
        pieces.reverse();
        pieces.into()
    }
}

//! Everything that happened, whatever it costs: what all other arms leave out something of.

use super::{Arm, Ask, Composer};
use crate::bench::composed::{Composed, Piece};
use crate::bench::session::BenchSession;

/// The whole history; the budget does not count.
pub(super) struct AllArm;

impl Arm for AllArm {
    fn name(&self) -> &'static str {
        "all"
    }

    fn about(&self) -> &'static str {
        "the whole history, without a budget"
    }

    fn open<'s>(&self, session: &'s BenchSession) -> Box<dyn Composer + 's> {
        Box::new(AllComposer { session })
    }
}

struct AllComposer<'s> {
    session: &'s BenchSession,
}

impl Composer for AllComposer<'_> {
    fn compose(&mut self, ask: Ask) -> Composed<'_> {
        let items = self.session.items.iter().take(ask.at).enumerate();
        items.map(|(at, item)| Piece::item(at, item.tokens)).collect::<Vec<_>>().into()
    }
}

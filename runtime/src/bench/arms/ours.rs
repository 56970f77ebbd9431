//! Ours, composed afresh: the session's working set (`crate::context::working`), as a whole context.

use super::recorded_work::RecordedWork;
use super::{Arm, Ask, Composer};
use crate::bench::characters::tokens;
use crate::bench::composed::{Composed, Piece};
use crate::bench::session::BenchSession;

/// The working set.
pub(super) struct OursArm;

impl Arm for OursArm {
    fn name(&self) -> &'static str {
        "ours"
    }

    fn about(&self) -> &'static str {
        "the working set of retrace: windows of files by what is next, the newest steps in few words"
    }

    fn open<'s>(&self, session: &'s BenchSession) -> Box<dyn Composer + 's> {
        Box::new(OursComposer { session, working: RecordedWork::default() })
    }
}

struct OursComposer<'s> {
    session: &'s BenchSession,
    working: RecordedWork<'s>,
}

impl Composer for OursComposer<'_> {
    fn compose(&mut self, ask: Ask) -> Composed<'_> {
        self.working.reach(&self.session.items, ask.at);
        let parts = self.working.set.composed(ask.budget_tokens).into_iter();
        let pieces: Vec<Piece<'_>> =
            parts.map(|part| (tokens(&part), part)).map(|(tokens, part)| Piece::text(part, tokens)).collect();
        pieces.into()
    }
}

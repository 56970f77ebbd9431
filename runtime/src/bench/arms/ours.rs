//! Ours, composed afresh: the session's working set (`crate::context::working`), as a whole context.

use super::{Arm, Ask, Composer};
use crate::bench::characters::tokens;
use crate::bench::composed::{Composed, Piece};
use crate::bench::item::{Item, ItemKind};
use crate::bench::session::BenchSession;
use crate::context::working::calls::action;
use crate::context::working::results::outcome;
use crate::context::working::{Action, Happening, Speaker, WorkingSet, unknown_action};
use std::collections::BTreeMap;

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
        if ask.at < self.working.taken {
            self.working = RecordedWork::default();
        }
        for item in self.session.items.get(self.working.taken..ask.at).unwrap_or_default() {
            self.working.take(item);
        }
        let parts = self.working.set.composed(ask.budget_tokens).into_iter();
        let pieces: Vec<Piece<'_>> =
            parts.map(|part| (tokens(&part), part)).map(|(tokens, part)| Piece::text(part, tokens)).collect();
        pieces.into()
    }
}

/// The working set of a recording. Results there do not name their calls: one belongs to the oldest open call of its tool and
/// file.
struct RecordedWork<'s> {
    set: WorkingSet,
    /// How many items it has.
    taken: usize,
    /// Open calls by their tools, the oldest first.
    open: BTreeMap<&'s str, Vec<(&'s str, Action)>>,
}

impl Default for RecordedWork<'_> {
    fn default() -> Self {
        Self { set: WorkingSet::with_names(), taken: 0, open: BTreeMap::new() }
    }
}

impl<'s> RecordedWork<'s> {
    /// Takes in the next item.
    fn take(&mut self, item: &'s Item) {
        self.taken += 1;
        let text = item.text.as_str();
        let by = match item.kind {
            ItemKind::User => Speaker::User,
            ItemKind::Meta => Speaker::Program,
            ItemKind::Assistant => Speaker::Model,
            ItemKind::Thinking => Speaker::Thought,
            ItemKind::Summary => Speaker::Summary,
            ItemKind::ToolCall => {
                let known = |path: &str| if item.path.is_empty() { path } else { &item.path }.to_owned();
                let action = action(&item.tool, &item.call, &known);
                self.set.take(&Happening::Called { action: &action, text });
                self.open.entry(&item.tool).or_default().push((&item.path, action));
                return;
            }
            ItemKind::ToolResult => {
                let action = self.call_of(item).unwrap_or_else(unknown_action);
                let outcome = outcome(&action, text, None, None);
                self.set.take(&Happening::Came { action: &action, outcome, text });
                return;
            }
        };
        self.set.take(&Happening::Said { by, text });
    }

    fn call_of(&mut self, result: &Item) -> Option<Action> {
        let open = self.open.get_mut(result.tool.as_str()).filter(|open| !open.is_empty())?;
        let place = open.iter().position(|(path, _)| *path == result.path).unwrap_or(0);
        Some(open.remove(place).1)
    }
}

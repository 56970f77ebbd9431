//! Recordings as what happened in them, for the working set.

use crate::bench::item::{Item, ItemKind};
use crate::context::working::calls::action;
use crate::context::working::results::outcome;
use crate::context::working::{Action, Happening, Speaker, WorkingSet, unknown_action};
use std::collections::BTreeMap;

/// The working set of a recording. Results there do not name their calls: one belongs to the oldest open call of its tool and
/// file.
pub(super) struct RecordedWork<'s> {
    pub(super) set: WorkingSet,
    /// What each item is about that is a call or a result, as far as it was taken in.
    actions: Vec<Option<Action>>,
    /// Open calls by their tools, the oldest first.
    open: BTreeMap<&'s str, Vec<(&'s str, Action)>>,
}

impl Default for RecordedWork<'_> {
    fn default() -> Self {
        Self { set: WorkingSet::with_names(), actions: Vec::new(), open: BTreeMap::new() }
    }
}

impl<'s> RecordedWork<'s> {
    /// Takes in all items before `at`, and no others.
    pub(super) fn reach(&mut self, items: &'s [Item], at: usize) {
        if at < self.actions.len() {
            *self = Self::default();
        }
        for item in items.get(self.actions.len()..at).unwrap_or_default() {
            let action = self.take(item);
            self.actions.push(action);
        }
    }

    /// What the item at `place` is about, when it is a call or a result that was taken in.
    pub(super) fn action(&self, place: usize) -> Option<&Action> {
        self.actions.get(place)?.as_ref()
    }

    fn take(&mut self, item: &'s Item) -> Option<Action> {
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
                self.open.entry(&item.tool).or_default().push((&item.path, action.clone()));
                return Some(action);
            }
            ItemKind::ToolResult => {
                let action = self.call_of(item).unwrap_or_else(unknown_action);
                let outcome = outcome(&action, text, None, None);
                self.set.take(&Happening::Came { action: &action, outcome, text });
                return Some(action);
            }
        };
        self.set.take(&Happening::Said { by, text });
        None
    }

    fn call_of(&mut self, result: &Item) -> Option<Action> {
        let open = self.open.get_mut(result.tool.as_str()).filter(|open| !open.is_empty())?;
        let place = open.iter().position(|(path, _)| *path == result.path).unwrap_or(0);
        Some(open.remove(place).1)
    }
}

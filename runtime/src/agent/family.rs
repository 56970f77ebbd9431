//! The tree of forks that a session belongs to, and what its other members have used.
//!
//! A fork names its parent in its first event, so the tree is read from the first events of all sessions of the tenant. That is
//! done at the beginning of a turn, and only where a budget of the tree is set: relatives that work at the same time are
//! seen as they were then.

use super::agent_handle::Agent;
use super::budget::{Used, used};
use super::error::AgentError;
use retrace_events::log::StreamFilter;
use retrace_events::payload::settings::Budget;
use retrace_events::{Class, EventLog, LogError, StreamId, fold, history};
use std::collections::HashMap;

/// How far up a line of forks is followed.
const MAX_DEPTH: usize = 1_000;

/// What a session's relatives have used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct FamilyUsage {
    /// All of them together, without the session itself.
    pub(super) others: Used,
    /// How many there are.
    pub(super) sessions: usize,
}

impl Agent {
    /// Looks at the relatives, where a budget is shared with them.
    pub(super) async fn look_at_family(&mut self) -> Result<(), AgentError> {
        self.family = match self.settings.tree_budget == Budget::default() {
            true => None,
            false => Some(usage(self.parts.log.as_ref(), self.writer.stream()).await?),
        };
        Ok(())
    }
}

/// What the relatives of `session` have used.
///
/// # Errors
/// When the log cannot be read.
pub(super) async fn usage(log: &dyn EventLog, session: &StreamId) -> Result<FamilyUsage, LogError> {
    let filter =
        StreamFilter { tenant: Some(session.tenant.clone()), class: Some(Class::Session), ..StreamFilter::default() };
    let mut parents: HashMap<StreamId, Option<StreamId>> = HashMap::new();
    for info in log.streams(&filter).await? {
        let parent = history::parent_of(log, &info.stream).await?;
        parents.insert(info.stream, parent);
    }
    let root = root_of(&parents, session);
    let mut family = FamilyUsage::default();
    for relative in parents.keys().filter(|other| *other != session && root_of(&parents, other) == root) {
        let state = fold::load_own(log, relative).await?;
        family.others = family.others.and(&used(&state.own_totals(), 0));
        family.sessions += 1;
    }
    Ok(family)
}

/// The session at the top; a parent that is not in this log counts as one.
fn root_of<'a>(parents: &'a HashMap<StreamId, Option<StreamId>>, session: &'a StreamId) -> &'a StreamId {
    let mut at = session;
    for _ in 0..MAX_DEPTH {
        match parents.get(at) {
            Some(Some(parent)) => at = parent,
            Some(None) | None => break,
        }
    }
    at
}

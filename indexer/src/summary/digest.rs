//! The digest of a stretch of a session: what a reader of it would want to know, and where it is written.

use super::budget::{self, Dropped};
use super::digest_item::{DigestItem, DigestKind};
use super::digest_plan::DigestPlan;
use retrace_events::EventId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What is remembered of a stretch of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// The items, by kind and then in the order of their events.
    pub items: Vec<DigestItem>,
    /// The newest plan in this stretch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<DigestPlan>,
    /// How often things happened that are not among the items.
    #[serde(default, skip_serializing_if = "Dropped::is_empty")]
    pub dropped: Dropped,
}

impl Digest {
    /// The digest of a node of `level` from what is known of its stretch, oldest first.
    pub(super) fn settled(
        items: impl IntoIterator<Item = DigestItem>,
        plan: Option<DigestPlan>,
        mut dropped: Dropped,
        level: u32,
    ) -> Self {
        let items = budget::fold(items.into_iter().map(|item| item.at_level(level)));
        let items = budget::fit(items, budget::of_level(level), &mut dropped);
        Self { items, plan, dropped }
    }

    /// The digest of a node of `level` from those of its children, oldest first. Of several plans the newest holds.
    #[must_use]
    pub fn merged<'a>(children: impl IntoIterator<Item = &'a Self>, level: u32) -> Self {
        let (mut items, mut plan, mut dropped) = (Vec::new(), None, Dropped::new());
        for child in children {
            items.extend(child.items.iter().cloned());
            plan = child.plan.clone().or(plan);
            for (kind, count) in &child.dropped {
                *dropped.entry(*kind).or_default() += count;
            }
        }
        Self::settled(items, plan, dropped, level)
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty() && self.plan.is_none() && self.dropped.is_empty()
    }

    /// The items of a kind, in order.
    pub fn of_kind(&self, kind: DigestKind) -> impl Iterator<Item = &DigestItem> {
        self.items.iter().filter(move |item| item.kind == kind)
    }

    /// How often things of a kind happened, those that were dropped included.
    #[must_use]
    pub fn total(&self, kind: DigestKind) -> u64 {
        let kept: u64 = self.of_kind(kind).map(|item| u64::from(item.count)).sum();
        kept + self.dropped.get(&kind).copied().unwrap_or_default()
    }

    /// The events it rests on, each once, in order of their ids.
    #[must_use]
    pub fn evidence(&self) -> Vec<EventId> {
        let ids = self.items.iter().map(|item| item.event).chain(self.plan.as_ref().map(|plan| plan.event));
        ids.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The files it names, those that were changed first, each once.
    #[must_use]
    pub fn changed_files(&self) -> Vec<String> {
        self.of_kind(DigestKind::Changed).map(|item| item.text.clone()).collect()
    }
}

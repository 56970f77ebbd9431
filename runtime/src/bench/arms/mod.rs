//! Policies of context assembly, to be compared: each is an [`Arm`].
//!
//! An arm composes, and nothing else: what is in a context is measured by others, in the same way for all. An arm gets the
//! session's items, the place of the request and a budget, and gives back ordered pieces with their cost. Arms that compose
//! afresh need no memory; one that plays epochs keeps its state in the [`Composer`], which sees every request of the
//! session in order. Invariant: a composer looks at nothing from its place on.

mod all;
mod bag;
mod bm25;
mod epoch_tail;
mod epochs;
mod interest;
mod mask;
mod ours;
mod ranking;
mod recorded_work;
mod summary;
mod summary_events;
mod tail;
mod windows;
mod workset;

use super::composed::Composed;
use super::session::BenchSession;

/// A moment of a recorded session for which a context is composed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// The context holds what is known before this item.
    pub at: usize,
    /// What it may cost, in tokens.
    pub budget_tokens: u64,
    /// Whether a request was sent here. Otherwise somebody only looks, in the middle of an answer: what a composer remembers
    /// must stay as if nobody had.
    pub sends: bool,
}

/// A policy of context assembly.
pub trait Arm: Send + Sync {
    /// Its name, in tables and on the command line.
    fn name(&self) -> &'static str;

    /// What it does, in a few words.
    fn about(&self) -> &'static str;

    /// Begins with a session. What it gives may keep indexes of the session, and memory of the requests so far.
    fn open<'s>(&self, session: &'s BenchSession) -> Box<dyn Composer + 's>;
}

/// An arm at work on one session.
///
/// For each budget it is asked in order of place, for every request of the session and for the measured points between
/// them; at each place for all budgets one after the other. Memory of earlier requests must be kept by budget.
pub trait Composer {
    /// The context at a moment.
    fn compose(&mut self, ask: Ask) -> Composed<'_>;
}

/// The arm against which all others are measured, and which says what is old.
#[must_use]
pub fn baseline() -> Box<dyn Arm> {
    Box::new(tail::TailArm)
}

/// All arms, in the order of tables.
#[must_use]
pub fn all_arms() -> Vec<Box<dyn Arm>> {
    vec![
        Box::new(all::AllArm),
        Box::new(tail::TailArm),
        Box::new(mask::MaskArm),
        Box::new(summary::SummaryArm),
        Box::new(bm25::Bm25Arm),
        Box::new(workset::WorksetArm),
        Box::new(ours::OursArm),
        Box::new(epochs::EpochsArm),
        Box::new(bag::BagArm),
    ]
}

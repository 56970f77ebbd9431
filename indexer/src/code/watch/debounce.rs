//! Puts many changes together: what was changed is looked at when it has been quiet for a moment, and not much later when it
//! never is. Reads no clock; the caller says what time it is.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// More paths than this are not kept one by one.
const MAX_PATHS: usize = 2_048;

/// What should be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Due {
    /// These paths.
    Paths(Vec<String>),
    /// Everything.
    All,
}

/// Changes that wait.
#[derive(Debug)]
pub(super) struct Debounce {
    /// How long it must have been quiet.
    quiet: Duration,
    /// How long a change waits at most.
    at_most: Duration,
    paths: BTreeSet<String>,
    is_all: bool,
    /// When the first and the last of them came.
    since: Option<(Instant, Instant)>,
}

impl Debounce {
    pub(super) const fn new(quiet: Duration, at_most: Duration) -> Self {
        Self { quiet, at_most, paths: BTreeSet::new(), is_all: false, since: None }
    }

    /// A path was changed.
    pub(super) fn add(&mut self, path: String, now: Instant) {
        self.note(now);
        if !self.is_all {
            self.paths.insert(path);
        }
        if self.paths.len() > MAX_PATHS {
            self.is_all = true;
            self.paths.clear();
        }
    }

    /// Anything may have been changed.
    pub(super) fn add_all(&mut self, now: Instant) {
        self.note(now);
        self.is_all = true;
        self.paths.clear();
    }

    fn note(&mut self, now: Instant) {
        let first = self.since.map_or(now, |(first, _)| first);
        self.since = Some((first, now));
    }

    /// When to look, if nothing else happens.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.since.map(|(first, last)| (last + self.quiet).min(first + self.at_most))
    }

    /// What is due by now.
    pub(super) fn take(&mut self, now: Instant) -> Option<Due> {
        self.deadline().filter(|deadline| *deadline <= now)?;
        self.since = None;
        let paths = std::mem::take(&mut self.paths);
        let is_all = std::mem::take(&mut self.is_all);
        Some(if is_all { Due::All } else { Due::Paths(paths.into_iter().collect()) })
    }
}

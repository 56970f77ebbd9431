//! What stands in an epoch already: pairs of adjacent lines, by file, so that nothing is shown twice and what is new of a
//! file is shown with the line before it. Outputs share one place: what one printed, another need not say again.

use super::happening::Action;
use super::line_text::shown;
use super::outputs::LINE_BYTES;
use super::words::{first, hash_long};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher as _;
use std::ops::Range;

/// What lines are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct LinesOf(u64);

impl LinesOf {
    /// Anything that is in no file.
    pub(crate) const OUTPUTS: Self = Self(0);

    /// The file at `path`.
    pub(crate) fn file(path: &str) -> Self {
        Self(hash_long(path).max(1))
    }

    /// As much of a line as is ever shown.
    fn shown(self, line: &str) -> &str {
        if self == Self::OUTPUTS { first(line, LINE_BYTES) } else { shown(line) }
    }
}

/// Lines that stand in an epoch, each with the event that put it there last.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Standing {
    seqs: HashMap<u64, u64>,
}

/// What of some lines does not stand yet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MissingLines {
    /// Stretches of lines, each with the line before it.
    pub(crate) runs: Vec<Range<usize>>,
    /// The share of pairs that are missing, from 0 to 1.
    pub(crate) share: f64,
}

impl Standing {
    /// Event `seq` shows these lines, one behind the other.
    pub(crate) fn mark<'l>(&mut self, of: LinesOf, lines: impl IntoIterator<Item = &'l str>, seq: u64) {
        let mut before = None;
        for line in lines {
            let line = hash_long(of.shown(line));
            if let Some(before) = before {
                self.seqs.insert(place(of, before, line), seq);
            }
            self.seqs.insert(place(of, ANYWHERE, line), seq);
            before = Some(line);
        }
        self.bound();
    }

    /// What a call writes stands in the call, which event `seq` tells of.
    pub(crate) fn mark_written(&mut self, action: &Action, seq: u64) {
        match action {
            Action::Edit { path, edits } => {
                for edit in edits {
                    self.mark(LinesOf::file(&path.known), edit.new.split('\n'), seq);
                }
            }
            Action::Write { path, content } => {
                self.mark(LinesOf::file(&path.known), content.split('\n'), seq);
            }
            Action::Read { .. } | Action::Search { .. } | Action::Run { .. } | Action::Plan | Action::Other { .. } => {}
        }
    }

    /// Of a session that another program led, nobody says where its contexts ended: the older half goes when it is too much.
    fn bound(&mut self) {
        if self.seqs.len() > MAX_PLACES {
            let mut seqs: Vec<u64> = self.seqs.values().copied().collect();
            let half = seqs.len() / 2;
            let (_, middle, _) = seqs.select_nth_unstable(half);
            let middle = *middle;
            self.seqs.retain(|_, seq| *seq > middle);
        }
    }

    /// A fresh epoch keeps only what came with event `from_seq` or later.
    pub(crate) fn keep_from(&mut self, from_seq: u64) {
        self.seqs.retain(|_, seq| *seq >= from_seq);
    }

    /// Which of `lines`, one behind the other, do not stand next to the line before them.
    pub(crate) fn missing(&self, of: LinesOf, lines: &[&str]) -> MissingLines {
        self.missing_beside(&Self::default(), of, lines)
    }

    /// The same, where what is in `more` stands too.
    pub(super) fn missing_beside(&self, more: &Self, of: LinesOf, lines: &[&str]) -> MissingLines {
        let hashes: Vec<u64> = lines.iter().map(|line| hash_long(of.shown(line))).collect();
        let stands = |before: u64, line: u64| {
            let place = place(of, before, line);
            self.seqs.contains_key(&place) || more.seqs.contains_key(&place)
        };
        if let [only] = hashes.as_slice() {
            let missing = !stands(ANYWHERE, *only);
            let run = 0..1;
            return MissingLines { runs: missing.then_some(run).into_iter().collect(), share: f64::from(missing) };
        }
        let is_missing = |at: usize| match (at.checked_sub(1).and_then(|before| hashes.get(before)), hashes.get(at)) {
            // A closing brace at the very end is no news.
            (Some(before), Some(line)) => {
                !stands(*before, *line)
                    && (at + 1 < lines.len() || lines.get(at).is_some_and(|line| line.trim().len() > TRIVIAL_BYTES))
            }
            _ => false,
        };
        let missing: Vec<bool> = (0..lines.len()).map(is_missing).collect();
        let count = missing.iter().filter(|missing| **missing).count();
        let mut runs: Vec<Range<usize>> = Vec::new();
        for at in (1..lines.len()).filter(|at| missing.get(*at) == Some(&true)) {
            match runs.last_mut() {
                Some(run) if run.end + 1 >= at => run.end = at + 1,
                _ => runs.push(at - 1..at + 1),
            }
        }
        MissingLines { runs, share: count as f64 / lines.len().saturating_sub(1).max(1) as f64 }
    }
}

/// Stands for any line before another.
const ANYWHERE: u64 = 0;

/// The most pairs and lines: more than the largest window holds.
const MAX_PLACES: usize = 200_000;

/// A last line of so few bytes is no news.
const TRIVIAL_BYTES: usize = 2;

fn place(of: LinesOf, before: u64, line: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(of.0);
    hasher.write_u64(before);
    hasher.write_u64(line);
    hasher.finish()
}

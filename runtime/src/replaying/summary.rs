//! What carrying out a session's calls again came to, in numbers.

use super::comparison::Likeness;
use super::files::{FilesApart, FilesLikeness};
use super::normaliser::Normaliser;
use super::not_compared::NotCompared;
use super::replayed_call::{CallVerdict, ReplayedCall};
use std::collections::BTreeMap;

/// What it came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecutionSummary {
    /// All calls.
    pub calls: u64,
    /// Byte for byte the same.
    pub same: u64,
    /// The same after normalising.
    pub normalised: u64,
    /// The same lines in another order.
    pub reordered: u64,
    /// Calls whose result or whose files differ.
    pub diverging: u64,
    /// Of these, those whose result is the same and whose files are not.
    pub only_files: u64,
    /// By how many results each normaliser was needed.
    pub by_normaliser: BTreeMap<Normaliser, u64>,
    /// Calls that were not compared, by why not.
    pub not_compared: BTreeMap<NotCompared, u64>,
    /// Calls behind which files were compared.
    pub trees: u64,
    /// Of these, those with the same files, or the same but for what means nothing.
    pub trees_alike: u64,
    /// By how many trees differed in what means nothing.
    pub trees_apart: BTreeMap<FilesApart, u64>,
    /// How often files were brought to what people had made of them.
    pub by_hand: u64,
    /// How long the calls took, then and now, in milliseconds.
    pub duration_ms: (u64, u64),
}

impl ExecutionSummary {
    pub(super) fn add(&mut self, call: &ReplayedCall) {
        self.calls += 1;
        self.duration_ms.0 = self.duration_ms.0.saturating_add(call.duration_ms.0);
        self.duration_ms.1 = self.duration_ms.1.saturating_add(call.duration_ms.1);
        match &call.files {
            FilesLikeness::NotCompared => {}
            FilesLikeness::Alike(apart) => {
                self.trees += 1;
                self.trees_alike += 1;
                apart.iter().for_each(|apart| *self.trees_apart.entry(*apart).or_default() += 1);
            }
            FilesLikeness::Differ { .. } => self.trees += 1,
        }
        let likeness = match &call.verdict {
            // Its files may be compared all the same.
            CallVerdict::NotCompared(_) if call.files.differs() => {
                self.diverging += 1;
                self.only_files += 1;
                return;
            }
            CallVerdict::NotCompared(why) => {
                *self.not_compared.entry(*why).or_default() += 1;
                return;
            }
            CallVerdict::Compared(likeness) => likeness,
        };
        if call.diverges() {
            self.diverging += 1;
            self.only_files += u64::from(likeness.is_alike());
            return;
        }
        let by = match likeness {
            Likeness::Same => {
                self.same += 1;
                return;
            }
            Likeness::Normalised(by) => {
                self.normalised += 1;
                by
            }
            Likeness::Reordered(by) => {
                self.reordered += 1;
                by
            }
            Likeness::Differs => return,
        };
        by.iter().for_each(|normaliser| *self.by_normaliser.entry(*normaliser).or_default() += 1);
    }

    /// Calls that were compared and came to the same, files included.
    #[must_use]
    pub const fn reproduced(&self) -> u64 {
        self.same + self.normalised + self.reordered
    }

    /// Calls of which something was compared.
    #[must_use]
    pub const fn compared(&self) -> u64 {
        self.reproduced() + self.diverging
    }

    /// How much of what was compared came to the same, in thousandths; `None` when nothing was.
    #[must_use]
    pub const fn reproduced_permille(&self) -> Option<u64> {
        match self.compared() {
            0 => None,
            compared => Some(self.reproduced() * 1_000 / compared),
        }
    }
}

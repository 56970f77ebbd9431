//! A whole context composed afresh: names, paths, windows, and the newest steps in few words.

use super::chosen::shown;
use super::standing::Standing;
use super::weights::{NAMES_SHARE, PATHS_SHARE, TRANSCRIPT_SHARE};
use super::words::{Word, hash, identifiers};
use super::working_set::WorkingSet;
use std::collections::HashSet;

/// What may be lost by rounding up the tokens of each part, in bytes.
const ROUNDING_BYTES: usize = 16;

impl WorkingSet {
    /// The parts of a context, in order, the newest steps last. Their tokens (a token is 4 bytes, and each part is rounded up)
    /// are at most `budget_tokens`.
    pub(crate) fn composed(&self, budget_tokens: u64) -> Vec<String> {
        self.begun(budget_tokens, TRANSCRIPT_SHARE).0
    }

    /// The same as what an epoch begins with, with `transcript_share` of the budget for the newest steps; and what of files and
    /// outputs stands in it.
    pub(crate) fn begun(&self, budget_tokens: u64, transcript_share: f64) -> (Vec<String>, Standing) {
        let mut standing = Standing::default();
        let budget = usize::try_from(budget_tokens.saturating_mul(4)).unwrap_or(usize::MAX);
        let budget = budget.saturating_sub(ROUNDING_BYTES);
        let share = |share: f64| (budget as f64 * share) as usize;
        let transcript = self.transcript.text(share(transcript_share));
        let room = budget.saturating_sub(transcript.len() + share(PATHS_SHARE) + share(NAMES_SHARE));
        let windows = shown(&self.ranked(), room, &transcript, &mut standing);
        let there = format!("{windows}\n{transcript}");
        let paths = self.places.text(share(PATHS_SHARE).saturating_sub(PATHS.len()), &there);
        let paths = if paths.is_empty() { paths } else { format!("{PATHS}{paths}") };
        let used = there.len() + paths.len();
        let names = self.names.as_ref().map_or_else(String::new, |names| {
            let there: HashSet<Word> = identifiers(&there).chain(identifiers(&paths)).map(hash).collect();
            names.text(self.count, budget.saturating_sub(used + NAMES.len()), &there)
        });
        let names = if names.is_empty() { names } else { format!("{NAMES}{names}") };
        let parts = [names, paths, windows, transcript].into_iter().filter(|part| !part.is_empty()).collect();
        (parts, standing)
    }
}

/// What stands before paths and names.
const PATHS: &str = "paths:\n";
const NAMES: &str = "names: ";

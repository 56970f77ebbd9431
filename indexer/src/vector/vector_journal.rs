//! Which part of the log has its vectors: intervals of positions, in a small file that is replaced in one step.
//!
//! Before a batch is written, its interval is noted as pending; after it, as done. Whatever moment the process dies at, a
//! pending interval is removed from the table and made again, so that nothing is missing and nothing is there twice.

use super::vector_error::VectorError;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// The name of the file.
const FILE: &str = "journal.json";
/// The version of its format.
const FORMAT: u32 = 1;
/// The largest journal that is read.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// What is known of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VectorJournal {
    path: PathBuf,
    state: JournalState,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct JournalState {
    format: u32,
    /// Finished intervals, first and last position: in order, apart from each other.
    done: Vec<(u64, u64)>,
    /// The interval that is being written.
    pending: Option<(u64, u64)>,
    /// The generation of the code index that the table has everything of.
    #[serde(default)]
    code_generation: u64,
    /// Of all streams that were deleted at a position up to here, nothing is left in the table.
    #[serde(default)]
    deletions_until: u64,
    /// The table's version after the last batch: a table that is older has lost something.
    table_version: u64,
}

impl VectorJournal {
    /// The journal in `folder`; `None` when there is none.
    ///
    /// # Errors
    /// When it is damaged, or cannot be read.
    pub(super) fn open(folder: &Path) -> Result<Option<Self>, VectorError> {
        let path = folder.join(FILE);
        let mut bytes = Vec::new();
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(None);
            }
            Err(error) => return Err(VectorError::io(&path, error)),
        };
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| VectorError::io(&path, error))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(VectorError::damaged(folder, "the journal is too large"));
        }
        let state: JournalState =
            serde_json::from_slice(&bytes).map_err(|error| VectorError::damaged(folder, error))?;
        if state.format != FORMAT {
            return Err(VectorError::damaged(folder, format!("its journal has format {}", state.format)));
        }
        let apart = |pair: &[(u64, u64)]| matches!(pair, [(_, end), (start, _)] if *end < *start);
        let forward = |interval: &(u64, u64)| interval.0 <= interval.1;
        if !state.done.iter().chain(&state.pending).all(forward) || !state.done.windows(2).all(apart) {
            return Err(VectorError::damaged(folder, "the journal's intervals are out of order"));
        }
        Ok(Some(Self { path, state }))
    }

    /// A journal that has nothing yet, written into `folder`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn create(folder: &Path) -> Result<Self, VectorError> {
        let state = JournalState { format: FORMAT, ..JournalState::default() };
        let journal = Self { path: folder.join(FILE), state };
        journal.save()?;
        Ok(journal)
    }

    /// The interval that a batch was being written for.
    pub(super) const fn pending(&self) -> Option<(u64, u64)> {
        self.state.pending
    }

    /// The version that the table had after the last batch.
    pub(super) const fn table_version(&self) -> u64 {
        self.state.table_version
    }

    /// The newest positions up to `until` that are not done: at most `width` of them.
    pub(super) fn next(&self, until: u64, width: u64) -> Option<(u64, u64)> {
        let (first, last) = self.newest_gap(until)?;
        Some((first.max(last.saturating_sub(width.saturating_sub(1))), last))
    }

    /// How many positions up to `until` are not done.
    pub(super) fn missing(&self, until: u64) -> u64 {
        let done: u64 = self
            .state
            .done
            .iter()
            .filter(|(first, _)| *first <= until)
            .map(|(first, last)| (*last).min(until) - first + 1)
            .fold(0, u64::saturating_add);
        until.saturating_add(1).saturating_sub(done)
    }

    /// Notes that a batch for `interval` is about to be written.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn begin(&mut self, interval: (u64, u64)) -> Result<(), VectorError> {
        self.state.pending = Some(interval);
        self.save()
    }

    /// Notes that the batch is in the table, which has `table_version` now.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn finish(&mut self, table_version: u64) -> Result<(), VectorError> {
        if let Some(interval) = self.state.pending.take() {
            self.state.done = merged(&self.state.done, interval);
        }
        self.state.table_version = table_version;
        self.save()
    }

    /// The generation of the code index that the table has everything of; 0 before the first.
    pub(super) const fn code_generation(&self) -> u64 {
        self.state.code_generation
    }

    /// Notes that the table has everything of a generation of the code index.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn finish_code(&mut self, generation: u64, table_version: u64) -> Result<(), VectorError> {
        self.state.code_generation = generation;
        self.state.table_version = table_version;
        self.save()
    }

    /// The position of the last deletion that the table reflects; 0 before the first.
    pub(super) const fn deletions_until(&self) -> u64 {
        self.state.deletions_until
    }

    /// Notes that the table reflects the deletions up to `position`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn finish_deletions(&mut self, position: u64, table_version: u64) -> Result<(), VectorError> {
        self.state.deletions_until = position;
        self.state.table_version = table_version;
        self.save()
    }

    fn newest_gap(&self, until: u64) -> Option<(u64, u64)> {
        let mut last = until;
        for (first_done, last_done) in self.state.done.iter().rev() {
            if *first_done > last {
                continue;
            }
            if *last_done < last {
                return Some((last_done + 1, last));
            }
            last = first_done.checked_sub(1)?;
        }
        Some((0, last))
    }

    fn save(&self) -> Result<(), VectorError> {
        let failed = |error| VectorError::io(&self.path, error);
        let bytes = serde_json::to_vec(&self.state).map_err(|error| failed(error.into()))?;
        let beside = self.path.with_extension("json.new");
        let mut file = File::create(&beside).map_err(failed)?;
        file.write_all(&bytes).map_err(failed)?;
        file.sync_data().map_err(failed)?;
        drop(file);
        std::fs::rename(&beside, &self.path).map_err(failed)
    }
}

/// `done` and `new` together, in order, neighbours joined.
fn merged(done: &[(u64, u64)], new: (u64, u64)) -> Vec<(u64, u64)> {
    let mut all = done.to_vec();
    all.push(new);
    all.sort_unstable();
    let mut out: Vec<(u64, u64)> = Vec::with_capacity(all.len());
    for (first, last) in all {
        match out.last_mut() {
            Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
            _ => out.push((first, last)),
        }
    }
    out
}

//! What has to be known of a session to go on indexing it: its cursors, kept beside the documents they led to.
//!
//! A cursor is bounded, so that a session of any length costs the same. Those of sessions that were written to are stored
//! in the same commit as their documents; the ones idle the longest are then forgotten and read back when needed.

use crate::documents::SessionCursor;
use crate::keyword::{KeywordError, KeywordIndex, KeywordWriter};
use crate::summary::SummaryCursor;
use retrace_events::StreamId;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// What the names of the stored cursors begin with; the stream follows.
pub(crate) const CURSORS: &str = "cursor/";

/// What the names of the records of deletions begin with; the stream follows. Each holds the position before which nothing of
/// the stream is in the log any more.
pub(crate) const DELETIONS: &str = "deleted/";

/// How many sessions are kept in memory between commits.
const MAX_IDLE_SESSIONS: usize = 64;

/// Where the indexing of a session stands.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SessionMemory {
    /// What its events became so far.
    pub(crate) documents: SessionCursor,
    /// The summaries that are not full yet.
    pub(crate) summary: SummaryCursor,
    /// Whether events of the session itself were fed; a summary in a model's words may come before them.
    #[serde(default = "yes")]
    pub(crate) begun: bool,
}

/// What an older record does not say.
const fn yes() -> bool {
    true
}

/// The sessions at hand.
#[derive(Debug, Default)]
pub(crate) struct Memories {
    sessions: HashMap<StreamId, Slot>,
    clock: u64,
}

#[derive(Debug)]
struct Slot {
    memory: SessionMemory,
    changed: bool,
    used: u64,
}

impl Memories {
    /// The memory of `stream`, for changing it: from here, from the last commit, or new.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn of(
        &mut self,
        stream: &StreamId,
        index: Option<&KeywordIndex>,
    ) -> Result<&mut SessionMemory, KeywordError> {
        self.clock += 1;
        let clock = self.clock;
        let slot = match self.sessions.entry(stream.clone()) {
            Entry::Occupied(slot) => slot.into_mut(),
            Entry::Vacant(place) => {
                let stored = match index {
                    Some(index) => index.record(&record_key(stream))?,
                    None => None,
                };
                // One that cannot be read is of an older format, which the note's version rules out: begin again.
                let memory = stored.and_then(|bytes| serde_json::from_slice(&bytes).ok());
                let memory = memory.unwrap_or_else(|| new_memory(stream));
                place.insert(Slot { memory, changed: false, used: clock })
            }
        };
        slot.used = clock;
        slot.changed = true;
        Ok(&mut slot.memory)
    }

    /// Whether events of `stream` were fed before.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn is_known(&self, stream: &StreamId, index: Option<&KeywordIndex>) -> Result<bool, KeywordError> {
        if let Some(slot) = self.sessions.get(stream) {
            return Ok(slot.memory.begun);
        }
        let stored = match index {
            Some(index) => index.record(&record_key(stream))?,
            None => None,
        };
        let memory = stored.and_then(|bytes| serde_json::from_slice::<SessionMemory>(&bytes).ok());
        Ok(memory.is_some_and(|memory| memory.begun))
    }

    /// Forgets `stream`, with the commit that `writer` is about to make.
    pub(crate) fn forget(&mut self, stream: &StreamId, writer: &mut KeywordWriter) {
        writer.delete_record(&record_key(stream));
        let memory = new_memory(stream);
        self.clock += 1;
        // Not merely left out: it would be read back from the last commit.
        self.sessions.insert(stream.clone(), Slot { memory, changed: false, used: self.clock });
    }

    /// Puts what has changed into the commit that `writer` is about to make.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn store(&mut self, writer: &mut KeywordWriter) -> Result<(), KeywordError> {
        for (stream, slot) in self.sessions.iter_mut().filter(|(_, slot)| slot.changed) {
            let bytes = serde_json::to_vec(&slot.memory).unwrap_or_default();
            writer.put_record(&record_key(stream), &bytes)?;
            slot.changed = false;
        }
        Ok(())
    }

    /// Forgets the sessions idle the longest. Only after a commit: what is not stored would be lost.
    pub(crate) fn trim(&mut self) {
        if self.sessions.len() <= MAX_IDLE_SESSIONS {
            return;
        }
        let mut ages: Vec<u64> = self.sessions.values().map(|slot| slot.used).collect();
        ages.sort_unstable_by(|a, b| b.cmp(a));
        let oldest_kept = ages.get(MAX_IDLE_SESSIONS - 1).copied().unwrap_or(0);
        self.sessions.retain(|_, slot| slot.changed || slot.used >= oldest_kept);
    }
}

/// The name of the record that says of the deletion of `stream`.
pub(crate) fn deletion_key(stream: &str) -> String {
    format!("{DELETIONS}{stream}")
}

fn new_memory(stream: &StreamId) -> SessionMemory {
    SessionMemory { documents: SessionCursor::new(stream), summary: SummaryCursor::new(stream.clone()), begun: false }
}

fn record_key(stream: &StreamId) -> String {
    format!("{CURSORS}{stream}")
}

//! Deleting a stream: its tombstone is appended like any event, and then the server purges what stands before it.

use super::api::Remote;
use crate::log::batch::CheckedBatch;
use crate::log::deletion::TRIES;
use crate::log::{Deletion, LogError};

impl Remote {
    /// As [`crate::log::EventLog::delete`].
    pub(super) async fn delete(&self, deletion: &Deletion) -> Result<(), LogError> {
        let mut tries = TRIES;
        let position = loop {
            let last = self.last_of(&deletion.stream).await?;
            if let Some(tombstone) = last.filter(|last| last.is_deleted) {
                break tombstone.position;
            }
            let batch = [deletion.tombstone(last.map(|last| last.head))];
            let Some(tombstone) = CheckedBatch::check_any(&batch)? else { return Ok(()) };
            match self.append(tombstone, false).await {
                // Somebody was quicker with an event, or with a deletion of theirs.
                Err(LogError::Fenced { .. } | LogError::Deleted { .. }) if tries > 0 => tries -= 1,
                done => done?,
            }
        };
        self.purge(&deletion.stream, position).await
    }
}

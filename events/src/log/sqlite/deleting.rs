//! Deleting a stream: its tombstone first, then its events, from the last to the first.
//!
//! Rows go in small transactions, so that other writers never wait for long. From the last to the first, so that whatever is
//! left at any moment is the beginning of the stream, and the tombstone behind it: a follower in the middle of it sees no
//! gap that the tombstone does not explain. What is removed is overwritten in the file.

use super::committer::{self, Append, Row};
use super::failure::sqlite_failed;
use super::schema;
use crate::log::batch::CheckedBatch;
use crate::log::chain::StoredEvent;
use crate::log::{Deletion, Head, LogError};
use rusqlite::{Connection, TransactionBehavior, params};
use std::path::Path;

/// How many events one transaction removes.
const STEP: u64 = 500;

/// As [`crate::log::EventLog::delete`]. Blocks.
pub(super) fn delete(file: &Path, deletion: &Deletion) -> Result<(), LogError> {
    let mut connection = schema::open_or_create(file)?;
    let failed = |e: rusqlite::Error| sqlite_failed(file, &e);
    // Bytes of what is gone must not lie in the file for whoever looks.
    connection.pragma_update(None, "secure_delete", true).map_err(failed)?;
    let Tombstone { stream, seq } = mark(&mut connection, deletion).map_err(failed)??;
    let left = "SELECT coalesce(max(seq) + 1, 0) FROM events WHERE stream = ?1 AND seq < ?2";
    let mut end: u64 = connection.query_row(left, params![stream, signed(seq)], |row| row.get(0)).map_err(failed)?;
    while end > 0 {
        let from = end.saturating_sub(STEP);
        let remove = "DELETE FROM events WHERE stream = ?1 AND seq >= ?2 AND seq < ?3
            AND EXISTS (SELECT 1 FROM events WHERE stream = ?1 AND seq = ?4 AND kind = 'stream.deleted')";
        // Should somebody bring the stream back meanwhile, its events are new ones.
        connection.execute(remove, params![stream, signed(from), signed(end), signed(seq)]).map_err(failed)?;
        end = from;
    }
    // The write-ahead log has what was removed, too. While somebody reads it stays, and goes with a later one.
    let emptied = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    if let Err(error) = emptied {
        tracing::debug!(%error, "the write-ahead log keeps what was deleted for a while");
    }
    Ok(())
}

/// Where a stream's tombstone stands.
struct Tombstone {
    /// The stream's row.
    stream: i64,
    seq: u64,
}

/// Puts the tombstone where there is none. Nobody else writes meanwhile.
fn mark(connection: &mut Connection, deletion: &Deletion) -> rusqlite::Result<Result<Tombstone, LogError>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let known = committer::find_stream(&transaction, &deletion.stream)?;
    if let Some(known) = known.filter(|known| known.ending.is_deleted) {
        return Ok(Ok(Tombstone { stream: known.row, seq: known.ending.seq }));
    }
    let head = known.map(|known| Head { seq: known.ending.seq, hash: known.ending.hash, at: known.at });
    let batch = [deletion.tombstone(head)];
    let applied = match CheckedBatch::check_any(&batch) {
        Ok(Some(batch)) => committer::apply(&transaction, &append_of(batch))?,
        Ok(None) => Ok(()),
        Err(error) => Err(error),
    };
    let known = committer::find_stream(&transaction, &deletion.stream)?;
    transaction.commit()?;
    let deleted = known.map(|known| Tombstone { stream: known.row, seq: known.ending.seq });
    Ok(applied.and_then(|()| deleted.ok_or_else(|| LogError::Deleted { stream: deletion.stream.clone() })))
}

fn append_of(batch: CheckedBatch<'_>) -> Append {
    let rows = batch.events.into_iter().map(|event| {
        let stored = StoredEvent { bytes: event.bytes, hash: event.hash, payload_blob: None };
        Row::of(event.envelope, stored)
    });
    Append {
        stream: batch.stream.clone(),
        first_seq: batch.first_seq,
        prev_hash: batch.prev_hash,
        head: batch.head,
        rows: rows.collect(),
        begins_again: false,
    }
}

fn signed(number: u64) -> i64 {
    super::query::signed(number)
}

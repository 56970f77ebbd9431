//! The one thread that writes. It takes all appends that wait and commits them together, so that many writers share
//! one sync of the disk; while it waits for the disk, the next group gathers.
//!
//! Invariants: an append that is refused (fence, id in use) leaves the rest of its group alone, because everything is
//! checked before anything of it is inserted; a reply is sent only after the commit.

use super::failure::sqlite_failed;
use super::query::signed;
use super::tail::Tail;
use crate::envelope::Envelope;
use crate::hash::Hash;
use crate::id::{EventId, StreamId, Timestamp};
use crate::log::batch::{self, Ending, Verdict};
use crate::log::chain::StoredEvent;
use crate::log::{Head, LogError};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot};

/// The most appends of one transaction.
const GROUP: usize = 512;

/// No further append joins a transaction that has this many bytes.
const GROUP_BYTES: usize = 8 * 1024 * 1024;

/// One batch, checked and with its large payloads stored.
#[derive(Debug)]
pub(super) struct Append {
    pub(super) stream: StreamId,
    pub(super) first_seq: u64,
    pub(super) prev_hash: Hash,
    /// The stream's head once this is stored.
    pub(super) head: Head,
    pub(super) rows: Vec<Row>,
    /// Whether it may take the place of a tombstone.
    pub(super) begins_again: bool,
}

/// One event.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) id: EventId,
    pub(super) seq: u64,
    pub(super) at: Timestamp,
    pub(super) kind: String,
    pub(super) payload_bytes: usize,
    pub(super) stored: StoredEvent,
}

impl Row {
    /// The row of `envelope`, which is stored as `stored`.
    pub(super) fn of(envelope: &Envelope, stored: StoredEvent) -> Self {
        Self {
            id: envelope.id,
            seq: envelope.seq,
            at: envelope.at,
            kind: envelope.kind.clone(),
            payload_bytes: envelope.payload.len(),
            stored,
        }
    }
}

/// Whether the batch was stored, or why it was refused.
type Outcome = Result<(), LogError>;

#[derive(Debug)]
struct Job {
    append: Append,
    reply: oneshot::Sender<Outcome>,
}

/// The handle of the writing thread, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct Committer {
    file: PathBuf,
    /// `None` only while it is dropped.
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Committer {
    /// Starts the thread on `connection`.
    pub(super) fn start(file: &Path, connection: Connection, tail: Arc<Tail>) -> Result<Self, LogError> {
        let (jobs, queue) = mpsc::channel(GROUP);
        let writing = Writing { file: file.to_owned(), connection, tail };
        let thread = std::thread::Builder::new().name("retrace-log".to_owned()).spawn(move || writing.run(queue));
        let thread = thread.map_err(|e| crate::blob::io_failed(file, &e))?;
        Ok(Self { file: file.to_owned(), jobs: Some(jobs), thread: Some(thread) })
    }

    /// Stores the batch. It may be stored even when the caller stops waiting.
    pub(super) async fn append(&self, append: Append) -> Outcome {
        let (reply, answer) = oneshot::channel();
        let sent = match &self.jobs {
            Some(jobs) => jobs.send(Job { append, reply }).await.is_ok(),
            None => false,
        };
        if sent && let Ok(outcome) = answer.await {
            return outcome;
        }
        Err(LogError::Unavailable {
            location: self.file.display().to_string(),
            why: "its writing thread has ended".to_owned(),
        })
    }
}

#[cfg(test)]
impl Committer {
    /// How many appends wait for the thread to take them.
    pub(super) fn waiting(&self) -> usize {
        self.jobs.as_ref().map_or(0, |jobs| jobs.max_capacity() - jobs.capacity())
    }
}

impl Drop for Committer {
    /// Waits for what was sent, so that a log that is opened again at once finds everything.
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported by it.
            let _ = thread.join();
        }
    }
}

struct Writing {
    file: PathBuf,
    connection: Connection,
    tail: Arc<Tail>,
}

impl Writing {
    fn run(mut self, mut queue: mpsc::Receiver<Job>) {
        while let Some(first) = queue.blocking_recv() {
            let mut bytes = size_bytes(&first);
            let mut group = vec![first];
            while group.len() < GROUP && bytes < GROUP_BYTES {
                let Ok(job) = queue.try_recv() else { break };
                bytes += size_bytes(&job);
                group.push(job);
            }
            self.commit_group(group);
        }
    }

    fn commit_group(&mut self, group: Vec<Job>) {
        let appends: Vec<&Append> = group.iter().map(|job| &job.append).collect();
        match self.try_commit(&appends) {
            Ok(outcomes) => {
                self.tail.changed();
                for (job, outcome) in group.into_iter().zip(outcomes) {
                    // Whoever does not wait any more does not need the answer.
                    let _ = job.reply.send(outcome);
                }
            }
            // One batch may be what does not fit: then the others must not fail with it. A lock is waited for once.
            Err(e) if group.len() > 1 && e.sqlite_error_code() != Some(ErrorCode::DatabaseBusy) => {
                for job in group {
                    self.commit_group(vec![job]);
                }
            }
            Err(e) => {
                for job in group {
                    let _ = job.reply.send(Err(sqlite_failed(&self.file, &e)));
                }
            }
        }
    }

    /// One transaction. On an error nothing of it is stored.
    fn try_commit(&mut self, appends: &[&Append]) -> rusqlite::Result<Vec<Outcome>> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let outcomes = appends.iter().map(|append| apply(&transaction, append)).collect::<rusqlite::Result<_>>()?;
        transaction.commit()?;
        Ok(outcomes)
    }
}

fn size_bytes(job: &Job) -> usize {
    job.append.rows.iter().map(|row| row.stored.bytes.len()).sum()
}

/// Checks the batch against its stream and inserts it.
pub(super) fn apply(transaction: &Transaction<'_>, append: &Append) -> rusqlite::Result<Outcome> {
    let known = find_stream(transaction, &append.stream)?;
    let link = batch::Link {
        first_seq: append.first_seq,
        prev_hash: append.prev_hash,
        last: (append.head.seq, append.head.hash),
        begins_again: append.begins_again,
    };
    match link.verdict(known.map(|known| known.ending)) {
        Verdict::AlreadyStored => return Ok(Ok(())),
        Verdict::Fenced { actual_next } => {
            let (stream, tried) = (append.stream.clone(), append.first_seq);
            return Ok(Err(LogError::Fenced { stream, tried, actual_next }));
        }
        Verdict::Deleted => return Ok(Err(LogError::Deleted { stream: append.stream.clone() })),
        Verdict::Store => {}
    }
    let mut taken = transaction.prepare_cached("SELECT 1 FROM events WHERE id = ?1")?;
    for row in &append.rows {
        if taken.exists([row.id.0.as_bytes()])? {
            return Ok(Err(batch::id_taken(row.id)));
        }
    }
    let stream = match known {
        Some(known) => {
            if known.ending.is_deleted {
                // The tombstone, and what a deletion that was broken off has left.
                transaction.execute("DELETE FROM events WHERE stream = ?1", [known.row])?;
            }
            known.row
        }
        None => insert_stream(transaction, append)?,
    };
    insert_events(transaction, stream, append)?;
    Ok(Ok(()))
}

/// A stream's row and its last event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) row: i64,
    pub(super) ending: Ending,
    pub(super) at: Timestamp,
}

pub(super) fn find_stream(transaction: &Transaction<'_>, stream: &StreamId) -> rusqlite::Result<Option<Known>> {
    let mut find = transaction.prepare_cached(
        "SELECT streams.id, head_seq, head_hash, coalesce(kind = 'stream.deleted', FALSE), head_at
         FROM streams LEFT JOIN events ON position = head_position
         WHERE tenant = ?1 AND project = ?2 AND class = ?3 AND name = ?4",
    )?;
    let key = params![stream.tenant.as_str(), stream.project.as_str(), stream.class.as_str(), stream.id.as_str()];
    let known = |row: &rusqlite::Row<'_>| {
        let ending = Ending { seq: row.get(1)?, hash: Hash::from_bytes(row.get(2)?), is_deleted: row.get(3)? };
        Ok(Known { row: row.get(0)?, ending, at: Timestamp(row.get(4)?) })
    };
    find.query_row(key, known).optional()
}

fn insert_stream(transaction: &Transaction<'_>, append: &Append) -> rusqlite::Result<i64> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO streams (tenant, project, class, name, head_seq, head_hash, head_at, head_position)
         VALUES (?1, ?2, ?3, ?4, 0, x'', 0, 0)",
    )?;
    let stream = &append.stream;
    insert.insert([stream.tenant.as_str(), stream.project.as_str(), stream.class.as_str(), stream.id.as_str()])
}

fn insert_events(transaction: &Transaction<'_>, stream: i64, append: &Append) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO events (stream, seq, id, at, kind, hash, payload_bytes, payload_blob, envelope)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    let mut position = 0;
    for row in &append.rows {
        let blob = row.stored.payload_blob;
        position = insert.insert(params![
            stream,
            signed(row.seq),
            row.id.0.as_bytes(),
            signed(row.at.0),
            row.kind,
            row.stored.hash.as_bytes(),
            signed(row.payload_bytes as u64),
            blob.as_ref().map(Hash::as_bytes),
            row.stored.bytes,
        ])?;
    }
    let mut update = transaction.prepare_cached(
        "UPDATE streams SET head_seq = ?2, head_hash = ?3, head_at = ?4, head_position = ?5 WHERE id = ?1",
    )?;
    let head = append.head;
    update.execute(params![stream, signed(head.seq), head.hash.as_bytes(), signed(head.at.0), position])?;
    Ok(())
}

//! What can only be seen from inside: which appends share a transaction, and what errors become.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::committer::{Append, Committer, Row};
use super::failure::{network_filesystem, sqlite_failed, unusable_dir};
use super::tail::Tail;
use super::*;
use crate::log::batch::CheckedBatch;
use crate::testing::{EventMaker, example_stream};
use rusqlite::Connection;
use std::io::ErrorKind;

/// A committer on a file of its own, and the tail that counts its transactions.
struct Bench {
    dir: tempfile::TempDir,
    committer: Committer,
    tail: Arc<Tail>,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("log.db");
        let tail = Arc::new(Tail::new(file.clone()));
        let connection = schema::open_or_create(&file).unwrap();
        let committer = Committer::start(&file, connection, Arc::clone(&tail)).unwrap();
        Self { dir, committer, tail }
    }

    fn other_process(&self) -> Connection {
        Connection::open(self.dir.path().join("log.db")).unwrap()
    }

    fn transactions(&self) -> u64 {
        self.tail.changes()
    }
}

fn append(batch: &[Envelope]) -> Append {
    let checked = CheckedBatch::check(batch).unwrap().unwrap();
    let (stream, first_seq, prev_hash, head) =
        (checked.stream.clone(), checked.first_seq, checked.prev_hash, checked.head);
    let row = |event: crate::log::batch::CheckedEvent<'_>| Row {
        id: event.envelope.id,
        seq: event.envelope.seq,
        at: event.envelope.at,
        kind: event.envelope.kind.clone(),
        payload_bytes: event.envelope.payload.len(),
        stored: StoredEvent { bytes: event.bytes, hash: event.hash, payload_blob: None },
    };
    Append {
        stream,
        first_seq,
        prev_hash,
        head,
        rows: checked.events.into_iter().map(row).collect(),
        begins_again: false,
    }
}

/// Submits all appends while another process holds the lock: some are in the committer's hands, the others wait in its
/// queue. Then lets go of the lock, and gives their outcomes.
async fn submit_together(bench: &Bench, appends: Vec<Append>) -> Vec<Result<(), LogError>> {
    let other = bench.other_process();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut answers = Vec::new();
    for append in appends {
        let mut answer = Box::pin(bench.committer.append(append));
        // Looked at once, it is in the queue.
        assert!(futures::poll!(&mut answer).is_pending());
        answers.push(answer);
    }
    other.execute_batch("ROLLBACK").unwrap();
    futures::future::join_all(answers).await
}

#[tokio::test]
async fn sixteen_writers_share_a_sync() {
    let bench = Bench::new();
    let appends = (0..16).map(|n| append(&EventMaker::new(example_stream(&format!("w-{n}")), n).prompts(2))).collect();
    let outcomes = submit_together(&bench, appends).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    // One for whoever the committer had taken when the lock stopped it, one for all the others.
    assert!((1..=2).contains(&bench.transactions()), "{} transactions", bench.transactions());
    let stored: i64 = bench.other_process().query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
    assert_eq!(stored, 32);
}

#[tokio::test]
async fn a_refused_append_leaves_the_rest_of_its_group_alone() {
    let bench = Bench::new();
    let taken = EventMaker::new(example_stream("taken"), 1).prompts(1);
    bench.committer.append(append(&taken)).await.unwrap();
    let mut appends = Vec::new();
    for n in 0..4 {
        appends.push(append(&EventMaker::new(example_stream(&format!("good-{n}")), 10 + n).prompts(2)));
        // One comes too late, one uses an id that is taken; its first event is fine.
        appends.push(append(&EventMaker::new(example_stream("taken"), 20 + n).prompts(1)));
        let mut thief = EventMaker::new(example_stream(&format!("thief-{n}")), 30 + n);
        let (first, mut second) = (thief.prompt("fine"), thief.prompt("not fine"));
        second.id = taken[0].id;
        appends.push(append(&[first, second]));
    }
    for (index, outcome) in submit_together(&bench, appends).await.into_iter().enumerate() {
        match (index % 3, outcome) {
            (0, Ok(())) | (1, Err(LogError::Fenced { actual_next: 1, .. })) | (2, Err(LogError::InvalidBatch(_))) => {}
            (_, other) => panic!("{index}: {other:?}"),
        }
    }
    let names = "SELECT group_concat(name || ':' || head_seq, ' ') FROM (SELECT * FROM streams ORDER BY name)";
    let names: String = bench.other_process().query_row(names, [], |row| row.get(0)).unwrap();
    assert_eq!(names, "good-0:1 good-1:1 good-2:1 good-3:1 taken:0");
}

#[tokio::test]
async fn a_dropped_log_has_stored_what_it_was_given() {
    let dir = tempfile::tempdir().unwrap();
    let log = SqliteLog::open(dir.path()).unwrap();
    let stream = example_stream("dropped");
    let batch = EventMaker::new(stream.clone(), 1).prompts(3);
    // The caller gives up as soon as the append is on its way.
    let mut appending = Box::pin(log.append(&batch));
    while futures::poll!(&mut appending).is_pending() && log.committer.waiting() == 0 && log.tail.changes() == 0 {
        tokio::task::yield_now().await;
    }
    drop(appending);
    drop(log);
    let events = SqliteLog::open(dir.path()).unwrap().read(&stream, 0, 10).await.unwrap();
    assert!(events.is_empty() || events == batch, "{} events", events.len());
}

#[tokio::test]
async fn a_tail_ends_when_its_log_is_closed() {
    let dir = tempfile::tempdir().unwrap();
    let log = SqliteLog::open(dir.path()).unwrap();
    let batch = EventMaker::new(example_stream("closed"), 1).prompts(2);
    log.append(&batch).await.unwrap();
    let mut tail = log.follow(StreamFilter::default(), Position(0)).await.unwrap();
    assert_eq!(tail.next().await.unwrap().unwrap().1, batch[0]);
    drop(log);
    assert_eq!(tail.next().await.unwrap().unwrap().1, batch[1]);
    let end = tail.next().await.unwrap();
    assert!(matches!(&end, Err(LogError::Unavailable { why, .. }) if why.contains("closed")), "{end:?}");
    assert!(tail.next().await.is_none());
}

#[tokio::test]
async fn the_watching_thread_ends_with_its_last_follower() {
    let dir = tempfile::tempdir().unwrap();
    let log = SqliteLog::open(dir.path()).unwrap();
    assert!(!log.tail.is_watching());
    let (one, two) = (
        log.follow(StreamFilter::default(), Position(0)).await.unwrap(),
        log.follow(StreamFilter::default(), Position(0)).await.unwrap(),
    );
    assert!(log.tail.is_watching());
    drop(one);
    assert!(log.tail.is_watching());
    drop(two);
    while log.tail.is_watching() {
        tokio::task::yield_now().await;
    }
    // And another begins with the next.
    let _three = log.follow(StreamFilter::default(), Position(0)).await.unwrap();
    assert!(log.tail.is_watching());
}

#[test]
fn network_file_systems_are_known_by_their_numbers() {
    assert_eq!(network_filesystem(0x6969), Some("NFS"));
    assert_eq!(network_filesystem(0xFF53_4D42), Some("SMB/CIFS"));
    // ext, tmpfs, btrfs, overlay.
    for local in [0xEF53, 0x0102_1994, 0x9123_683E, 0x794C_7630] {
        assert_eq!(network_filesystem(local), None);
    }
    failure::refuse_network_filesystem(&std::env::temp_dir()).unwrap();
}

#[test]
fn errors_say_what_a_person_can_do() {
    let file = Path::new("/x/log.db");
    let of_code = |code| sqlite_failed(file, &rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None));
    use rusqlite::ffi;
    assert!(matches!(of_code(ffi::SQLITE_FULL), LogError::Full { .. }));
    assert!(matches!(of_code(ffi::SQLITE_IOERR_WRITE), LogError::Full { .. }));
    assert!(matches!(of_code(ffi::SQLITE_IOERR_READ), LogError::Unavailable { .. }));
    assert!(matches!(of_code(ffi::SQLITE_CORRUPT), LogError::DamagedStore { .. }));
    assert!(matches!(of_code(ffi::SQLITE_NOTADB), LogError::DamagedStore { .. }));
    assert!(matches!(of_code(ffi::SQLITE_BUSY), LogError::Unavailable { .. }));
    for code in [ffi::SQLITE_BUSY, ffi::SQLITE_CANTOPEN, ffi::SQLITE_READONLY, ffi::SQLITE_CORRUPT] {
        assert!(of_code(code).to_string().contains("hint:"), "{}", of_code(code));
    }
    let denied = unusable_dir(file, &ErrorKind::PermissionDenied.into());
    assert!(matches!(denied, LogError::Unfit { .. }), "{denied}");
    let full = unusable_dir(file, &ErrorKind::StorageFull.into());
    assert!(matches!(full, LogError::Full { .. }), "{full}");
}

//! The embedded log on a disk that takes no more, and with another process that keeps it locked.

use retrace_events::log::{EventLog, LogError, SqliteLog};
use retrace_events::testing::{EventMaker, example_stream};
use retrace_events::verify::verify_stream;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::process::Command;

const DIR: &str = "RETRACE_TEST_FULL_DIR";

/// Fills the disk, as far as it is concerned: no file may grow over a limit. By itself it has no limit, and its small
/// log fits.
#[tokio::test]
async fn a_process_without_space() {
    let own = tempfile::tempdir().unwrap();
    let task = std::env::var_os(DIR);
    let dir = task.as_ref().map_or_else(|| own.path().to_owned(), Into::into);
    let (log, stream) = (SqliteLog::open(&dir).unwrap(), example_stream("full"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    if task.is_none() {
        log.append(&maker.prompts(100)).await.unwrap();
        assert_eq!(verify_stream(&log, &stream).await.unwrap().events, 100);
        return;
    }
    let unlimited = getrlimit(Resource::Fsize);
    setrlimit(Resource::Fsize, Rlimit { current: Some(600_000), maximum: unlimited.maximum }).unwrap();
    // Small events until there is no room for the next.
    let mut stored = 0;
    let refused = loop {
        let event = maker.opaque("future.body", 5_000);
        match log.append(std::slice::from_ref(&event)).await {
            Ok(()) => stored += 1,
            Err(e) => {
                assert!(matches!(e, LogError::Full { .. }), "{e}");
                break event;
            }
        }
        assert!(stored < 1_000, "the limit is not felt");
    };
    assert!(stored > 10);
    assert!(matches!(log.append(std::slice::from_ref(&refused)).await, Err(LogError::Full { .. })));
    // A body that goes into a file of its own, and a blob.
    let large =
        EventMaker::behind(stream.clone(), 2, (refused.seq - 1, refused.prev_hash)).opaque("future.body", 700_000);
    assert!(matches!(log.append(&[large]).await, Err(LogError::Full { .. })));
    assert!(matches!(log.blobs().put(&vec![7; 700_000]).await, Err(LogError::Full { .. })));
    // Nothing is half-written, and what was acked can be read while there is no space.
    assert_eq!(verify_stream(&log, &stream).await.unwrap().events, stored);
    // Space returns: the same handle goes on with the very event that was refused.
    setrlimit(Resource::Fsize, unlimited).unwrap();
    log.append(&[refused]).await.unwrap();
    log.append(&maker.prompts(1)).await.unwrap();
    log.blobs().put(&vec![7; 700_000]).await.unwrap();
    assert_eq!(verify_stream(&log, &stream).await.unwrap().events, stored + 2);
}

#[tokio::test]
async fn a_full_disk_refuses_and_forgives() {
    let dir = tempfile::tempdir().unwrap();
    // The signal for a file that would grow too large is ignored, so that the write fails as on a full disk.
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["sqlite_faults::a_process_without_space", "--exact", "--nocapture"])
        .env(DIR, dir.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (log, stream) = (SqliteLog::open(dir.path()).unwrap(), example_stream("full"));
    assert!(verify_stream(&log, &stream).await.unwrap().events > 12);
    let left_over = super::sqlite::walk(&dir.path().join("blobs/tmp"));
    assert!(left_over.is_empty(), "{left_over:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_do_not_wait_for_a_writer() {
    let backend = super::sqlite::Sqlite::new();
    let (log, stream) = (SqliteLog::open(backend.dir()).unwrap(), example_stream("locked"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    let events = maker.prompts(3);
    log.append(&events).await.unwrap();
    let other = backend.file();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let log = std::sync::Arc::new(log);
    let (writer, event) = (log.clone(), maker.prompts(1));
    let waiting = tokio::spawn(async move { writer.append(&event).await });
    // While the other process has the lock, everything can be read, also by a new handle.
    assert_eq!(log.read(&stream, 0, 10).await.unwrap(), events);
    assert_eq!(SqliteLog::open(backend.dir()).unwrap().head(&stream).await.unwrap().unwrap().seq, 2);
    assert!(!waiting.is_finished());
    other.execute_batch("COMMIT").unwrap();
    waiting.await.unwrap().unwrap();
    assert_eq!(log.read(&stream, 3, 10).await.unwrap().len(), 1);
}

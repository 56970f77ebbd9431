//! The embedded log: the suite, and what its files look like from outside.

use async_trait::async_trait;
use retrace_events::StreamId;
use retrace_events::log::{EventLog, LogError, SqliteLog};
use retrace_events::testing::{Backend, EventMaker, example_stream};
use rusqlite::Connection;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

pub(crate) struct Sqlite(pub(crate) TempDir);

impl Sqlite {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn dir(&self) -> &Path {
        self.0.path()
    }

    /// The file, opened as any other program would.
    pub(crate) fn file(&self) -> Connection {
        Connection::open(self.dir().join("log.db")).unwrap()
    }

    fn change(&self, sql: &str, stream: &StreamId, seq: u64) {
        let of_stream = "SELECT id FROM streams WHERE class = ?1 AND name = ?2";
        let sql = sql.replace("@EVENT", &format!("stream = ({of_stream}) AND seq = ?3"));
        let values = (stream.class.as_str(), stream.id.as_str(), i64::try_from(seq).unwrap());
        assert_eq!(self.file().execute(&sql, values).unwrap(), 1);
    }
}

#[async_trait]
impl Backend for Sqlite {
    async fn open(&self) -> Arc<dyn EventLog> {
        Arc::new(SqliteLog::open(self.dir()).unwrap())
    }

    async fn flip_byte(&self, stream: &StreamId, seq: u64) {
        // The last byte of the envelope is the payload's last.
        let sql = "UPDATE events SET envelope = CAST(substr(envelope, 1, length(envelope) - 1) || x'58' AS BLOB) WHERE @EVENT";
        self.change(sql, stream, seq);
    }

    async fn remove_event(&self, stream: &StreamId, seq: u64) {
        self.change("DELETE FROM events WHERE @EVENT", stream, seq);
    }
}

retrace_events::conformance_suite!(Sqlite::new());

#[tokio::test]
async fn a_tail_that_was_cut_off_is_found() {
    let backend = Sqlite::new();
    let (log, stream) = (backend.open().await, example_stream("cut"));
    let events = EventMaker::new(stream.clone(), 1).prompts(5);
    log.append(&events).await.unwrap();
    backend.remove_event(&stream, 4).await;
    let log = backend.open().await;
    for outcome in [log.read(&stream, 0, 100).await, log.read(&stream, 4, 1).await] {
        assert!(matches!(outcome, Err(LogError::Damaged { seq: 4, .. })), "{outcome:?}");
    }
    assert_eq!(log.read(&stream, 0, 4).await.unwrap(), events[..4]);
    assert!(retrace_events::verify::verify_stream(&*log, &stream).await.is_err());
}

#[tokio::test]
async fn a_payload_that_was_spilled_is_checked_too() {
    let backend = Sqlite::new();
    let (log, stream) = (backend.open().await, example_stream("spilled"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    let events = [maker.opaque("future.body", 400_000), maker.opaque("future.body", 500_000)];
    log.append(&events).await.unwrap();
    let mut files: Vec<_> = walk(&backend.dir().join("blobs"));
    files.sort_by_key(|file| file.metadata().unwrap().len());
    assert_eq!(files.len(), 2);
    let mut bytes = std::fs::read(&files[0]).unwrap();
    bytes[1_000] ^= 1;
    std::fs::write(&files[0], bytes).unwrap();
    std::fs::remove_file(&files[1]).unwrap();
    let first = log.read(&stream, 0, 1).await.unwrap_err();
    assert!(matches!(&first, LogError::Damaged { seq: 0, .. }), "{first}");
    let second = log.read(&stream, 1, 1).await.unwrap_err();
    assert!(matches!(&second, LogError::Damaged { seq: 1, .. }), "{second}");
    // Storing the same bytes again heals a blob.
    log.blobs().put(&events[0].payload).await.unwrap();
    assert_eq!(log.read(&stream, 0, 1).await.unwrap(), events[..1]);
}

#[tokio::test]
async fn only_the_owner_can_look_into_the_folder() {
    let backend = Sqlite::new();
    let dir = backend.dir().join("deep/er");
    let log = SqliteLog::open(&dir).unwrap();
    log.blobs().put(b"private").await.unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir), 0o700);
    assert_eq!(mode(&dir.join("blobs")), 0o700);
    for file in walk(&dir.join("blobs")) {
        assert_eq!(mode(&file), 0o600);
    }
    assert_eq!(log.location(), dir.display().to_string());
}

#[test]
fn what_is_not_our_log_is_refused_and_left_alone() {
    let backend = Sqlite::new();
    let refuse = |prepare: &dyn Fn(&Path)| {
        let dir = tempfile::tempdir_in(backend.dir()).unwrap();
        let file = dir.path().join("log.db");
        prepare(&file);
        let before = std::fs::read(&file).ok();
        let error = SqliteLog::open(dir.path()).unwrap_err();
        assert_eq!(std::fs::read(&file).ok(), before, "{error}");
        error
    };
    let foreign = refuse(&|file| {
        Connection::open(file).unwrap().execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    });
    assert!(matches!(&foreign, LogError::Unfit { why, .. } if why.contains("another program")), "{foreign}");
    let newer = refuse(&|file| {
        drop(SqliteLog::open(file.parent().unwrap()).unwrap());
        Connection::open(file).unwrap().pragma_update(None, "user_version", 2).unwrap();
    });
    assert!(matches!(&newer, LogError::Newer { what } if what.contains("layout 2")), "{newer}");
    let text =
        refuse(&|file| std::fs::write(file, "not a database at all, but long enough to be one".repeat(40)).unwrap());
    assert!(matches!(&text, LogError::DamagedStore { .. }), "{text}");
    let header = refuse(&|file| {
        drop(SqliteLog::open(file.parent().unwrap()).unwrap());
        let mut bytes = std::fs::read(file).unwrap();
        bytes[..64].fill(0xAA);
        std::fs::write(file, bytes).unwrap();
    });
    assert!(matches!(&header, LogError::DamagedStore { .. }), "{header}");
}

#[test]
fn a_folder_that_cannot_be_one_is_refused() {
    let backend = Sqlite::new();
    let file = backend.dir().join("a-file");
    std::fs::write(&file, "").unwrap();
    for dir in [file.clone(), file.join("below")] {
        let error = SqliteLog::open(&dir).unwrap_err();
        assert!(matches!(&error, LogError::Unfit { why, .. } if why.contains("hint:")), "{error}");
    }
}

#[tokio::test]
async fn a_page_that_was_overwritten_is_damage_not_a_wrong_answer() {
    let backend = Sqlite::new();
    let (log, stream) = (backend.open().await, example_stream("pages"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    for _ in 0..20 {
        log.append(&maker.prompts(50)).await.unwrap();
    }
    drop(log);
    backend.file().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let file = backend.dir().join("log.db");
    let sound = std::fs::read(&file).unwrap();
    let pages = sound.len() / 4_096;
    assert!(pages > 50);
    for page in (1..pages).step_by(5) {
        let mut bytes = sound.clone();
        bytes[page * 4_096..(page + 1) * 4_096].fill(0x5A);
        std::fs::write(&file, bytes).unwrap();
        // Whatever page it was, an answer is either right or an error.
        let outcome = match SqliteLog::open(backend.dir()) {
            Ok(log) => log.read(&stream, 0, 10_000).await,
            Err(e) => Err(e),
        };
        match outcome {
            Ok(events) => assert_eq!(events.len(), 1_000, "page {page}"),
            Err(LogError::DamagedStore { .. } | LogError::Damaged { .. }) => {}
            Err(other) => panic!("page {page}: {other}"),
        }
    }
}

/// All files below `dir`.
pub(crate) fn walk(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(walk(&path)) } else { files.push(path) }
    }
    files
}

//! The files behind the embedded log's claims: what is left of them, and what others may have put in their place.

use super::sqlite::{Sqlite, walk};
use retrace_events::StreamId;
use retrace_events::log::{Claim, ClaimError, EventLog, Holder, LogError, SqliteLog};
use retrace_events::testing::conformance::example_holder;
use retrace_events::testing::example_stream;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn path_of(backend: &Sqlite, stream: &StreamId) -> PathBuf {
    backend.dir().join("holders").join(format!("{stream}.json"))
}

fn held_by(outcome: Result<Claim, ClaimError>) -> Holder {
    match outcome {
        Err(ClaimError::Held(holder)) => holder,
        other => panic!("not held: {other:?}"),
    }
}

#[tokio::test]
async fn a_file_stands_there_only_while_a_stream_is_held() {
    let (backend, stream) = (Sqlite::new(), example_stream("tidy"));
    let log = SqliteLog::open(backend.dir()).unwrap();
    for _ in 0..3 {
        let claim = log.claim(&stream, &example_holder(1)).await.unwrap();
        let text = fs::read_to_string(path_of(&backend, &stream)).unwrap();
        let written: Holder = serde_json::from_str(&text).unwrap();
        assert_eq!(written, example_holder(1));
        let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(path_of(&backend, &stream)), mode(backend.dir().join("holders"))), (0o600, 0o700));
        held_by(log.claim(&stream, &example_holder(2)).await);
        drop(claim);
        assert_eq!(walk(&backend.dir().join("holders")), Vec::<PathBuf>::new());
    }
}

/// A killed process leaves its file; somebody else may have put anything there. It holds nothing.
#[tokio::test]
async fn what_is_left_behind_does_not_matter() {
    let (backend, stream) = (Sqlite::new(), example_stream("left"));
    let log = SqliteLog::open(backend.dir()).unwrap();
    fs::create_dir(backend.dir().join("holders")).unwrap();
    let long = serde_json::to_vec(&example_holder(7)).unwrap().repeat(10_000);
    let contents: [&[u8]; 6] = [b"", b"{", b"\0\xff\xfe nonsense", b"{\"pid\":-1}", b"[1,2,3]", &long];
    for content in contents {
        fs::write(path_of(&backend, &stream), content).unwrap();
        let claim = log.claim(&stream, &example_holder(1)).await.unwrap();
        assert_eq!(held_by(log.claim(&stream, &example_holder(2)).await), example_holder(1));
        drop(claim);
    }
}

/// A lock whose file says nothing that could be understood is one all the same, held by nobody knows whom.
#[tokio::test]
async fn a_locked_file_without_a_description_is_held() {
    let (backend, stream) = (Sqlite::new(), example_stream("mute"));
    let log = SqliteLog::open(backend.dir()).unwrap();
    fs::create_dir(backend.dir().join("holders")).unwrap();
    let long = serde_json::to_vec(&Holder { command: "x".repeat(1 << 20), ..example_holder(7) }).unwrap();
    let contents: [&[u8]; 4] = [b"", b"not json", b"{\"host\":5}", &long];
    for content in contents {
        fs::write(path_of(&backend, &stream), content).unwrap();
        let file = File::open(path_of(&backend, &stream)).unwrap();
        file.try_lock().unwrap();
        let started = Instant::now();
        assert!(held_by(log.claim(&stream, &example_holder(1)).await).is_unknown());
        assert!(started.elapsed() < Duration::from_secs(2));
        drop(file);
        drop(log.claim(&stream, &example_holder(1)).await.unwrap());
    }
}

/// Somebody removes the file of a stream that is held: the next may have the stream, and neither disturbs the other.
#[tokio::test]
async fn a_removed_file_frees_the_stream_and_nothing_else() {
    let (backend, stream) = (Sqlite::new(), example_stream("removed"));
    let log = SqliteLog::open(backend.dir()).unwrap();
    let first = log.claim(&stream, &example_holder(1)).await.unwrap();
    fs::remove_file(path_of(&backend, &stream)).unwrap();
    let second = log.claim(&stream, &example_holder(2)).await.unwrap();
    // The first one's end does not take the second one's name away.
    drop(first);
    assert_eq!(held_by(log.claim(&stream, &example_holder(3)).await), example_holder(2));
    drop(second);
    drop(log.claim(&stream, &example_holder(3)).await.unwrap());
    // The whole folder may go, too.
    let fourth = log.claim(&stream, &example_holder(4)).await.unwrap();
    fs::remove_dir_all(backend.dir().join("holders")).unwrap();
    drop(fourth);
    drop(log.claim(&stream, &example_holder(5)).await.unwrap());
}

/// What is no plain file is neither followed, nor written, nor waited for.
#[tokio::test]
async fn what_is_no_plain_file_is_refused() {
    let (backend, stream) = (Sqlite::new(), example_stream("odd"));
    let log = SqliteLog::open(backend.dir()).unwrap();
    let path = path_of(&backend, &stream);
    fs::create_dir(path.parent().unwrap()).unwrap();
    let victim = backend.dir().join("victim");
    fs::write(&victim, "precious").unwrap();
    let refuse = async || {
        let error = log.claim(&stream, &example_holder(1)).await.unwrap_err();
        assert!(matches!(&error, ClaimError::Log(LogError::Unfit { why, .. }) if why.contains("hint:")), "{error}");
    };
    symlink(&victim, &path).unwrap();
    refuse().await;
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    refuse().await;
    fs::remove_dir(&path).unwrap();
    mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    refuse().await;
    fs::remove_file(&path).unwrap();
    drop(log.claim(&stream, &example_holder(1)).await.unwrap());
}

/// A child process that was started while a stream was held does not hold it on.
#[tokio::test]
async fn child_processes_inherit_nothing() {
    let (backend, stream) = (Sqlite::new(), example_stream("child"));
    let log = SqliteLog::open(backend.dir()).unwrap();
    let claim = log.claim(&stream, &example_holder(1)).await.unwrap();
    let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    drop(claim);
    let claim = log.claim(&stream, &example_holder(2)).await.unwrap();
    drop(claim);
    assert!(child.try_wait().unwrap().is_none(), "it was there all the time");
    drop(child.stdin.take());
    child.wait().unwrap();
}

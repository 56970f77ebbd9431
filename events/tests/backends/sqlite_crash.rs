//! Several processes on one embedded log, and processes that are killed while they append.
//!
//! A test that needs another process starts this test program again, for the one test [`an_appending_process`], with
//! its task in the environment.

use rand::{RngExt, SeedableRng, rngs::StdRng};
use retrace_events::StreamId;
use retrace_events::log::{EventLog, SqliteLog};
use retrace_events::testing::{EventMaker, example_stream};
use retrace_events::verify::verify_stream;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const DIR: &str = "RETRACE_TEST_DIR";
const STREAM: &str = "RETRACE_TEST_STREAM";
const COUNT: &str = "RETRACE_TEST_COUNT";

/// Appends to a stream, an event or a batch at a time, and says `acked <seq>` after each. By itself: a few events to
/// a log of its own. As another test's process: as many as that asks for, where it asks for.
#[tokio::test]
async fn an_appending_process() {
    let own = tempfile::tempdir().unwrap();
    let var = |name: &str| std::env::var(name).ok();
    let dir = var(DIR).map_or_else(|| own.path().to_owned(), Into::into);
    let stream = example_stream(&var(STREAM).unwrap_or_else(|| "own".to_owned()));
    let count: u64 = var(COUNT).map_or(20, |count| count.parse().unwrap());
    let log = SqliteLog::open(&dir).unwrap();
    let head = log.head(&stream).await.unwrap();
    let first = head.map_or(0, |head| head.seq + 1);
    let mut maker = match head {
        None => EventMaker::new(stream.clone(), u64::from(std::process::id())),
        Some(head) => {
            EventMaker::behind(stream.clone(), u64::from(std::process::id()) + head.seq, (head.seq, head.hash))
        }
    };
    let mut next = first;
    while next < first + count {
        let size = [1, 1, 3, 10][usize::try_from(next % 4).unwrap()];
        let batch: Vec<_> =
            (0..size).map(|n| maker.opaque("future.body", if n == 9 { 300_000 } else { 700 })).collect();
        log.append(&batch).await.unwrap();
        next += batch.len() as u64;
        let mut out = std::io::stdout().lock();
        writeln!(out, "acked {}", next - 1).unwrap();
        out.flush().unwrap();
    }
    let verified = verify_stream(&log, &stream).await.unwrap();
    assert_eq!(verified.events, next);
}

/// Another process that appends, and what it says.
struct Appender {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Appender {
    fn start(dir: &Path, stream: &StreamId, count: u64) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["sqlite_crash::an_appending_process", "--exact", "--nocapture", "--test-threads=1"])
            .env(DIR, dir)
            .env(STREAM, stream.id.as_str())
            .env(COUNT, count.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next event it says is stored; `None` when it says no more.
    fn acked(&mut self) -> Option<u64> {
        loop {
            let line = self.lines.next()?.unwrap();
            // The test harness writes the test's name before the first line of its output.
            if let Some((_, seq)) = line.split_once("acked ") {
                return seq.trim().parse().ok();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_processes_lose_nothing_that_was_acked() {
    const ROUNDS: u64 = 25;
    let (dir, stream) = (tempfile::tempdir().unwrap(), example_stream("killed"));
    let log = SqliteLog::open(dir.path()).unwrap();
    let mut random = StdRng::seed_from_u64(20_261_121);
    let mut last_acked = None;
    for round in 0..ROUNDS {
        let mut appender = Appender::start(dir.path(), &stream, 1_000_000);
        let acks = random.random_range(1..40);
        for _ in 0..acks {
            last_acked = Some(appender.acked().expect("it appends until it is killed"));
        }
        // Then at any moment of one of the next appends.
        let until = Instant::now() + Duration::from_micros(random.random_range(0..4_000));
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        appender.child.kill().unwrap();
        while let Some(seq) = appender.acked() {
            last_acked = Some(seq);
        }
        appender.child.wait().unwrap();
        // This handle was open all the time, and a new one finds the same.
        for log in [&log, &SqliteLog::open(dir.path()).unwrap()] {
            let verified = verify_stream(log, &stream).await.unwrap();
            assert!(
                verified.events > last_acked.unwrap(),
                "round {round}: {} events, acked {last_acked:?}",
                verified.events
            );
        }
    }
    let integrity = rusqlite::Connection::open(dir.path().join("log.db")).unwrap();
    let integrity: String = integrity.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(integrity, "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_write_side_by_side() {
    let (dir, here, there) = (tempfile::tempdir().unwrap(), example_stream("here"), example_stream("there"));
    let log = SqliteLog::open(dir.path()).unwrap();
    let mut other = Appender::start(dir.path(), &there, 200);
    let mut maker = EventMaker::new(here.clone(), 1);
    let mut mine = 0;
    // Both write until the other is done, each ack of it a sign that it was not kept out.
    while other.acked().is_some() {
        log.append(&maker.prompts(1)).await.unwrap();
        mine += 1;
    }
    assert!(other.child.wait().unwrap().success());
    assert!(mine > 20, "{mine}");
    assert_eq!(verify_stream(&log, &here).await.unwrap().events, mine);
    let theirs = verify_stream(&log, &there).await.unwrap().events;
    assert!(theirs >= 200);
    let all = log.read_all(Default::default(), 10_000).await.unwrap();
    assert_eq!(all.len() as u64, mine + theirs);
    assert!(all.windows(2).all(|pair| pair[0].0 < pair[1].0));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_on_one_stream_are_fenced_not_mixed() {
    let (dir, stream) = (tempfile::tempdir().unwrap(), example_stream("contested"));
    let mut one = Appender::start(dir.path(), &stream, 100_000);
    let first = one.acked().unwrap();
    // It appends as well, from where the stream stands now; from then on the first one is fenced and fails.
    let log = SqliteLog::open(dir.path()).unwrap();
    loop {
        let head = log.head(&stream).await.unwrap().unwrap();
        let mut maker = EventMaker::behind(stream.clone(), head.seq, (head.seq, head.hash));
        if log.append(&maker.prompts(1)).await.is_ok() {
            break;
        }
    }
    while one.acked().is_some() {}
    assert!(!one.child.wait().unwrap().success());
    assert!(verify_stream(&log, &stream).await.unwrap().events > first + 1);
}

//! Processes that hold a stream and are killed.
//!
//! A test that needs another process starts this test program again, for the one test [`a_holding_process`], with its task
//! in the environment.

use retrace_events::log::{Claim, ClaimError, EventLog, Holder, LogLocation, open_log};
use retrace_events::mint::{Mint, SystemMint};
use retrace_events::testing::{NatsServer, example_stream};
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const LOCATION: &str = "RETRACE_TEST_LOCATION";
const STREAM: &str = "RETRACE_TEST_STREAM";

/// Nobody waits this long for a stream that is free.
const SOON: Duration = Duration::from_secs(3);

/// Claims a stream, says so, and holds it until its input ends. As another test's process: where that asks for, until it
/// is killed. By itself: a stream of its own, for as long as nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_holding_process() {
    let own = tempfile::tempdir().unwrap();
    let task = std::env::var(LOCATION).ok();
    let location = task.clone().unwrap_or_else(|| own.path().display().to_string());
    let stream = example_stream(&std::env::var(STREAM).unwrap_or_else(|_| "own".to_owned()));
    let log = open(&location).await;
    let claim = log.claim(&stream, &Holder::this_process("a test", SystemMint.now())).await;
    let mut out = std::io::stdout();
    match &claim {
        Ok(_) => writeln!(out, "holding {}", std::process::id()).unwrap(),
        Err(e) => writeln!(out, "not holding: {e}").unwrap(),
    }
    out.flush().unwrap();
    if task.is_some() {
        tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await.unwrap().unwrap();
    }
    assert!(claim.is_ok());
}

async fn open(location: &str) -> Arc<dyn EventLog> {
    open_log(&location.parse::<LogLocation>().unwrap()).await.unwrap()
}

/// Another process, which holds a stream.
struct Holding {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Holding {
    fn start(location: &str, stream: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["claims::a_holding_process", "--exact", "--nocapture", "--test-threads=1"])
            .env(LOCATION, location)
            .env(STREAM, stream)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Waits until it says whether it holds the stream.
    fn holds(&mut self) -> bool {
        loop {
            let line = self.lines.next().expect("it says something").unwrap();
            // The test harness writes the test's name before the first line of its output.
            if line.contains("not holding") {
                return false;
            }
            if let Some((_, pid)) = line.split_once("holding ") {
                assert_eq!(pid.trim().parse::<u32>().unwrap(), self.child.id());
                return true;
            }
        }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn holder() -> Holder {
    Holder::this_process("the test itself", SystemMint.now())
}

fn held_by(outcome: Result<Claim, ClaimError>) -> Holder {
    match outcome {
        Err(ClaimError::Held(holder)) => holder,
        other => panic!("not held: {other:?}"),
    }
}

/// A process that is killed holds nothing from then on; until then everybody is told its name.
async fn a_killed_process_holds_nothing(location: &str) {
    let (log, stream, other) = (open(location).await, example_stream("killed"), example_stream("alive"));
    let mut alive = Holding::start(location, "alive");
    assert!(alive.holds());
    for round in 0..5 {
        let mut holding = Holding::start(location, "killed");
        assert!(holding.holds(), "round {round}");
        let told = held_by(log.claim(&stream, &holder()).await);
        assert_eq!((told.pid, told.command.as_str()), (holding.child.id(), "a test"));
        assert_eq!(told.host, holder().host);
        assert!(told.since <= SystemMint.now() && told.since.since_ms(SystemMint.now()) < 600_000);
        // A second process gets as little.
        assert!(!Holding::start(location, "killed").holds());
        holding.kill();
        let started = Instant::now();
        let claim = log.claim(&stream, &holder()).await.unwrap();
        assert!(started.elapsed() < SOON, "round {round}: {:?}", started.elapsed());
        // Now the other way round.
        assert!(!Holding::start(location, "killed").holds());
        drop(claim);
        assert_eq!(held_by(log.claim(&other, &holder()).await).pid, alive.child.id());
    }
    // One that ends by itself.
    let mut ending = Holding::start(location, "killed");
    assert!(ending.holds());
    drop(ending.child.stdin.take());
    assert!(ending.child.wait().unwrap().success());
    let _claim = log.claim(&stream, &holder()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_process_holds_nothing_embedded() {
    let dir = tempfile::tempdir().unwrap();
    a_killed_process_holds_nothing(&dir.path().join("log").display().to_string()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_process_holds_nothing_on_a_server() {
    let server = NatsServer::start();
    a_killed_process_holds_nothing(&server.url()).await;
}

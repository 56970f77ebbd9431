//! What must hold of any session, however it went, and processes that run beside the test.

use crate::world::{Ran, World, payloads};
use serde_json::Value;
use std::collections::HashSet;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Child;

/// How long a condition may take to come true.
const PATIENCE: Duration = Duration::from_secs(60);

/// The chain is whole, every request renders to the bytes that were sent, the server refused nothing it was sent, and the
/// costs are the sums of the answers' and the failures'.
#[track_caller]
pub(crate) fn sound(world: &World) -> Vec<Value> {
    let events = world.events();
    let session = world.session();
    world.run(&["replay", "--verify", &session]).expect(0);
    world.run(&["log", "verify"]).expect(0);
    let logged: HashSet<&str> = payloads(&events, "turn.requested").iter().map(|p| text(&p["body_hash"])).collect();
    for received in world.server.requests() {
        assert_eq!(received.refusal, None, "the server refused a request");
        assert!(logged.contains(received.body_hash.to_string().as_str()), "a body that is not in the log");
    }
    one_result_a_call(&events);
    let listed = world.run(&["sessions", "--json"]).expect(0);
    let listed: Value = serde_json::from_str(listed.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(listed["cost_microusd"], sum(&payloads(&events, "turn.answered"), "cost_microusd"));
    events
}

/// Every call that was begun has exactly one result, and no call was begun twice.
#[track_caller]
pub(crate) fn one_result_a_call(events: &[Value]) {
    let ids = |kind: &str| payloads(events, kind).iter().map(|p| text(&p["call"]).to_owned()).collect::<Vec<_>>();
    let mut results = [ids("tool.finished"), ids("tool.denied"), ids("tool.outcome_unknown")].concat();
    results.sort();
    let mut unique = results.clone();
    unique.dedup();
    assert_eq!(results, unique, "a call has two results");
    let called = ids("tool.called");
    let known: HashSet<&String> = called.iter().collect();
    assert_eq!(known.len(), called.len(), "a call was begun twice");
    assert!(called.iter().all(|call| results.contains(call)), "a call has no result: {called:?} {results:?}");
}

/// The sum of a figure over `payloads`.
pub(crate) fn sum(payloads: &[&Value], field: &str) -> u64 {
    payloads.iter().map(|payload| payload[field].as_u64().unwrap()).sum()
}

/// How the last turn ended.
#[track_caller]
pub(crate) fn outcome(events: &[Value]) -> &str {
    text(&payloads(events, "turn.ended").last().expect("the turn has not ended")["outcome"])
}

/// A JSON text.
#[track_caller]
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}"))
}

/// The objects on stdout, one a line, and nothing else.
#[track_caller]
pub(crate) fn objects(ran: &Ran) -> Vec<Value> {
    let parse = |line: &str| -> Value {
        let value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line:?}"));
        assert!(Value::is_object(&value), "not an object: {line}");
        value
    };
    ran.stdout.lines().map(parse).collect()
}

/// A run of the command that goes on beside the test.
pub(crate) struct Running {
    child: Child,
    pub(crate) pid: u32,
}

impl Running {
    /// Starts a command that [`World::command`] made.
    pub(crate) fn start(world: &World, mut command: tokio::process::Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let _entered = world.runtime.enter();
        let child = command.spawn().unwrap();
        let pid = child.id().unwrap();
        Self { child, pid }
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: i32) {
        kill(self.pid, signal);
    }

    /// Writes to its stdin, which must be a pipe and stays open.
    pub(crate) fn write(&mut self, world: &World, text: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        world.runtime.block_on(async {
            stdin.write_all(text.as_bytes()).await.unwrap();
            stdin.flush().await.unwrap();
        });
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// The lines of stdout up to one that contains `sign`.
    #[track_caller]
    pub(crate) fn lines_until(&mut self, world: &World, sign: &str) -> Vec<String> {
        let mut lines = BufReader::new(self.child.stdout.take().unwrap()).lines();
        let mut found = Vec::new();
        let read = async {
            while let Some(line) = lines.next_line().await.unwrap() {
                found.push(line);
                if found.last().unwrap().contains(sign) {
                    return true;
                }
            }
            false
        };
        let seen = world.runtime.block_on(async { tokio::time::timeout(PATIENCE, read).await });
        assert_eq!(seen.ok(), Some(true), "`{sign}` did not come: {found:?}");
        found
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn end(self, world: &World) -> Ran {
        let output =
            world.runtime.block_on(async { tokio::time::timeout(PATIENCE, self.child.wait_with_output()).await });
        let output = output.expect("the command takes too long").unwrap();
        Ran {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
            signal: output.status.signal(),
        }
    }
}

/// Sends a signal to a process.
pub(crate) fn kill(pid: u32, signal: i32) {
    // SAFETY: a plain system call; a process that is gone already makes it fail, which is fine here.
    let _ = unsafe { libc::kill(i32::try_from(pid).unwrap(), signal) };
}

/// Waits until `true` comes of `condition`.
#[track_caller]
pub(crate) fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < until, "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The only file called `name` somewhere in `folder`.
#[track_caller]
pub(crate) fn find(folder: &Path, name: &str) -> PathBuf {
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.file_name() == name {
                return entry.path();
            }
            if entry.path().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    panic!("there is no {name}");
}

/// A step of [`waiting`].
pub(crate) fn waits(mark: &str) -> String {
    crate::scripts::runs(&waiting(mark))
}

/// A command that says that it began (the file `<mark>.begun`), waits for `<mark>.go`, at most a minute, and says that it is over
/// (`<mark>.over`).
pub(crate) fn waiting(mark: &str) -> String {
    let wait = format!("for i in $(seq 1200); do [ -e {mark}.go ] && break; sleep 0.05; done");
    format!("touch {mark}.begun; {wait}; echo {mark} is over; touch {mark}.over")
}

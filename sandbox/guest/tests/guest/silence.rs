//! A host that says nothing any more, while its end of the pipe stays open.

use std::io::Read as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use retrace_guest::frame::{read_frame, write_frame};
use retrace_guest::message::{Envelope, HEARTBEAT_ID, Request, Response};

use crate::client::{eventually, lives, shell, text};

struct Guest {
    dir: tempfile::TempDir,
    child: Child,
    stdin: ChildStdin,
    stdout: std::process::ChildStdout,
}

fn guest(silence_ms: u64) -> Guest {
    let dir = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_retrace-guest"))
        .args(["serve", "--root"])
        .arg(dir.path())
        .args(["--silence-ms", &silence_ms.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    read_frame(&mut stdout).unwrap().unwrap();
    Guest { dir, child, stdin, stdout }
}

fn send(guest: &mut Guest, id: u64, message: Request) {
    write_frame(&mut guest.stdin, &Envelope { id, message }, &[]).unwrap();
}

/// Starts what must not go on unattended, and waits until it runs.
fn start_worker(guest: &mut Guest) -> i32 {
    let script = "setsid sleep 1000 & echo $! > new; mv new pid; exec sleep 1000";
    send(guest, 1, Request::Exec(shell(script)));
    let pid = guest.dir.path().join("pid");
    eventually("the worker runs", || pid.exists());
    std::fs::read_to_string(pid).unwrap().trim().parse().unwrap()
}

#[test]
fn it_ends_with_everything_and_says_why() {
    let mut guest = guest(1_000);
    let worker = start_worker(&mut guest);
    let status = guest.child.wait().unwrap();
    assert_eq!(status.code(), Some(1));
    eventually("the worker is dead", || !lives(worker));
    let mut said = String::new();
    guest.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("nothing heard from the host for 1000 ms"), "{said}");
}

#[test]
fn pings_keep_it_and_are_answered() {
    let mut guest = guest(3_000);
    let worker = start_worker(&mut guest);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(5) {
        send(&mut guest, HEARTBEAT_ID, Request::Ping);
        let frame = read_frame(&mut guest.stdout).unwrap().unwrap();
        let answer = frame.message::<Envelope<Response>>().unwrap();
        assert_eq!(answer, Envelope { id: HEARTBEAT_ID, message: Response::Pong });
    }
    assert!(lives(worker));
    drop(guest.stdin);
    assert!(guest.child.wait().unwrap().success());
}

#[test]
fn a_guest_that_was_stopped_itself_does_not_count_that_time() {
    let mut guest = guest(4_000);
    let pid = rustix::process::Pid::from_child(&guest.child);
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    // Longer than it may hear nothing, by the clock.
    let stopped = Instant::now();
    eventually("the time has passed", || stopped.elapsed() > Duration::from_millis(5_000));
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    send(&mut guest, 7, Request::Exec(shell("echo heard")));
    let mut output = Vec::new();
    loop {
        let frame = read_frame(&mut guest.stdout).unwrap().expect("it has ended");
        match frame.message::<Envelope<Response>>().unwrap().message {
            Response::Stdout => output.extend(frame.body),
            Response::Exited(end) => break assert_eq!(end.code, Some(0)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(text(&output), "heard\n");
    drop(guest.stdin);
    assert!(guest.child.wait().unwrap().success());
}

//! Handshake, several requests at once, and a host that misbehaves.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use retrace_guest::PROTOCOL_VERSION;
use retrace_guest::message::{FailureKind, MAX_CONCURRENT_REQUESTS, Request, Response};

use crate::client::{Client, eventually, kind, lives, shell, text};

#[test]
fn the_guest_introduces_itself_first() {
    let client = Client::new();
    assert_eq!(client.hello.protocol, PROTOCOL_VERSION);
    assert_eq!(client.hello.pid, client.child.id());
    assert_eq!(client.hello.kernel, std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap().trim());
}

#[test]
fn it_answers_while_a_command_runs() {
    let mut client = Client::new();
    client.shell("mkfifo fifo");
    let slow = client.start(&Request::Exec(shell("read line < fifo")));
    assert_eq!(client.call(&Request::Ping), [(Response::Pong, Vec::new())]);
    assert_eq!(text(&client.shell("echo quick").stdout), "quick\n");
    client.send(slow, &Request::Kill, &[]);
    assert!(client.ran(slow).unwrap().end.killed);
}

#[test]
fn parallel_commands_do_not_mix() {
    let mut client = Client::new();
    let ids: Vec<u64> = (0..16)
        .map(|n| client.start(&Request::Exec(shell(&format!("for i in $(seq 200); do echo {n}; done; exit {n}")))))
        .collect();
    for (n, id) in ids.into_iter().enumerate() {
        let ran = client.ran(id).unwrap();
        assert_eq!(text(&ran.stdout), format!("{n}\n").repeat(200));
        assert_eq!(ran.end.code, Some(n as i32));
    }
}

#[test]
fn too_many_at_once_are_refused_and_the_rest_goes_on() {
    let mut client = Client::new();
    let ids: Vec<u64> =
        (0..MAX_CONCURRENT_REQUESTS).map(|_| client.start(&Request::Exec(shell("sleep 1000")))).collect();
    assert_eq!(kind(client.run(shell("true"))), FailureKind::Busy);
    for id in &ids {
        client.send(*id, &Request::Kill, &[]);
    }
    for id in ids {
        assert!(client.ran(id).unwrap().end.killed);
    }
    assert_eq!(client.shell("true").end.code, Some(0));
}

#[test]
fn an_id_in_use_is_refused() {
    let mut client = Client::new();
    let id = client.start(&Request::Exec(shell("sleep 1000")));
    client.send(id, &Request::Exec(shell("true")), &[]);
    let (Response::Failed(failure), _) = client.next(id) else { panic!("accepted") };
    assert_eq!(failure.kind, FailureKind::BadRequest);
    client.send(id, &Request::Kill, &[]);
    assert!(client.ran(id).unwrap().end.killed);
}

#[test]
fn messages_for_requests_that_are_none_are_ignored() {
    let mut client = Client::new();
    client.send(999, &Request::Kill, &[]);
    client.send(999, &Request::Data { last: true }, b"lost");
    client.send(999, &Request::Credit { bytes: u64::MAX }, &[]);
    assert_eq!(client.call(&Request::Ping), [(Response::Pong, Vec::new())]);
}

#[test]
fn shutdown_kills_everything_and_says_bye() {
    let mut client = Client::new();
    let id = client.start(&Request::Exec(shell("setsid sleep 1000 & echo $!; exec sleep 1000")));
    let (Response::Stdout, pid) = client.next(id) else { panic!("no output") };
    let pid: i32 = text(&pid).trim().parse().unwrap();
    let bye = client.start(&Request::Shutdown);
    assert!(client.ran(id).unwrap().end.killed);
    assert_eq!(client.next(bye).0, Response::Bye);
    assert!(client.child.wait().unwrap().success());
    eventually("the command's child is dead", || !lives(pid));
}

#[test]
fn it_exits_and_kills_everything_when_the_host_goes_away() {
    let mut client = Client::new();
    let id = client.start(&Request::Exec(shell("setsid sleep 1000 & echo $!; exec sleep 1000")));
    let (_, pid) = client.next(id);
    let pid: i32 = text(&pid).trim().parse().unwrap();
    drop(client.stdin.take());
    assert!(client.child.wait().unwrap().success());
    eventually("the command's child is dead", || !lives(pid));
}

/// Sends raw bytes to a fresh guest; returns its exit code and what it said.
fn send_raw(bytes: &[u8]) -> (Option<i32>, String) {
    let dir = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_retrace-guest"))
        .args(["serve", "--root"])
        .arg(dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may stop reading in the middle.
    let _ = child.stdin.take().unwrap().write_all(bytes);
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    (child.wait().unwrap().code(), stderr)
}

#[test]
fn a_broken_frame_ends_it_with_an_error_not_a_panic() {
    let cases: [(&[u8], &str); 5] = [
        (b"\xff\xff\xff\xff\xff\xff\xff\xff", "over the limit"),
        (b"\0\0\0\x02\0\x10\0\x01{}", "over the limit"),
        (b"\0\0\0\x05\0\0\0\0{}", "ended inside a frame"),
        (b"\0\0\0\x02\0\0\0\0{}", "not a valid message"),
        (b"\0\0\0\x04\0\0\0\0\xff\xfe\0\0", "not a valid message"),
    ];
    for (bytes, expected) in cases {
        let (code, stderr) = send_raw(bytes);
        assert_eq!(code, Some(1), "{stderr}");
        assert!(stderr.contains(expected) && !stderr.contains("panicked"), "{stderr}");
    }
}

#[test]
fn a_missing_workspace_is_named() {
    let output = Command::new(env!("CARGO_BIN_EXE_retrace-guest"))
        .args(["serve", "--root", "/nonexistent/folder"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("/nonexistent/folder"), "{}", text(&output.stderr));
}

#[test]
fn it_explains_its_use() {
    let output = Command::new(env!("CARGO_BIN_EXE_retrace-guest")).output().unwrap();
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("usage:"));
}

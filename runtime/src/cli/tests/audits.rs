//! `retrace audit`: the record as text and as JSON, of a session made by hand.

use super::Machine;
use super::made::{SECRET, called, code, finished, put, sandboxed, secretive, started};
use expect_test::expect;
use retrace_events::payload::sandbox::{SandboxConnection, SandboxLimitHit, SandboxStopped};
use retrace_events::payload::tool::{ToolApprovalScope, ToolApproved, ToolDenied, ToolRefused};
use retrace_events::{CallId, Payload};
use serde_json::{Value, json};

fn id(call: &str) -> CallId {
    CallId(call.to_owned())
}

fn connection(host: &str, allowed: bool) -> Payload {
    SandboxConnection {
        call: Some(id("2")),
        host: host.to_owned(),
        port: 443,
        how: "connect".to_owned(),
        allowed,
        why: if allowed { String::new() } else { "not on the list".to_owned() },
        sent_bytes: 500,
        received_bytes: 20_000,
        credential: allowed.then(|| "registry".to_owned()),
        duration_ms: 1_200,
    }
    .into()
}

fn story() -> Vec<Payload> {
    vec![
        started("a title"),
        sandboxed(),
        called("1", "read_file", &json!({ "path": "src/\u{1b}[31mlib.rs" })),
        finished("1", None, &[]),
        ToolApproved { call: id("2"), by: "user".to_owned(), scope: ToolApprovalScope::Once }.into(),
        called("2", "bash", &json!({ "command": "curl https://a.example https://b.example" })),
        connection("a.example", true),
        connection("b.example", false),
        finished("2", code(7), &[]),
        SandboxLimitHit { call: Some(id("2")), limit: "pids".to_owned(), detail: "512 at once".to_owned() }.into(),
        called("3", "write_file", &json!({ "path": "../x", "content": "" })),
        finished("3", None, &[]),
        ToolRefused {
            call: id("3"),
            what: "outside_workspace".to_owned(),
            detail: "../x leads out of the workspace".to_owned(),
        }
        .into(),
        ToolDenied {
            call: id("4"),
            by: "permissions.toml:3 `bash(rm *)`".to_owned(),
            content: "denied: no".to_owned(),
        }
        .into(),
        SandboxStopped { why: "out of memory".to_owned(), unexpected: true }.into(),
    ]
}

/// Without the times of day.
fn timeless(out: &str) -> String {
    let line = |line: &str| match line.split_once("Z  ") {
        Some((at, rest)) if at.len() == 16 => format!("{rest}\n"),
        _ => format!("{line}\n"),
    };
    out.lines().map(line).collect()
}

#[tokio::test]
async fn the_record_says_of_each_call_what_it_did_and_what_it_was_not_let_do() {
    let machine = Machine::alone();
    put(&machine, "aaaa-bbbb", &story()).await;
    let out = machine.out(&["audit", "aaaa"]).await;
    assert!(!out.contains('\u{1b}'), "{out:?}");
    expect![[r#"
            #1  sandbox process, level process: 0 of 0 proofs held
            #2  read_file  src/␛[31mlib.rs
            ok · 5ms
            read: src/␛[31mlib.rs
            what changed is not known: no snapshots were taken
            #4  bash  curl https://a.example https://b.example
            exit 7 · 5ms · allowed by user
            network: a.example:443 (connect) · 500 B out, 20 KB in · 1.2s · with the credential registry
            network refused: b.example:443 (connect) · 500 B out, 20 KB in · 1.2s · not on the list
            limit hit: pids: 512 at once
            what changed is not known: no snapshots were taken
           #10  write_file  ../x (0 lines)
            ok · 5ms
            refused: outside workspace: ../x leads out of the workspace
            what changed is not known: no snapshots were taken
           #13  ?  
            denied by permissions.toml:3 `bash(rm *)`: denied: no
           #14  sandbox ended unexpectedly: out of memory

        4 calls · 1 command (1 failed) · 1 file read · 3 calls that may have changed more · 1 connection (500 B out, 20 KB in) · 1 connection refused · 1 call denied · 1 refusal · 1 limit hit
    "#]].assert_eq(&timeless(&out));
}

#[tokio::test]
async fn rows_are_chosen_by_kind_and_by_call() {
    let machine = Machine::alone();
    put(&machine, "aaaa-bbbb", &story()).await;
    let calls = async |flags: &[&str]| -> Vec<String> {
        let out = machine.out(&[&["audit", "aaaa", "--json"], flags].concat()).await;
        let rows: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(rows.last().unwrap()["totals"]["calls"].is_number(), "{out}");
        rows[..rows.len() - 1]
            .iter()
            .map(|row| row["call"].as_str().unwrap_or(row["kind"].as_str().unwrap()).to_owned())
            .collect()
    };
    assert_eq!(calls(&[]).await, ["sandbox_started", "1", "2", "3", "4", "sandbox_stopped"]);
    assert_eq!(calls(&["--refused"]).await, ["2", "3", "4"]);
    assert_eq!(calls(&["--network"]).await, ["2"]);
    assert_eq!(calls(&["--commands"]).await, ["2"]);
    assert_eq!(calls(&["--files"]).await, ["1", "2", "3"], "of a call nobody knows what it changed it is said");
    assert_eq!(calls(&["--network", "--files"]).await, ["1", "2", "3"]);
    assert_eq!(calls(&["--call", "3"]).await, ["3"]);
    assert_eq!(calls(&["--call", "#10"]).await, ["3"], "by the number of its event");
    assert_eq!(calls(&["--call", "3", "--network"]).await, [] as [&str; 0]);
    let nothing = machine.out(&["audit", "aaaa", "--call", "nobody"]).await;
    assert_eq!(nothing, "nothing of that kind is on record\n");
}

#[tokio::test]
async fn the_record_has_no_secrets() {
    let machine = secretive();
    let words = format!("echo {SECRET}");
    let story = [
        started("t"),
        called("1", "bash", &json!({ "command": words })),
        finished("1", code(0), &[]),
        ToolDenied { call: id("2"), by: "user".to_owned(), content: words.clone() }.into(),
    ];
    put(&machine, "aaaa-bbbb", &story).await;
    for args in [&["audit", "aaaa"][..], &["audit", "aaaa", "--json"]] {
        let out = machine.out(args).await;
        assert!(!out.contains(SECRET) && out.contains("[redacted:known]"), "{out}");
    }
}

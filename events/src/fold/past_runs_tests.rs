//! Which results may stand for a command's being run again: only those on the same files, under the same sandbox and limits, that
//! ended by themselves, and behind which nothing may have changed what no snapshot holds.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::RunKey;
use super::tests::{Chain, called, finished, prompt, request, settings, started};
use crate::EventId;
use crate::id::CallId;
use crate::payload::sandbox::{SandboxLimitHit, SandboxNetworkAttempted, SandboxStarted};
use crate::payload::session::SessionConfigured;
use crate::payload::tool::{
    ToolBackgroundStarted, ToolCalled, ToolEffect, ToolExit, ToolFinished, ToolOutcomeUnknown, ToolResultReused,
};
use crate::payload::workspace::{WorkspaceSnapshotFailed, WorkspaceSnapshotted};

const TEST: &str = r#"{"command":"cargo test"}"#;
const LOOK: &str = r#"{"command":"ls"}"#;

fn sandbox(limit: &str) -> SandboxStarted {
    SandboxStarted {
        backend: "process".into(),
        level: "namespaces".into(),
        proofs: Vec::new(),
        limits: vec![("memory".into(), limit.into())],
    }
}

fn tree(name: &str, after: Option<&str>) -> WorkspaceSnapshotted {
    WorkspaceSnapshotted {
        tree: name.into(),
        previous: None,
        git_state: None,
        after: after.map(|call| CallId(call.into())),
        changed_files: 1,
        new_bytes: 1,
    }
}

/// A session on the files `t1`.
fn session() -> Chain {
    let mut chain = Chain::new();
    chain.push(started());
    chain.push(sandbox("4 GiB"));
    chain.push(prompt("do it"));
    chain.push(tree("t1", None));
    chain
}

fn begin(chain: &mut Chain, call: &str, tool: &str, input: &str) {
    let asked = serde_json::json!([{ "type": "tool_use", "id": call, "name": tool, "input": {} }]);
    let epoch = chain.push(super::tests::epoch());
    let request = chain.push(request(epoch));
    let answer = chain.push(super::tests::answer(request, &asked.to_string(), "tool_use"));
    chain.push(ToolCalled { tool: tool.into(), input: input.into(), ..called(call, ToolEffect::Writes, answer) });
}

fn exit(code: i32) -> Option<ToolExit> {
    Some(ToolExit { code: Some(code), signal: None, timed_out: false })
}

fn end(chain: &mut Chain, call: &str) -> EventId {
    chain.push(ToolFinished { exit: exit(0), ..finished(call, "exit code: 0\nfine") })
}

/// Runs a command that ends well.
fn run(chain: &mut Chain, call: &str, input: &str) -> EventId {
    begin(chain, call, "bash", input);
    end(chain, call)
}

/// The result that stands for `cargo test` on the files as they are, where `ls` is harmless.
fn found(chain: &Chain) -> Option<EventId> {
    let key = chain.state.run_key(TEST, chain.state.files.tree()?)?;
    let run = chain.state.past_runs.find(&key, |input| input == LOOK)?;
    Some(run.finished.0)
}

#[test]
fn a_command_that_ended_by_itself_and_changed_nothing_is_found() {
    let mut chain = session();
    assert_eq!(found(&chain), None);
    let first = run(&mut chain, "a", TEST);
    assert_eq!(found(&chain), Some(first));
    run(&mut chain, "b", LOOK);
    assert_eq!(found(&chain), Some(first), "what is harmless may stand between");
    let key = chain.state.run_key(r#"{ "fresh": true, "command": "cargo test", "cwd": null }"#, "t1");
    assert_eq!(key.unwrap().input, TEST, "one form of the input");
    let key = chain.state.run_key(r#"{"command":"cargo test","cwd":"x"}"#, "t1").unwrap();
    assert!(chain.state.past_runs.find(&key, |_| true).is_none(), "another folder is another input");
}

#[test]
fn other_files_another_sandbox_or_another_limit_are_another_run() {
    let mut chain = session();
    let first = run(&mut chain, "a", TEST);
    chain.push(tree("t2", None));
    assert_eq!(found(&chain), None, "other files");
    chain.push(tree("t1", None));
    assert_eq!(found(&chain), Some(first), "the files as they were");
    chain.push(sandbox("8 GiB"));
    assert_eq!(found(&chain), None, "another sandbox");
    chain.push(sandbox("4 GiB"));
    assert_eq!(found(&chain), Some(first));
    let other = crate::payload::settings::Settings { command_timeout_ms: 2_000, ..settings("m") };
    chain.push(SessionConfigured { settings: other, why: String::new() });
    assert_eq!(found(&chain), None, "another limit of time");
}

#[test]
fn what_changed_files_or_did_not_end_by_itself_is_never_repeated() {
    type Between = fn(&mut Chain);
    type Last = fn() -> ToolFinished;
    let ends: Last = || ToolFinished { exit: exit(0), ..finished("a", "exit code: 0\nfine") };
    let cases: [(&str, Between, Last); 7] = [
        (
            "it changed a file",
            |chain| {
                chain.push(tree("t2", Some("a")));
            },
            ends,
        ),
        (
            "nobody knows what it changed",
            |chain| {
                chain.push(WorkspaceSnapshotFailed { after: None, why: "full".into() });
            },
            ends,
        ),
        (
            "it reached for the network",
            |chain| {
                let call = Some(CallId("a".into()));
                chain.push(SandboxNetworkAttempted { call, destination: "x:1".into(), allowed: false });
            },
            ends,
        ),
        (
            "somebody reached for the network",
            |chain| {
                chain.push(SandboxNetworkAttempted { call: None, destination: "x:1".into(), allowed: true });
            },
            ends,
        ),
        (
            "it was ended",
            |_| {},
            || ToolFinished {
                exit: Some(ToolExit { code: None, signal: Some(9), timed_out: false }),
                ..finished("a", "ended by signal 9 (SIGKILL)")
            },
        ),
        (
            "it took too long",
            |_| {},
            || ToolFinished {
                exit: Some(ToolExit { code: Some(1), signal: None, timed_out: true }),
                ..finished("a", "timed out")
            },
        ),
        (
            "something of it was ended",
            |_| {},
            || ToolFinished { exit: exit(0), ..finished("a", "exit code: 0 (1 process it left behind was ended)") },
        ),
    ];
    for (why, between, last) in cases {
        let mut chain = session();
        begin(&mut chain, "a", "bash", TEST);
        between(&mut chain);
        chain.push(last());
        if chain.state.files.tree() != Some("t1") {
            assert_eq!(found(&chain), None, "{why}");
        }
        chain.push(tree("t1", None));
        assert_eq!(found(&chain), None, "{why}");
    }
    let mut chain = session();
    run(&mut chain, "a", TEST);
    chain.push(SandboxLimitHit { call: Some(CallId("a".into())), limit: "pids".into(), detail: String::new() });
    assert_eq!(found(&chain), None, "a limit was hit");
}

#[test]
fn what_may_have_changed_files_that_no_snapshot_holds_parts_then_from_now() {
    let mut chain = session();
    run(&mut chain, "a", TEST);
    run(&mut chain, "b", r#"{"command":"npm install"}"#);
    assert_eq!(found(&chain), None, "a command of which nobody says that it is harmless");

    type Doing = fn(&mut Chain);
    let others: [(&str, Doing); 4] = [
        ("a file was written that no snapshot holds", |chain| {
            begin(chain, "b", "write_file", "{}");
            chain.push(ToolFinished { changed: vec!["ignored".into()], ..finished("b", "written") });
        }),
        ("nobody knows what it did", |chain| {
            begin(chain, "b", "bash", LOOK);
            chain.push(ToolOutcomeUnknown { call: CallId("b".into()), content: String::new() });
        }),
        ("a command goes on in the background", |chain| {
            begin(chain, "b", "bash", r#"{"background":true,"command":"ls"}"#);
            end(chain, "b");
            chain.push(ToolBackgroundStarted { call: CallId("b".into()), command: "ls".into() });
        }),
        ("a call without an end", |chain| {
            begin(chain, "b", "bash", LOOK);
            begin(chain, "c", "bash", LOOK);
        }),
    ];
    for (why, between) in others {
        let mut chain = session();
        let first = run(&mut chain, "a", TEST);
        assert_eq!(found(&chain), Some(first));
        between(&mut chain);
        assert_eq!(found(&chain), None, "{why}");
    }

    let mut chain = session();
    let first = run(&mut chain, "a", TEST);
    begin(&mut chain, "b", "write_file", "{}");
    chain.push(tree("t2", Some("b")));
    chain.push(ToolFinished { changed: vec!["kept".into()], ..finished("b", "written") });
    assert_eq!(found(&chain), None);
    chain.push(tree("t1", None));
    assert_eq!(found(&chain), Some(first), "what snapshots hold may change and come back");
}

#[test]
fn a_repeated_result_points_at_the_first_one_for_ever() {
    let mut chain = session();
    let first = run(&mut chain, "a", TEST);
    for call in ["b", "c"] {
        begin(&mut chain, call, "bash", TEST);
        chain.push(ToolResultReused { call: CallId(call.into()), from: first, tree: "t1".into() });
        end(&mut chain, call);
        assert_eq!(found(&chain), Some(first));
    }
}

#[test]
fn inputs_that_cannot_be_compared_have_no_form() {
    for input in ["", "[]", "null", "nothing", r#"{"command":"x","background":true}"#, &"x".repeat(9_000)] {
        assert_eq!(RunKey::input_of(input), None, "{input}");
    }
    let long = serde_json::json!({ "command": "x".repeat(5_000) }).to_string();
    assert_eq!(RunKey::input_of(&long), None);
}

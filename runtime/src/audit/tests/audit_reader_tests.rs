//! What the record says of events: files, changes, refusals; and that it guesses nothing.

use crate::audit::{AuditEnd, AuditReader, AuditTotals, AuditedCall, FileHow, FilesBehind, RowKind, TreeChanges};
use retrace_events::payload::sandbox::{SandboxConnection, SandboxLimitHit};
use retrace_events::payload::tool::{
    ToolCalled, ToolDenied, ToolEffect, ToolExit, ToolFinished, ToolPart, ToolParted, ToolRefused, ToolResultReused,
};
use retrace_events::payload::workspace::{WorkspaceSnapshotFailed, WorkspaceSnapshotted};
use retrace_events::testing::{EventMaker, example_payloads, example_stream};
use retrace_events::{CallId, Event, EventId, Payload};

fn id(call: &str) -> CallId {
    CallId(call.to_owned())
}

fn called(call: &str, tool: &str, input: &str, effect: ToolEffect) -> Payload {
    let request = EventId(uuid::Uuid::nil());
    ToolCalled { call: id(call), tool: tool.to_owned(), input: input.to_owned(), request, effect }.into()
}

fn finished(call: &str, is_error: bool, changed: &[&str]) -> Payload {
    let changed = changed.iter().map(|path| (*path).to_owned()).collect();
    let exit = Some(ToolExit { code: Some(i32::from(is_error)), signal: None, timed_out: false });
    ToolFinished { call: id(call), is_error, content: String::new(), exit, output: None, changed, duration_ms: 7 }
        .into()
}

fn tree(name: &str, after: Option<&str>) -> Payload {
    WorkspaceSnapshotted {
        tree: name.to_owned(),
        previous: None,
        git_state: None,
        after: after.map(id),
        changed_files: 1,
        new_bytes: 1,
    }
    .into()
}

fn read(payloads: &[Payload]) -> Vec<RowKind> {
    let mut maker = EventMaker::new(example_stream("audited"), 3);
    let mut reader = AuditReader::default();
    for (place, payload) in (0..).zip(payloads) {
        reader.apply(place, &Event::decode(maker.payload(payload, None)).unwrap());
    }
    reader.into_rows().into_iter().map(|row| row.kind).collect()
}

fn call(kind: &RowKind) -> &AuditedCall {
    let RowKind::Call(call) = kind else { panic!("{kind:?}") };
    call
}

#[test]
fn files_are_those_of_inputs_and_results() {
    let rows = read(&[
        called("a", "read_file", r#"{"path":"src/a.rs"}"#, ToolEffect::ReadOnly),
        finished("a", false, &[]),
        called("b", "read_file", r#"{"path":"gone"}"#, ToolEffect::ReadOnly),
        finished("b", true, &[]),
        called("c", "edit_file", r#"{"path":"./src/a.rs"}"#, ToolEffect::Writes),
        finished("c", false, &["src/a.rs"]),
    ]);
    assert_eq!(call(&rows[0]).files, [(FileHow::Read, "src/a.rs".to_owned())]);
    assert_eq!(call(&rows[1]).files, [], "what could not be read was not read");
    assert_eq!(call(&rows[2]).files, [(FileHow::Written, "src/a.rs".to_owned())]);
}

#[test]
fn what_a_command_changed_is_between_two_snapshots_or_unknown() {
    let rows = read(&[
        called("0", "bash", "{}", ToolEffect::Writes),
        finished("0", false, &[]),
        tree("t1", None),
        called("a", "bash", r#"{"command":"make"}"#, ToolEffect::Writes),
        tree("t2", Some("a")),
        finished("a", false, &[]),
        called("b", "bash", r#"{"command":"true"}"#, ToolEffect::Writes),
        finished("b", false, &[]),
        tree("t3", None),
        called("c", "bash", r#"{"command":"dd"}"#, ToolEffect::Writes),
        WorkspaceSnapshotFailed { after: Some(id("c")), why: "full".to_owned() }.into(),
        finished("c", false, &[]),
        called("d", "bash", r#"{"command":"ls"}"#, ToolEffect::Writes),
        finished("d", false, &[]),
    ]);
    let changed = |before: &str, after: &str| FilesBehind::Changed { before: Some(before.into()), after: after.into() };
    assert_eq!(call(&rows[0]).behind, FilesBehind::Unknown("no snapshots were taken".to_owned()));
    assert_eq!(call(&rows[1]).behind, changed("t1", "t2"));
    assert_eq!(call(&rows[2]).behind, FilesBehind::Same);
    assert!(matches!(&rows[3], RowKind::ByHand(behind) if *behind == changed("t2", "t3")), "{:?}", rows[3]);
    assert_eq!(call(&rows[4]).behind, FilesBehind::Unknown("full".to_owned()));
    assert_eq!(call(&rows[5]).behind, FilesBehind::Unknown("full".to_owned()), "and from there on");
}

#[test]
fn what_was_refused_stands_with_its_call() {
    let connection = |call: Option<&str>| SandboxConnection {
        call: call.map(id),
        host: "example.com".to_owned(),
        port: 443,
        how: "connect".to_owned(),
        allowed: false,
        why: "not on the list".to_owned(),
        sent_bytes: 0,
        received_bytes: 0,
        credential: None,
        duration_ms: 1,
    };
    let rows = read(&[
        tree("t1", None),
        called("a", "bash", r#"{"command":"x"}"#, ToolEffect::Writes),
        connection(Some("a")).into(),
        connection(Some("never made")).into(),
        finished("a", true, &[]),
        SandboxLimitHit { call: Some(id("a")), limit: "pids".to_owned(), detail: "too many".to_owned() }.into(),
        called("b", "read_file", r#"{"path":"../x"}"#, ToolEffect::ReadOnly),
        finished("b", true, &[]),
        ToolRefused { call: id("b"), what: "outside_workspace".to_owned(), detail: "../x leads out".to_owned() }.into(),
        ToolDenied { call: id("c"), by: "a rule".to_owned(), content: "no".to_owned() }.into(),
    ]);
    assert_eq!((call(&rows[0]).network.len(), call(&rows[0]).limits.len()), (1, 1));
    assert!(matches!(rows[1], RowKind::Network(_)), "the call it names is the sandbox's word alone");
    assert_eq!(call(&rows[2]).refused[0].0, "outside_workspace");
    assert_eq!(call(&rows[3]).end, AuditEnd::Denied { by: "a rule".to_owned(), why: "no".to_owned() });
    assert!([0, 2, 3].iter().all(|at| call(&rows[*at]).was_refused()));
}

#[test]
fn parts_and_repeated_results_are_told_as_such_and_counted_once() {
    let part = ToolPart { call: id("a.1"), tool: "bash".to_owned(), input: r#"{"command":"ls"}"#.to_owned() };
    let payloads = [
        tree("t1", None),
        called("a", "batch", "{}", ToolEffect::ReadOnly),
        ToolParted { call: id("a"), parts: vec![part] }.into(),
        called("a.1", "bash", r#"{"command":"ls"}"#, ToolEffect::Writes),
        ToolResultReused { call: id("a.1"), from: EventId(uuid::Uuid::nil()), tree: "t1".to_owned() }.into(),
        finished("a.1", false, &[]),
        finished("a", false, &[]),
    ];
    let mut maker = EventMaker::new(example_stream("audited"), 3);
    let mut reader = AuditReader::default();
    for (place, payload) in (0..).zip(&payloads) {
        reader.apply(place, &Event::decode(maker.payload(payload, None)).unwrap());
    }
    let rows = reader.into_rows();
    assert!(call(&rows[0].kind).is_whole);
    assert_eq!(call(&rows[1].kind).part_of, Some(id("a")));
    assert!(call(&rows[1].kind).repeats.is_some());
    let mut totals = AuditTotals::default();
    rows.iter().for_each(|row| totals.add(row, &TreeChanges::Nothing));
    assert_eq!((totals.calls, totals.commands, totals.repeated), (1, 0, 1), "{totals:?}");
}

#[test]
fn no_list_of_events_is_too_odd() {
    let payloads = example_payloads();
    for first in &payloads {
        for second in &payloads {
            read(&[first.clone(), second.clone(), first.clone()]);
        }
    }
}

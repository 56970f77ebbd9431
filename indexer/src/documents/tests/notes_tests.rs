//! What is neither prompt nor answer nor call.

use super::*;
use expect_test::expect;
use retrace_events::BlobRef;
use retrace_events::hash::Hash;
use retrace_events::payload::context::ContextImageAttached;
use retrace_events::payload::sandbox::{SandboxConnection, SandboxLimitHit, SandboxNetworkAttempted, SandboxStopped};
use retrace_events::payload::session::{
    PlanItem, PlanStatus, SessionClosed, SessionConfigured, SessionControlHandled, SessionPlanned, SessionRuleAdded,
};
use retrace_events::payload::tool::{ToolBackgroundEnded, ToolBackgroundStarted};
use retrace_events::payload::turn::{TurnEnded, TurnFailed, TurnFailure, TurnInterrupted, TurnOutcome, TurnWarned};
use retrace_events::testing::example_payloads;

fn failed(failure: TurnFailure, status: Option<u16>, message: &str) -> Payload {
    TurnFailed {
        request: EventId(uuid::Uuid::nil()),
        failure,
        status,
        message: message.into(),
        request_id: None,
        partial: Some(r#"[{"type":"text","text":"half an answer"}]"#.into()),
        billed_microusd: 0,
        retry_in_ms: None,
    }
    .into()
}

fn handled(accepted: bool, note: &str) -> Payload {
    SessionControlHandled { event: EventId(uuid::Uuid::nil()), seq: 0, accepted, note: note.into() }.into()
}

fn plan(items: &[(&str, PlanStatus)]) -> Payload {
    let items = items.iter().map(|(text, status)| PlanItem { text: (*text).into(), status: *status }).collect();
    SessionPlanned { call: CallId("1".into()), items }.into()
}

fn connection(allowed: bool) -> SandboxConnection {
    SandboxConnection {
        call: Some(CallId("1".into())),
        host: "example.com".into(),
        port: 443,
        how: "connect".into(),
        allowed,
        why: if allowed { String::new() } else { "it is not on the list".into() },
        sent_bytes: 1,
        received_bytes: 2,
        credential: None,
        duration_ms: 3,
    }
}

#[test]
fn failures_endings_and_what_else_is_noted() {
    let outcome = |outcome, note: &str| Payload::from(TurnEnded { outcome, note: note.into() });
    let documents = documents(&[
        failed(TurnFailure::RateLimited, Some(429), "slow down"),
        failed(TurnFailure::Connection, None, "connection refused"),
        outcome(TurnOutcome::Completed, ""),
        outcome(TurnOutcome::Completed, "a last word"),
        outcome(TurnOutcome::BudgetReached, "2 of 2 dollars"),
        TurnInterrupted { by: "signal".into(), during: "a request".into() }.into(),
        TurnWarned { rule: "same_call".into(), note: "the same call three times".into() }.into(),
        SandboxStopped { why: "the guest died".into(), unexpected: true }.into(),
        SandboxStopped { why: "the session ended".into(), unexpected: false }.into(),
        plan(&[("write the lexer", PlanStatus::Done), ("write the parser", PlanStatus::InProgress)]),
        plan(&[]),
        SessionRuleAdded { rule: "bash(cargo test *)".into(), by: "user".into() }.into(),
        SessionConfigured { settings: example_settings(), why: "model changed by the user".into() }.into(),
        SessionClosed { why: "done with it".into() }.into(),
        handled(true, "tagged `before the rewrite`"),
        handled(true, "queued"),
        handled(false, "tagged `no`"),
    ]);
    expect![[r#"
        0.0 o0 s0 note ! "request failed: rate limited (HTTP 429): slow down"
        1.0 o1 s0 note ! "request failed: no connection: connection refused"
        3.0 o2 s0 note "turn ended: completed: a last word"
        4.0 o3 s0 note ! "turn ended: budget reached: 2 of 2 dollars"
        5.0 o4 s0 note "interrupted by signal during a request"
        6.0 o5 s0 note "warned (same_call): the same call three times"
        7.0 o6 s0 note ! "the sandbox is gone: the guest died"
        9.0 o7 s0 note "plan\ndone: write the lexer\nin progress: write the parser"
        11.0 o8 s0 note "allowed for this session: bash(cargo test *) (by user)"
        12.0 o9 s0 note "settings changed: model changed by the user"
        13.0 o10 s0 note "session closed: done with it"
        14.0 o11 s0 note "tagged `before the rewrite`"
    "#]]
    .assert_eq(&picture(&documents));
}

#[test]
fn what_happens_in_a_call_belongs_to_its_tool_and_files() {
    let call = || CallId("1".into());
    let exit = ToolExit { code: Some(3), signal: None, timed_out: false };
    let blob = BlobRef { hash: Hash::of(b"x"), size_bytes: 70_000 };
    let events = events(&[
        called("1", "bash", r#"{"command":"python serve.py","background":true}"#),
        finished("1", None, "it runs in the background").into(),
        ToolBackgroundStarted { call: call(), command: "python serve.py".into() }.into(),
        SandboxLimitHit { call: Some(call()), limit: "memory".into(), detail: "4 GiB".into() }.into(),
        SandboxNetworkAttempted { call: Some(call()), destination: "example.com:443".into(), allowed: false }.into(),
        SandboxNetworkAttempted { call: None, destination: "example.com:443".into(), allowed: true }.into(),
        connection(true).into(),
        connection(false).into(),
        answer("[]"),
        ToolBackgroundEnded { call: call(), exit: Some(exit), output: Some(blob), why: "it ended".into() }.into(),
    ]);
    let extracted = extracted(&events);
    let documents: Vec<Document> = extracted.iter().flat_map(|extracted| extracted.documents.iter().cloned()).collect();
    expect![[r#"
        0.0 o0 s0 call bash [serve.py] "bash python serve.py"
        1.0 o1 s0 result bash [serve.py] "it runs in the background"
        3.0 o2 s0 note bash [serve.py] ! "limit hit: memory: 4 GiB"
        4.0 o3 s0 note bash [serve.py] ! "network: example.com:443 refused by policy"
        5.0 o4 s0 note "network: reached example.com:443"
        6.0 o5 s0 note bash [serve.py] "network: reached example.com:443"
        7.0 o6 s0 note bash [serve.py] ! "network: example.com:443 refused: it is not on the list"
        9.0 o7 s1 result bash [serve.py] exit 3 ! "background command ended, exit 3: it ended"
    "#]]
    .assert_eq(&picture(&documents));
    assert_eq!(extracted[9].bodies[0].blob, blob);
}

#[test]
fn an_image_that_came_with_a_prompt_has_a_name() {
    let image = |call: Option<&str>| ContextImageAttached {
        name: "error-dialog.png".into(),
        media_type: "image/png".into(),
        data_base64: "QUJD".repeat(1_000),
        call: call.map(|call| CallId(call.into())),
        width_px: 1,
        height_px: 1,
    };
    let documents = documents(&[image(None).into(), image(Some("1")).into()]);
    assert_eq!(picture(&documents), "0.0 o0 s0 note \"image error-dialog.png (image/png)\"\n");
}

#[test]
fn exits_are_said_as_a_shell_says_them() {
    let exit = |code, signal, timed_out| super::super::notes::exit_code(ToolExit { code, signal, timed_out });
    assert_eq!(exit(Some(7), None, false), Some(7));
    assert_eq!(exit(None, Some(9), false), Some(137));
    assert_eq!(exit(None, Some(9), true), Some(124));
    assert_eq!(exit(None, None, false), None);
}

#[test]
fn of_all_kinds_only_these_say_something() {
    let mut kinds = Vec::new();
    for payload in example_payloads() {
        let extracted = extracted(&events(std::slice::from_ref(&payload)));
        if !extracted[0].documents.is_empty() {
            kinds.push(format!("{} {}\n", payload.kind(), extracted[0].documents[0].kind.name()));
        }
    }
    expect![[r#"
        session.configured note
        session.closed note
        session.rule_added note
        session.planned note
        session.imported note
        turn.prompted prompt
        turn.answered answer
        turn.failed note
        turn.interrupted note
        turn.ended note
        turn.warned note
        context.compacted note
        tool.called call
        tool.denied result
        tool.finished result
        tool.outcome_unknown result
        tool.background_ended result
        tool.refused note
        sandbox.stopped note
        sandbox.limit_hit note
        sandbox.network_attempted note
        sandbox.connection note
    "#]]
    .assert_eq(&kinds.concat());
}

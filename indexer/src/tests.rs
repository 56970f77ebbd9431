//! The outline of a small session, and that it can be grown event by event.

use crate::Outline;
use expect_test::expect;
use retrace_events::log::MemoryLog;
use retrace_events::mint::SeededMint;
use retrace_events::payload::tool::{ToolCalled, ToolDenied, ToolEffect, ToolExit, ToolFinished, ToolOutcomeUnknown};
use retrace_events::payload::turn::{PromptSource, TurnEnded, TurnInterrupted, TurnOutcome, TurnPrompted};
use retrace_events::{CallId, Class, Event, EventId, Hash, Payload, StreamId, Token, Writer};
use std::sync::Arc;

async fn events(payloads: Vec<Payload>) -> Vec<Event> {
    let stream = StreamId {
        tenant: Token::slug("local"),
        project: Token::slug("p"),
        class: Class::Session,
        id: Token::slug("s"),
    };
    let log = Arc::new(MemoryLog::new());
    let mut writer = Writer::create(log, Arc::new(SeededMint::new(1)), stream, Hash::GENESIS);
    writer.append(payloads.into_iter().map(|payload| (payload, None)).collect()).await.unwrap()
}

fn prompt(text: &str) -> Payload {
    TurnPrompted { text: text.into(), source: PromptSource::Local, attachments: Vec::new() }.into()
}

fn called(call: &str, tool: &str, input: &str) -> Payload {
    let answer = EventId(uuid::Uuid::nil());
    let effect = ToolEffect::Writes;
    ToolCalled { call: CallId(call.into()), tool: tool.into(), input: input.into(), request: answer, effect }.into()
}

fn finished(call: &str, exit: Option<ToolExit>, changed: &[&str]) -> Payload {
    ToolFinished {
        call: CallId(call.into()),
        is_error: false,
        content: String::new(),
        exit,
        output: None,
        changed: changed.iter().map(|path| (*path).to_owned()).collect(),
        duration_ms: 1,
    }
    .into()
}

fn exit(code: Option<i32>, signal: Option<i32>, timed_out: bool) -> Option<ToolExit> {
    Some(ToolExit { code, signal, timed_out })
}

fn session() -> Vec<Payload> {
    vec![
        prompt("make the\n  tests pass"),
        called("1", "read_file", r#"{"path":"src/lib.rs"}"#),
        finished("1", None, &[]),
        called("2", "bash", r#"{"command":"cargo test"}"#),
        finished("2", exit(Some(101), None, false), &[]),
        called("3", "edit_file", r#"{"path":"src/lib.rs"}"#),
        finished("3", None, &["src/lib.rs"]),
        called("4", "bash", r#"{"command":"sleep 9"}"#),
        finished("4", exit(None, Some(9), true), &[]),
        called("5", "bash", r#"{"command":"kill me"}"#),
        finished("5", exit(None, Some(9), false), &[]),
        TurnEnded { outcome: TurnOutcome::Completed, note: String::new() }.into(),
        prompt("and now?"),
        called("6", "bash", r#"{"command":"rm -rf build"}"#),
        ToolOutcomeUnknown { call: CallId("6".into()), content: String::new() }.into(),
        called("7", "bash", r#"{"command":"git push"}"#),
        ToolDenied { call: CallId("7".into()), by: "rule".into(), content: String::new() }.into(),
        called("8", "bash", "not json"),
        finished("8", None, &[]),
        TurnInterrupted { by: "signal".into(), during: "x".into() }.into(),
        prompt("go on"),
        called("9", "bash", r#"{"command":"make"}"#),
    ]
}

#[tokio::test]
async fn an_outline_keeps_words_commands_ends_and_files() {
    let outline = Outline::of(&events(session()).await);
    expect![[r#"
        prompts
          #0     make the tests pass (completed)
          #12    and now? (interrupted)
          #20    go on (going on)
        commands
          #3     cargo test (exit 101)
          #7     sleep 9 (timed out)
          #9     kill me (signal 9)
          #13    rm -rf build (unknown)
          #15    git push (denied)
          #21    make (running)
        files
          #6     src/lib.rs (1 reads, 1 changes)
    "#]]
    .assert_eq(&outline.to_string());
}

#[tokio::test]
async fn the_same_outline_comes_of_any_split() {
    let events = events(session()).await;
    let whole = Outline::of(&events).to_string();
    for split in 0..events.len() {
        let mut outline = Outline::of(&events[..split]);
        events[split..].iter().for_each(|event| outline.apply(event));
        assert_eq!(outline.to_string(), whole);
    }
}

#[tokio::test]
async fn a_result_without_its_call_changes_nothing() {
    let outline = Outline::of(&events(vec![finished("ghost", exit(Some(0), None, false), &[])]).await);
    assert!(outline.commands.is_empty() && outline.files.is_empty());
}

#[tokio::test]
async fn a_long_line_is_cut_in_the_text_and_kept_in_the_data() {
    let long = "x".repeat(1_000);
    let outline = Outline::of(&events(vec![prompt(&long)]).await);
    assert_eq!(outline.prompts[0].text, long);
    assert!(outline.to_string().lines().all(|line| line.chars().count() < 200));
}

#[tokio::test]
async fn texts_are_changed_whole_before_they_are_cut() {
    let prompts = vec![prompt(&format!("{} hunter2-correct-horse", "x".repeat(145))), finished("1", None, &["a\nb"])];
    let outline = Outline::of(&events(prompts).await);
    let changed = outline.map_texts(|text| text.replace("hunter2-correct-horse", "[redacted]"));
    let text = changed.to_string();
    assert!(!text.contains("hunter2"), "{text}");
    assert!(changed.prompts[0].text.ends_with("[redacted]"));
}

#[tokio::test]
async fn a_path_cannot_forge_a_line() {
    let mut session = session();
    session.push(called("10", "edit_file", "{}"));
    session.push(finished("10", None, &["b\nprompts\n  #1 forged (completed)"]));
    let text = Outline::of(&events(session).await).to_string();
    assert!(text.contains("  #23    b prompts #1 forged (completed) (0 reads, 1 changes)\n"), "{text}");
}

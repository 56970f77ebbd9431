//! What comes out is a session: its chain holds, a fold understands all of it, and its context begins afresh again and again.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::made::made_sessions;
use retrace_events::EventLog as _;
use retrace_events::fold::{Stage, TranscriptItem, fold};
use retrace_events::log::MemoryLog;
use retrace_events::verify::verify_stream;

fn logged(lines: usize) -> Vec<Envelope> {
    let mut session = LoggedSession::begin(crate::stream("long"), Timestamp(0)).unwrap();
    for line in made_sessions(1, lines, 7).iter().flat_map(|session| &session.lines) {
        session.add(line, &str::to_owned).unwrap();
    }
    session.take()
}

#[tokio::test]
async fn its_chain_holds() {
    let log = MemoryLog::new();
    let events = logged(2_000);
    for batch in events.chunks(100) {
        log.append(batch).await.unwrap();
    }
    let verified = verify_stream(&log, &crate::stream("long")).await.unwrap();
    assert_eq!(verified.events, events.len() as u64);
}

#[test]
fn a_fold_understands_it_and_its_context_stays_bounded() {
    let (mut state, mut epochs, mut asked) = (retrace_events::SessionState::default(), 0, 0);
    for envelope in logged(6_000) {
        let event = retrace_events::Event::decode(envelope).unwrap();
        epochs += u32::from(event.envelope.kind == "context.epoch_started");
        state.apply(&event);
        let items = state.transcript.items();
        let bytes: usize = items.iter().map(|item| format!("{item:?}").len()).sum();
        assert!(bytes < 2 * EPOCH_BYTES, "{bytes} bytes of conversation");
        let asks = state.turn.as_ref().is_some_and(|turn| matches!(turn.stage, Stage::Ask { .. }));
        asked += usize::from(asks && matches!(items.last(), Some(TranscriptItem::Result { .. })));
    }
    assert!(epochs > 5, "{epochs} epochs");
    assert!(asked > 1_500, "{asked} of 2000 steps came to their end");
}

#[test]
fn parallel_calls_are_one_answer_and_each_has_its_own_result() {
    let line = |kind: &str, path: Option<&str>, text: &str| RecordedLine {
        session: "s".to_owned(),
        i: 0,
        ts: "2026-01-05T12:00:00Z".to_owned(),
        kind: kind.to_owned(),
        tool: kind.starts_with("tool").then(|| "read_file".to_owned()),
        path: path.map(str::to_owned),
        text: text.to_owned(),
        tok: 1,
    };
    let mut session = LoggedSession::begin(crate::stream("s"), Timestamp(0)).unwrap();
    for line in [
        line("user", None, "look"),
        line("tool_call", Some("a"), r#"{"path":"a"}"#),
        line("tool_call", Some("b"), r#"{"path":"b"}"#),
        line("tool_result", Some("b"), "text of b"),
        line("tool_result", Some("a"), "text of a"),
        line("assistant", None, "I have seen both."),
        line("user", None, "go on"),
    ] {
        session.add(&line, &str::to_owned).unwrap();
    }
    let state = fold(session.take()).unwrap();
    let told = |item: &TranscriptItem| match item {
        TranscriptItem::Result { content, .. } => Some(content.clone()),
        _ => None,
    };
    let told: Vec<String> = state.transcript.items().iter().filter_map(told).collect();
    assert_eq!(told, ["text of a", "text of b"]);
    assert_eq!((state.totals.calls, state.totals.prompts), (2, 2));
}

#[test]
fn made_sessions_are_the_same_every_time_and_differ() {
    let (one, again) = (made_sessions(2, 300, 7), made_sessions(2, 300, 7));
    assert_eq!(one, again);
    assert_ne!(one[0].lines[5].text, one[1].lines[5].text);
    assert_ne!(one, made_sessions(2, 300, 8));
}

//! Copies differ, each is the same every time, and a log holds as many events as asked for.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::recorded::RecordedLine;
use retrace_events::log::MemoryLog;
use retrace_events::verify::verify_stream;

fn session(id: &str, lines: usize) -> RecordedSession {
    let line = |i: usize| RecordedLine {
        session: id.to_owned(),
        i,
        ts: format!("2026-01-{:02}T{:02}:{:02}:00.000Z", 5 + i / 1_440, i / 60 % 24, i % 60),
        kind: ["user", "assistant", "tool_call", "tool_result"][i % 4].to_owned(),
        tool: (i % 4 >= 2).then(|| "Bash".to_owned()),
        path: None,
        text: r#"{"command":"cargo nextest --workspace"} finished without warnings in src/parser.rs"#.to_owned(),
        tok: 20,
    };
    RecordedSession { id: id.to_owned(), lines: (0..lines).map(line).collect() }
}

#[tokio::test]
async fn a_log_is_filled_with_sound_sessions_that_differ() {
    let log = MemoryLog::new();
    let sessions = [session("one", 30), session("two", 2_500)];
    let mut heard = Vec::new();
    let scaled = fill(&log, &sessions, 6_000, &mut |events| heard.push(events)).await.unwrap();
    assert_eq!((scaled.events, scaled.sessions), (3 * (31 + 2_501), 6), "whole sessions");
    assert_eq!(heard.last(), Some(&scaled.events));
    let mut heads = Vec::new();
    for copy in 0..2 {
        for session in &sessions {
            let verified = verify_stream(&log, &stream(session, copy)).await.unwrap();
            assert_eq!(verified.events, session.lines.len() as u64 + 1);
            heads.push(verified.head);
        }
    }
    heads.sort();
    heads.dedup();
    assert_eq!(heads.len(), 4);
    // A week lies between a copy and the next.
    let at = |copy| {
        let (log, stream) = (&log, stream(&sessions[0], copy));
        async move { log.read(&stream, 1, 1).await.unwrap()[0].at.0 }
    };
    assert_eq!(at(1).await - at(0).await, 7 * 24 * 3_600 * 1_000);
    // The same again is the same events.
    let again = MemoryLog::new();
    assert_eq!(fill(&again, &sessions, 6_000, &mut |_| {}).await.unwrap().payload_bytes, scaled.payload_bytes);
    let last = stream(&sessions[0], 2);
    assert_eq!(again.head(&last).await.unwrap().unwrap().hash, log.head(&last).await.unwrap().unwrap().hash);
}

#[tokio::test]
async fn nothing_gives_an_error_rather_than_no_end() {
    assert!(fill(&MemoryLog::new(), &[], 1, &mut |_| {}).await.is_err());
    assert_eq!(fill(&MemoryLog::new(), &[], 0, &mut |_| {}).await.unwrap(), Scaled::default());
}

#[test]
fn some_words_change_and_the_shape_stays() {
    let text = r#"{"command":"cargo nextest --workspace","file_path":"/src/parser_state.rs"} größer\nnewline and several other longer words"#;
    assert_eq!(vary(text, 0), text);
    let copies: Vec<String> = (1..40).map(|copy| vary(text, copy)).collect();
    let differing = copies.iter().filter(|copy| *copy != text).count();
    assert!(differing > 20, "{differing}");
    for (number, copy) in copies.iter().enumerate() {
        assert_eq!(*copy, vary(text, u32::try_from(number).unwrap() + 1));
        let json = copy.split_inclusive('}').next().unwrap();
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        assert!(value["command"].is_string() && value["file_path"].is_string(), "{copy}");
        assert_eq!(copy.split(' ').count(), text.split(' ').count());
    }
    assert_eq!(vary("", 3), "");
}

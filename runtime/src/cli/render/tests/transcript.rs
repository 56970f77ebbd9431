//! Events as text.

use super::{SECRET, answered, called, events, finished, prompted, redactor, some_event, started, text, transcript};
use crate::cli::render::{Detail, Style, Transcript};
use expect_test::expect;
use retrace_events::fold::{CallApproval, CallProgress, OpenCall};
use retrace_events::payload::sandbox::{SandboxConnection, SandboxLimitHit, SandboxNetworkAttempted};
use retrace_events::payload::tool::{ToolExit, ToolFinished, ToolOutcomeUnknown};
use retrace_events::payload::turn::{TurnEnded, TurnFailed, TurnFailure, TurnInterrupted, TurnOutcome};
use retrace_events::testing::{EventMaker, example_payloads, example_stream};
use retrace_events::{BlobRef, CallId, Event, Hash};

fn connected(host: &str, why: &str, credential: Option<&str>) -> SandboxConnection {
    SandboxConnection {
        call: None,
        host: host.to_owned(),
        port: 443,
        how: "connect".to_owned(),
        allowed: true,
        why: why.to_owned(),
        sent_bytes: 900,
        received_bytes: 2_000_000,
        credential: credential.map(str::to_owned),
        duration_ms: 5,
    }
}

#[test]
fn a_whole_turn() {
    let mut story = started("process");
    story.extend([
        prompted("make the tests pass\nplease"),
        answered(r#"[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"I'll look."}]"#),
        called("1", "list_dir", r#"{"path":"src"}"#),
        called("2", "bash", r#"{"command":"cargo test"}"#),
        finished("1", None, "a\nb\nc\n"),
        finished("2", Some(101), "exit code: 101\nrunning 1 test\n\ntest it ... FAILED\n"),
        called("3", "bash", r#"{"command":"make"}"#),
        finished("3", Some(0), "one\ntwo\nthree\nfour\nfive\n"),
        answered(r#"[{"type":"text","text":"Done."},{"type":"text","text":"Really."}]"#),
        TurnEnded { outcome: TurnOutcome::Completed, note: "done".to_owned() }.into(),
    ]);
    expect![[r"
        session 00000000-11111111 · claude-example-1 · /home/me/project
        sandbox: process (2 proofs)

        › make the tests pass
          please
        I'll look.
          35,200 in (34,000 cached) · 56 out · $0.0124 · 2.3s
        ● list_dir  src
        ● bash  cargo test
        └ list_dir src: ok · 3 lines · 1.2s
        └ bash cargo test: exit 101 · 4 lines · 1.2s
            exit code: 101
            running 1 test
            test it ... FAILED
        ● bash  make
        └ exit 0 · 5 lines · 1.2s
            … 2 lines above
            three
            four
            five
        Done.
        Really.
          35,200 in (34,000 cached) · 56 out · $0.0124 · 2.3s
    "]]
    .assert_eq(&text(Detail::Short, story));
}

#[test]
fn everything_that_can_go_wrong() {
    let failed = |failure, status, retry_in_ms, billed_microusd| {
        let (request, message) = (some_event(), "the API's words".to_owned());
        TurnFailed { request, failure, status, message, request_id: None, partial: None, billed_microusd, retry_in_ms }
            .into()
    };
    let end = |exit: Option<ToolExit>| {
        let call = CallId("9".to_owned());
        ToolFinished {
            call,
            is_error: true,
            content: "x".to_owned(),
            exit,
            output: None,
            changed: vec!["a".to_owned()],
            duration_ms: 5,
        }
        .into()
    };
    let exit = |signal, timed_out| Some(ToolExit { code: None, signal, timed_out });
    let over = |outcome| TurnEnded { outcome, note: "why".to_owned() }.into();
    let story = vec![
        failed(TurnFailure::RateLimited, Some(429), Some(2_500), 0),
        failed(TurnFailure::Lost, None, Some(0), 120_000),
        failed(TurnFailure::Authentication, Some(401), None, 0),
        end(exit(Some(9), false)),
        end(exit(None, true)),
        end(None),
        ToolOutcomeUnknown { call: CallId("8".to_owned()), content: "nobody knows".to_owned() }.into(),
        SandboxLimitHit { call: None, limit: "memory".to_owned(), detail: "2 GB".to_owned() }.into(),
        SandboxNetworkAttempted { call: None, destination: "evil.example:443".to_owned(), allowed: false }.into(),
        connected("crates.example", "", Some("crates.example")).into(),
        SandboxConnection { allowed: false, ..connected("evil.example", "not on the list of domains", None) }.into(),
        TurnInterrupted { by: "signal".to_owned(), during: "tool calls".to_owned() }.into(),
        over(TurnOutcome::Refused),
        over(TurnOutcome::AnswerTooLong),
        over(TurnOutcome::ContextFull),
        over(TurnOutcome::BudgetReached),
        over(TurnOutcome::RequestFailed),
        over(TurnOutcome::RuntimeFailed),
    ];
    expect![[r#"
        ! rate limited (HTTP 429): the API's words · trying again in 2.5s
        ! lost: the API's words · may have cost up to $0.1200 · trying again
        ! authentication (HTTP 401): the API's words
        └ 9: signal 9 · 1 line · changed a · 5ms
            x
        └ 9: timed out · 1 line · changed a · 5ms
            x
        └ 9: failed · 1 line · changed a · 5ms
            x
        └ 8: outcome unknown: nobody knows
        ! limit hit: memory (2 GB)
        ! network: evil.example:443 (refused)
        · network: crates.example:443 (900 B sent, 2.0 MB received, credential added)
        ! network: evil.example:443 refused: not on the list of domains
        interrupted by signal: tool calls
        the model refused: why
        the answer was too long: why
        the context window is full: why
        a budget is used up: why
        the request failed: why
        retrace could not go on: why
    "#]]
    .assert_eq(&text(Detail::Short, story));
}

#[test]
fn a_session_without_a_sandbox_says_so_all_the_time() {
    let mut story = started("none");
    story.extend([prompted("one"), prompted("two")]);
    expect![[r"
        session 00000000-11111111 · claude-example-1 · /home/me/project
        NO SANDBOX: commands run as you, with your files and your network

        [no sandbox] › one

        [no sandbox] › two
    "]]
    .assert_eq(&text(Detail::Short, story));
}

#[test]
fn the_log_is_named_beside_the_sandbox() {
    let mut transcript = transcript(Detail::Short).naming_log("embedded /state (durable)".to_owned());
    let lines: String = events(started("process")).iter().map(|event| transcript.event(event)).collect();
    assert!(lines.ends_with("sandbox: process (2 proofs) · log: embedded /state (durable)\n"), "{lines}");
}

#[test]
fn large_outputs_and_many_changes_are_counted() {
    let finished = ToolFinished {
        call: CallId("1".to_owned()),
        is_error: false,
        content: "head\n…\ntail".to_owned(),
        exit: None,
        output: Some(BlobRef { hash: Hash::of(b"x"), size_bytes: 1_234_567 }),
        changed: (1..=5).map(|n| format!("f{n}")).collect(),
        duration_ms: 75_000,
    };
    let shown = text(Detail::Short, vec![called("1", "write_file", r#"{"path":"f1","content":"x"}"#), finished.into()]);
    assert!(shown.contains("└ ok · 3 lines of 1.2 MB · changed 5 files · 1m 15s\n"), "{shown}");
}

#[test]
fn the_full_transcript_leaves_nothing_out() {
    let thinking = answered(r#"[{"type":"thinking","thinking":"a thought\nof two lines","signature":"s"}]"#);
    let story = vec![
        thinking,
        called("1", "bash", r#"{"command":"printf 'a\nb'"}"#),
        finished("1", Some(0), "1\n2\n3\n4\n5\n6"),
    ];
    let (short, full) = (text(Detail::Short, story.clone()), text(Detail::Full, story));
    assert!(!short.contains("a thought") && full.contains("~ a thought\n  of two lines\n"), "{full}");
    assert!(!short.contains("    1\n") && full.contains("    1\n    2\n"), "{full}");
    assert!(full.contains("\"command\": "), "{full}");
}

#[test]
fn every_kind_of_event_has_a_line_in_the_full_transcript() {
    for payload in example_payloads() {
        let kind = payload.kind();
        let shown = text(Detail::Full, vec![payload]);
        // A planned stop is not worth a line, and neither is the end that everybody hopes for.
        let silent = ["sandbox.stopped", "turn.ended"];
        assert!(silent.contains(&kind) || !shown.trim().is_empty(), "{kind}");
        assert!(shown.is_empty() || shown.ends_with('\n'), "{kind}: {shown:?}");
    }
}

#[test]
fn events_of_a_newer_version_are_named() {
    let mut maker = EventMaker::new(example_stream("a-b"), 1);
    let event = Event::decode(maker.opaque("future.\u{1b}[31mthing", 10)).unwrap();
    assert_eq!(transcript(Detail::Short).event(&event), "? future.␛[31mthing (only a newer version can read it)\n");
}

#[test]
fn secrets_are_not_shown_wherever_they_stand() {
    let story = vec![
        prompted(&format!("use {SECRET}")),
        answered(&format!(
            r#"[{{"type":"thinking","thinking":"{SECRET}"}},{{"type":"text","text":"it is {SECRET}"}}]"#
        )),
        called("1", "bash", &format!(r#"{{"command":"echo {SECRET}"}}"#)),
        finished("1", Some(0), &format!("out {SECRET}")),
        TurnEnded { outcome: TurnOutcome::RequestFailed, note: SECRET.to_owned() }.into(),
    ];
    for detail in [Detail::Short, Detail::Full] {
        let shown = text(detail, story.clone());
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(shown.contains("[redacted:known]"), "{shown}");
    }
}

#[test]
fn hostile_text_cannot_reach_the_terminal() {
    let hostile = "a\u{1b}]0;title\u{7}b\u{1b}[2Jc\u{9b}31md\u{202e}e\u{0}f\r\ng\u{200b}\u{feff}\u{e0041}h";
    let json = serde_json::to_string(hostile).unwrap();
    let mut story = started("none");
    story.extend([
        prompted(hostile),
        answered(&format!(r#"[{{"type":"text","text":{json}}},{{"type":"thinking","thinking":{json}}}]"#)),
        called(hostile, hostile, hostile),
        called(hostile, "bash", &format!(r#"{{"command":{json}}}"#)),
        finished(hostile, Some(1), hostile),
        ToolOutcomeUnknown { call: CallId(hostile.to_owned()), content: hostile.to_owned() }.into(),
        SandboxLimitHit { call: None, limit: hostile.to_owned(), detail: hostile.to_owned() }.into(),
        TurnInterrupted { by: hostile.to_owned(), during: hostile.to_owned() }.into(),
        TurnEnded { outcome: TurnOutcome::Refused, note: hostile.to_owned() }.into(),
    ]);
    for detail in [Detail::Short, Detail::Full] {
        super::clean::assert_harmless(&text(detail, story.clone()));
    }
}

#[test]
fn colours_come_and_go_with_the_style() {
    let mut coloured = Transcript::new(Style::Coloured, Detail::Short, redactor(), Vec::new());
    let shown = coloured.event(&events(vec![prompted("hello")])[0]);
    assert_eq!(shown, "\n\u{1b}[36m› hello\u{1b}[0m\n");
}

#[test]
fn results_of_calls_from_before_are_named() {
    let call = OpenCall {
        id: CallId("7".to_owned()),
        tool: "bash".to_owned(),
        input: r#"{"command":"make"}"#.to_owned(),
        progress: CallProgress::Asked,
        approval: CallApproval::Undecided,
    };
    let mut transcript = transcript(Detail::Short);
    transcript.know(&[call]);
    let unknown = ToolOutcomeUnknown { call: CallId("7".to_owned()), content: "who knows".to_owned() };
    let shown = transcript.event(&events(vec![unknown.into()])[0]);
    assert_eq!(shown, "└ bash make: outcome unknown: who knows\n");
}

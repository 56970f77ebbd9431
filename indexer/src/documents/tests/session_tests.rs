//! A session as one would have it, event by event.

use super::*;
use expect_test::expect;
use retrace_events::BlobRef;
use retrace_events::hash::Hash;
use retrace_events::payload::tool::{ToolDenied, ToolOutcomeUnknown};
use retrace_events::payload::turn::{Attachment, TurnQueued};

fn session() -> Vec<Payload> {
    vec![
        started("/work/x"),
        prompt("Why does the parser fail?"),
        answer(
            r#"[{"type":"thinking","thinking":"Look at the tests first.","signature":"AAAA"},
                {"type":"text","text":"I'll run the tests."},
                {"type":"tool_use","id":"1","name":"bash","input":{"command":"never indexed here"}}]"#,
        ),
        called("1", "bash", r#"{"command":"cargo test --test parser -- src/parser.rs","timeout_ms":60000}"#),
        finished("1", Some(101), "exit code: 101\nerror[E0277]: the trait bound is not satisfied").into(),
        answer(r#"[{"type":"text","text":"  \n "},{"type":"tool_use","id":"2","name":"edit_file","input":{}}]"#),
        called(
            "2",
            "edit_file",
            r#"{"path":"/work/x/src/parser.rs","old_string":"a","new_string":"let token = next();","replace_all":true}"#,
        ),
        ToolFinished { changed: vec!["src/parser.rs".into(), "Cargo.lock".into()], ..finished("2", None, "1 change") }
            .into(),
        called("3", "bash", r#"{"command":"rm -rf build"}"#),
        ToolDenied { call: CallId("3".into()), by: "user".into(), content: "The user says: leave it".into() }.into(),
        called("4", "ask_user", r#"{"question":"Which database?","options":["SQLite","Postgres"]}"#),
        finished("4", None, "Postgres").into(),
        called("5", "bash", r#"{"command":"make"}"#),
        ToolOutcomeUnknown { call: CallId("5".into()), content: "interrupted, outcome unknown".into() }.into(),
        answer(r#"[{"type":"text","text":"Done."},{"type":"text","text":"The parser works."}]"#),
    ]
}

#[test]
fn a_session_becomes_what_was_said_and_done() {
    expect![[r#"
        1.0 o0 s1 prompt "Why does the parser fail?"
        2.0 o1 s2 thinking "Look at the tests first."
        2.1 o2 s2 answer "I'll run the tests."
        3.0 o3 s2 call bash [src/parser.rs] "bash cargo test --test parser -- src/parser.rs"
        4.0 o4 s2 result bash [src/parser.rs] exit 101 ! "exit code: 101\nerror[E0277]: the trait bound is not satisfied"
        6.0 o5 s3 call edit_file [src/parser.rs] "edit_file /work/x/src/parser.rs\na\nlet token = next();"
        7.0 o6 s3 result edit_file [src/parser.rs, Cargo.lock] "1 change"
        8.0 o7 s3 call bash "bash rm -rf build"
        9.0 o8 s3 result bash ! "The user says: leave it"
        10.0 o9 s3 call ask_user "ask_user Which database?\nSQLite\nPostgres"
        11.0 o10 s3 result ask_user "Postgres"
        12.0 o11 s3 call bash "bash make"
        13.0 o12 s3 result bash ! "interrupted, outcome unknown"
        14.0 o13 s4 answer "Done."
        14.1 o14 s4 answer "The parser works."
    "#]]
    .assert_eq(&picture(&documents(&session())));
}

#[test]
fn each_document_says_where_it_is_from() {
    let events = events(&session());
    let documents: Vec<Document> = extracted(&events).into_iter().flat_map(|extracted| extracted.documents).collect();
    for document in documents {
        let envelope = &events[usize::try_from(document.seq).unwrap()].envelope;
        assert_eq!(document.key, format!("ev.local.example.session.s/{}.{}", envelope.seq, document.part));
        assert_eq!(document.stream, envelope.stream.subject());
        assert_eq!(document.event, envelope.id.to_string());
        assert_eq!(document.position, 100 + envelope.seq);
        assert_eq!(u64::try_from(document.at_ms).unwrap(), envelope.at.0);
        assert_eq!(document.workspace, "/work/x");
        assert_eq!((document.symbol, document.first_line, document.last_line), (None, 0, 0));
    }
}

#[test]
fn a_queued_prompt_is_said_once() {
    let queued = TurnQueued { text: "and now?".into(), source: PromptSource::Control, attachments: Vec::new() };
    let documents = documents(&[started("/w"), queued.into(), prompt("and now?")]);
    expect![[r#"
        2.0 o0 s1 prompt "and now?"
    "#]]
    .assert_eq(&picture(&documents));
}

#[test]
fn the_names_of_attachments_belong_to_the_prompt() {
    let blob = BlobRef { hash: Hash::of(b"x"), size_bytes: 1 };
    let attachment = |name: &str| Attachment { name: name.into(), media_type: "image/png".into(), blob };
    let attachments = vec![attachment("error-dialog.png"), attachment("b.png")];
    let prompted = TurnPrompted { text: "what is this?".into(), source: PromptSource::Local, attachments };
    assert_eq!(documents(&[prompted.into()])[0].text, "what is this?\nattached: error-dialog.png, b.png");
}

#[test]
fn what_recall_looked_for_and_found_is_not_found_again() {
    let documents = documents(&[
        called("1", "recall", r#"{"query":"the decision on retries"}"#),
        finished("1", None, "an old passage, word for word").into(),
        called("2", "bash", r#"{"command":"ls"}"#),
        finished("2", Some(0), "exit code: 0").into(),
    ]);
    expect![[r#"
        2.0 o0 s0 call bash "bash ls"
        3.0 o1 s0 result bash exit 0 "exit code: 0"
    "#]]
    .assert_eq(&picture(&documents));
}

#[test]
fn a_result_without_its_call_stands_for_itself() {
    expect![[r#"
        0.0 o0 s0 result exit 2 ! "no such file"
    "#]]
    .assert_eq(&picture(&documents(&[finished("ghost", Some(2), "no such file").into()])));
}

#[test]
fn an_event_seen_before_or_of_another_stream_is_nothing() {
    let events = events(&session());
    let mut cursor = SessionCursor::new(&example_stream("s"));
    let redactor = redactor();
    for event in &events {
        cursor.apply(Position(1), event, &redactor);
    }
    let after = cursor.clone();
    for event in &events {
        assert_eq!(cursor.apply(Position(1), event, &redactor), Extracted::default());
    }
    let other = EventMaker::new(example_stream("other"), 1).prompts(30);
    for envelope in other {
        assert_eq!(cursor.apply(Position(1), &Event::decode(envelope).unwrap(), &redactor), Extracted::default());
    }
    assert_eq!(cursor, after);
}

#[test]
fn an_unknown_kind_is_passed_over() {
    let mut maker = EventMaker::new(example_stream("s"), 1);
    let envelopes = [maker.prompt("one"), maker.opaque("turn.dreamt", 2_000), maker.prompt("two")];
    let events: Vec<Event> = envelopes.into_iter().map(|envelope| Event::decode(envelope).unwrap()).collect();
    let documents: Vec<Document> = extracted(&events).into_iter().flat_map(|extracted| extracted.documents).collect();
    expect![[r#"
        0.0 o0 s1 prompt "one"
        2.0 o1 s2 prompt "two"
    "#]]
    .assert_eq(&picture(&documents));
}

//! Sessions of the log as items.

use super::super::{BenchSession, Item, ItemKind, LoggedSession};
use retrace_events::payload::context::ContextCompacted;
use retrace_events::payload::session::SessionStarted;
use retrace_events::payload::tool::{ToolCalled, ToolDenied, ToolEffect, ToolFinished};
use retrace_events::payload::turn::{PromptSource, TurnAnswered, TurnPrompted, Usage};
use retrace_events::testing::{EventMaker, example_settings};
use retrace_events::{CallId, Class, Event, EventId, Payload, StreamId, Token};
use serde_json::{Value, json};

fn played(payloads: &[Payload]) -> BenchSession {
    let (tenant, project, id) = (Token::slug("t"), Token::slug("p"), Token::slug("s"));
    let mut maker = EventMaker::new(StreamId { tenant, project, class: Class::Session, id }, 3);
    let mut session = LoggedSession::default();
    for payload in payloads {
        session.apply(&Event::decode(maker.payload(payload, None)).unwrap());
    }
    session.finish("s")
}

fn started() -> Payload {
    SessionStarted {
        title: "t".to_owned(),
        workspace: "/work/here".to_owned(),
        retrace_version: "0".to_owned(),
        settings: example_settings(),
    }
    .into()
}

fn answered(blocks: &Value) -> Payload {
    TurnAnswered {
        request: EventId(uuid::Uuid::nil()),
        content: blocks.to_string(),
        model: "m".to_owned(),
        stop_reason: "end_turn".to_owned(),
        stop_details: None,
        usage: Usage::default(),
        cost_microusd: 0,
        request_id: None,
        duration_ms: 0,
    }
    .into()
}

fn called(call: &str, tool: &str, input: &Value) -> Payload {
    let (request, effect) = (EventId(uuid::Uuid::nil()), ToolEffect::Writes);
    ToolCalled { call: CallId(call.to_owned()), tool: tool.to_owned(), input: input.to_string(), request, effect }
        .into()
}

fn finished(call: &str, content: &str) -> Payload {
    let (call, content) = (CallId(call.to_owned()), content.to_owned());
    ToolFinished { call, is_error: false, content, exit: None, output: None, changed: Vec::new(), duration_ms: 1 }
        .into()
}

fn facts(item: &Item) -> (ItemKind, &str, &str, &str) {
    (item.kind, item.tool.as_str(), item.path.as_str(), item.text.as_str())
}

#[test]
fn a_turn_becomes_items() {
    let edit = json!({ "path": "src/./a.rs", "old_string": "one", "new_string": "two" });
    let session = played(&[
        started(),
        TurnPrompted { text: "go".to_owned(), source: PromptSource::Local, attachments: Vec::new() }.into(),
        answered(&json!([
            { "type": "thinking", "thinking": "hm", "signature": "s" },
            { "type": "text", "text": "I'll edit." },
            { "type": "tool_use", "id": "1", "name": "edit_file", "input": edit },
            { "type": "tool_use", "id": "2", "name": "bash", "input": { "command": "ls" } },
            { "type": "something_new" },
        ])),
        // The same call again, as it is carried out.
        called("1", "edit_file", &edit),
        finished("1", "done"),
        ToolDenied { call: CallId("2".to_owned()), by: "me".to_owned(), content: "no".to_owned() }.into(),
        ContextCompacted { summary: "short".to_owned(), by: "x".to_owned() }.into(),
    ]);
    let found: Vec<_> = session.items.iter().map(facts).collect();
    let expected = [
        (ItemKind::User, "", "", "go"),
        (ItemKind::Thinking, "", "", "hm"),
        (ItemKind::Assistant, "", "", "I'll edit."),
        (ItemKind::ToolCall, "edit_file", "src/a.rs", "src/./a.rs\none\ntwo"),
        (ItemKind::ToolCall, "bash", "", "ls"),
        (ItemKind::ToolResult, "edit_file", "src/a.rs", "done"),
        (ItemKind::ToolResult, "bash", "", "no"),
        (ItemKind::Summary, "", "", "short"),
    ];
    assert_eq!(found, expected);
    assert_eq!(session.items[3].replaced(), ["one"]);
    assert_eq!(session.requests().len(), 1);
    assert!(session.items.is_sorted_by_key(|item| item.at_ms));
}

#[test]
fn calls_of_other_agents_name_their_files_in_their_own_way() {
    let session = played(&[
        started(),
        called("1", "Read", &json!({ "file_path": "/work/here/src/b.rs" })),
        finished("1", "text"),
        called("2", "Read", &json!({ "file_path": "/elsewhere/c.rs" })),
        finished("9", "nobody's result"),
    ]);
    let paths: Vec<&str> = session.items.iter().map(|item| item.path.as_str()).collect();
    assert_eq!(paths, ["src/b.rs", "src/b.rs", "/elsewhere/c.rs", ""]);
    assert_eq!(session.items[3].tool, "");
}

#[test]
fn an_answer_that_is_no_list_says_nothing() {
    assert_eq!(played(&[started(), answered(&json!("text"))]).items, []);
}

//! Sessions made by hand, and as chance has it.

use super::super::{SummaryCursor, SummaryNode};
use proptest::prelude::*;
use retrace_events::payload::session::{PlanItem, PlanStatus, SessionPlanned, SessionStarted};
use retrace_events::payload::tool::{
    ToolBackgroundEnded, ToolBackgroundStarted, ToolCalled, ToolEffect, ToolExit, ToolFinished,
};
use retrace_events::payload::turn::{
    PromptSource, TurnAnswered, TurnEnded, TurnInterrupted, TurnOutcome, TurnPrompted, Usage,
};
use retrace_events::redact::Redactor;
use retrace_events::testing::{EventMaker, example_settings, example_stream};
use retrace_events::{CallId, Event, EventId, Payload, StreamId};
use serde_json::json;
use std::sync::LazyLock;

/// What the redactor of these tests knows.
pub(super) const SECRET: &str = "hunter2-correct-horse";

pub(super) fn redactor() -> &'static Redactor {
    static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new(vec![SECRET.to_owned()]));
    &REDACTOR
}

pub(super) fn stream() -> StreamId {
    example_stream("tested")
}

/// The events of a session with these payloads.
pub(super) fn events(payloads: &[Payload]) -> Vec<Event> {
    let mut maker = EventMaker::new(stream(), 7);
    payloads.iter().map(|payload| Event::decode(maker.payload(payload, None)).unwrap()).collect()
}

/// The whole tree of a session: its final nodes in the order they came in, and the cursor behind its last event.
pub(super) fn tree(events: &[Event]) -> (Vec<SummaryNode>, SummaryCursor) {
    let (mut cursor, redactor) = (SummaryCursor::new(stream()), redactor());
    let nodes = events.iter().flat_map(|event| cursor.apply(event, redactor)).collect();
    (nodes, cursor)
}

/// The leaves of a session, the open one last.
pub(super) fn leaves(payloads: &[Payload]) -> Vec<SummaryNode> {
    let (nodes, cursor) = tree(&events(payloads));
    nodes.into_iter().filter(|node| node.level == 0).chain(cursor.open()).collect()
}

pub(super) fn started() -> Payload {
    let (title, workspace) = ("a title".to_owned(), "/home/ada/project".to_owned());
    SessionStarted { title, workspace, retrace_version: "0.1.0".to_owned(), settings: example_settings() }.into()
}

pub(super) fn prompt(text: &str) -> Payload {
    TurnPrompted { text: text.to_owned(), source: PromptSource::Local, attachments: Vec::new() }.into()
}

/// An answer with these words and calls of these ids.
pub(super) fn answer(text: &str, calls: &[&str]) -> Payload {
    let mut blocks = vec![json!({ "type": "thinking", "thinking": "the secret thoughts", "signature": "s" })];
    if !text.is_empty() {
        blocks.push(json!({ "type": "text", "text": text }));
    }
    blocks.extend(calls.iter().map(|id| json!({ "type": "tool_use", "id": id, "name": "bash", "input": {} })));
    TurnAnswered {
        request: EventId(uuid::Uuid::nil()),
        content: serde_json::Value::from(blocks).to_string(),
        model: "m".to_owned(),
        stop_reason: if calls.is_empty() { "end_turn" } else { "tool_use" }.to_owned(),
        stop_details: None,
        usage: Usage::default(),
        cost_microusd: 1,
        request_id: None,
        duration_ms: 10,
    }
    .into()
}

pub(super) fn called(call: &str, tool: &str, input: &serde_json::Value) -> Payload {
    let looks = matches!(tool, "read_file" | "search_files" | "list_dir" | "ask_user");
    ToolCalled {
        call: CallId(call.to_owned()),
        tool: tool.to_owned(),
        input: input.to_string(),
        request: EventId(uuid::Uuid::nil()),
        effect: if looks { ToolEffect::ReadOnly } else { ToolEffect::Writes },
    }
    .into()
}

pub(super) fn bash(call: &str, command: &str) -> Payload {
    called(call, "bash", &json!({ "command": command }))
}

pub(super) fn code(code: i32) -> Option<ToolExit> {
    Some(ToolExit { code: Some(code), signal: None, timed_out: false })
}

pub(super) fn finished(call: &str, exit: Option<ToolExit>, content: &str, changed: &[&str]) -> Payload {
    ToolFinished {
        call: CallId(call.to_owned()),
        is_error: exit.is_some_and(|exit| exit.code != Some(0)),
        content: content.to_owned(),
        exit,
        output: None,
        changed: changed.iter().map(|path| (*path).to_owned()).collect(),
        duration_ms: 5,
    }
    .into()
}

pub(super) fn failed(call: &str, content: &str) -> Payload {
    let Payload::Tool(retrace_events::payload::Tool::Finished(mut done)) = finished(call, None, content, &[]) else {
        unreachable!("it was just made")
    };
    done.is_error = true;
    done.into()
}

pub(super) fn planned(items: &[(&str, PlanStatus)]) -> Payload {
    let items = items.iter().map(|(text, status)| PlanItem { text: (*text).to_owned(), status: *status }).collect();
    SessionPlanned { call: CallId("plan".to_owned()), items }.into()
}

pub(super) fn ended(outcome: TurnOutcome) -> Payload {
    TurnEnded { outcome, note: "a note".to_owned() }.into()
}

pub(super) fn interrupted() -> Payload {
    TurnInterrupted { by: "signal".to_owned(), during: "a call".to_owned() }.into()
}

/// A session of `turns` turns of one step each, all alike but for a number.
pub(super) fn long(turns: usize) -> Vec<Payload> {
    let turn = |number: usize| {
        [
            prompt(&format!("please mend part {number} of the parser")),
            answer(&format!("I decided to mend part {number}."), &[]),
            ended(TurnOutcome::Completed),
        ]
    };
    std::iter::once(started()).chain((0..turns).flat_map(turn)).collect()
}

/// Any text, hostile ones among them.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z ,.]{0,80}",
        1 => any::<String>(),
        1 => Just(format!("the key {SECRET} is here")),
        1 => Just("wörd \u{1b}[31m❤\u{202e} ".repeat(40)),
        1 => Just("x".repeat(3_000)),
    ]
}

/// Any event of a session.
fn payload() -> impl Strategy<Value = Payload> {
    let call = || prop_oneof![Just("a"), Just("b"), Just("c")];
    let status = prop_oneof![Just(PlanStatus::Pending), Just(PlanStatus::InProgress), Just(PlanStatus::Done)];
    prop_oneof![
        text().prop_map(|text| prompt(&text)),
        (text(), any::<bool>()).prop_map(|(text, calls)| answer(&text, if calls { &["a", "b"] } else { &[] })),
        (call(), text()).prop_map(|(call, command)| bash(call, &command)),
        (call(), text()).prop_map(|(call, path)| called(call, "read_file", &json!({ "path": path }))),
        (call(), text()).prop_map(|(call, path)| called(call, "write_file", &json!({ "path": path, "content": "x" }))),
        (call(), text(), 0..3_i32, text()).prop_map(|(call, content, exit, path)| finished(
            call,
            code(exit),
            &content,
            &[&path]
        )),
        (call(), text()).prop_map(|(call, content)| failed(call, &content)),
        proptest::collection::vec((text(), status), 0..20).prop_map(|items| {
            let items: Vec<(&str, PlanStatus)> = items.iter().map(|(text, status)| (text.as_str(), *status)).collect();
            planned(&items)
        }),
        call().prop_map(|call| {
            ToolBackgroundStarted { call: CallId(call.to_owned()), command: "serve".to_owned() }.into()
        }),
        (call(), 0..3_i32).prop_map(|(call, exit)| {
            let (call, why) = (CallId(call.to_owned()), "it ended".to_owned());
            ToolBackgroundEnded { call, exit: code(exit), output: None, why }.into()
        }),
        Just(ended(TurnOutcome::Completed)),
        Just(ended(TurnOutcome::Stuck)),
        Just(interrupted()),
    ]
}

/// Any session, calls without results and results without calls included.
pub(super) fn session(events: usize) -> impl Strategy<Value = Vec<Payload>> {
    proptest::collection::vec(payload(), 0..events)
}

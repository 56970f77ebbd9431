//! What sessions become: in pictures, in properties, and at their worst.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod body_tests;
mod clean_tests;
mod hostile_tests;
mod input_tests;
mod lineage_tests;
mod notes_tests;
mod path_tests;
mod property_tests;
mod session_tests;

use super::session_cursor::SessionCursor;
use super::unit::Extracted;
use crate::document::Document;
use retrace_events::log::Position;
use retrace_events::payload::session::SessionStarted;
use retrace_events::payload::tool::{ToolCalled, ToolEffect, ToolExit, ToolFinished};
use retrace_events::payload::turn::{PromptSource, TurnAnswered, TurnPrompted, Usage};
use retrace_events::redact::Redactor;
use retrace_events::testing::{EventMaker, example_settings, example_stream};
use retrace_events::{CallId, Event, EventId, Payload};
use std::fmt::Write as _;

/// The events of one stream, the positions being the places in it plus 100.
fn events(payloads: &[Payload]) -> Vec<Event> {
    let mut maker = EventMaker::new(example_stream("s"), 1);
    payloads.iter().map(|payload| Event::decode(maker.payload(payload, None)).unwrap()).collect()
}

fn redactor() -> Redactor {
    Redactor::new(vec!["correct-horse-battery".to_owned()])
}

/// What each event becomes.
fn extracted(events: &[Event]) -> Vec<Extracted> {
    let mut cursor = SessionCursor::new(&example_stream("s"));
    let redactor = redactor();
    events.iter().map(|event| cursor.apply(Position(100 + event.envelope.seq), event, &redactor)).collect()
}

fn documents(payloads: &[Payload]) -> Vec<Document> {
    extracted(&events(payloads)).into_iter().flat_map(|extracted| extracted.documents).collect()
}

/// One line a document: what is not plain from the others.
fn picture(documents: &[Document]) -> String {
    let mut picture = String::new();
    for document in documents {
        let name = document.key.rsplit('.').take(2).collect::<Vec<_>>();
        let (seq, part) = (name[1].rsplit('/').next().unwrap(), name[0]);
        write!(picture, "{seq}.{part} o{} s{} {}", document.ordinal, document.step, document.kind.name()).unwrap();
        if let Some(tool) = &document.tool {
            write!(picture, " {tool}").unwrap();
        }
        if !document.paths.is_empty() {
            write!(picture, " [{}]", document.paths.join(", ")).unwrap();
        }
        if let Some(exit) = document.exit {
            write!(picture, " exit {exit}").unwrap();
        }
        writeln!(picture, "{} {:?}", if document.is_error { " !" } else { "" }, document.text).unwrap();
    }
    picture
}

fn started(workspace: &str) -> Payload {
    SessionStarted {
        title: "a title".into(),
        workspace: workspace.into(),
        retrace_version: "0".into(),
        settings: example_settings(),
    }
    .into()
}

fn prompt(text: &str) -> Payload {
    TurnPrompted { text: text.into(), source: PromptSource::Local, attachments: Vec::new() }.into()
}

fn answer(content: &str) -> Payload {
    TurnAnswered {
        request: EventId(uuid::Uuid::nil()),
        content: content.into(),
        model: "m".into(),
        stop_reason: "end_turn".into(),
        stop_details: None,
        usage: Usage::default(),
        cost_microusd: 0,
        request_id: None,
        duration_ms: 1,
    }
    .into()
}

fn called(call: &str, tool: &str, input: &str) -> Payload {
    let request = EventId(uuid::Uuid::nil());
    let effect = ToolEffect::Writes;
    ToolCalled { call: CallId(call.into()), tool: tool.into(), input: input.into(), request, effect }.into()
}

fn finished(call: &str, code: Option<i32>, content: &str) -> ToolFinished {
    ToolFinished {
        call: CallId(call.into()),
        is_error: code.is_some_and(|code| code != 0),
        content: content.into(),
        exit: code.map(|code| ToolExit { code: Some(code), signal: None, timed_out: false }),
        output: None,
        changed: Vec::new(),
        duration_ms: 1,
    }
}

//! Sessions made by hand, for commands that only look: no agent runs, and every figure is known beforehand.

use super::Machine;
use crate::cli::session_name::project;
use retrace_events::payload::sandbox::SandboxStarted;
use retrace_events::payload::session::SessionStarted;
use retrace_events::payload::tool::{ToolCalled, ToolEffect, ToolExit, ToolFinished};
use retrace_events::payload::turn::{PromptSource, TurnAnswered, TurnEnded, TurnOutcome, TurnPrompted, Usage};
use retrace_events::testing::{EventMaker, example_settings};
use retrace_events::{CallId, Class, Envelope, EventId, Payload, StreamId, Token};

/// The key of the tests' user, which must never be seen.
pub(super) const SECRET: &str = "hunter2-correct-horse";

/// A machine whose user has [`SECRET`] as a key, and no API.
pub(super) fn secretive() -> Machine {
    let mut machine = Machine::alone();
    machine.set("ANTHROPIC_API_KEY", SECRET);
    machine
}

/// The stream of a session of this machine's workspace.
pub(super) fn stream(machine: &Machine, id: &str) -> StreamId {
    let (tenant, id) = (Token::slug("local"), Token::new(id).unwrap());
    StreamId { tenant, project: project(&machine.workspace), class: Class::Session, id }
}

/// Stores a session with these events.
pub(super) async fn put(machine: &Machine, id: &str, payloads: &[Payload]) {
    let mut maker = EventMaker::new(stream(machine, id), seed(id));
    let events: Vec<Envelope> = payloads.iter().map(|payload| maker.payload(payload, None)).collect();
    append(machine, &events).await;
}

/// Stores events as they are.
pub(super) async fn append(machine: &Machine, events: &[Envelope]) {
    machine.log().await.append(events).await.unwrap();
}

/// Sessions of different names have different events.
pub(super) fn seed(id: &str) -> u64 {
    id.bytes().fold(7, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)))
}

pub(super) fn started(title: &str) -> Payload {
    let (workspace, retrace_version) = ("/home/ada/project".to_owned(), "0.1.0".to_owned());
    SessionStarted { title: title.to_owned(), workspace, retrace_version, settings: example_settings() }.into()
}

pub(super) fn sandboxed() -> Payload {
    let kind = "process".to_owned();
    SandboxStarted { backend: kind.clone(), level: kind, proofs: Vec::new(), limits: Vec::new() }.into()
}

pub(super) fn prompted(words: &str) -> Payload {
    TurnPrompted { text: words.to_owned(), source: PromptSource::Local, attachments: Vec::new() }.into()
}

pub(super) fn answered(words: &str, cost_microusd: u64) -> Payload {
    TurnAnswered {
        request: EventId(uuid::Uuid::nil()),
        content: serde_json::json!([{ "type": "text", "text": words }]).to_string(),
        model: "m".to_owned(),
        stop_reason: "end_turn".to_owned(),
        stop_details: None,
        usage: Usage { input_tokens: 1_000, output_tokens: 234, ..Usage::default() },
        cost_microusd,
        request_id: None,
        duration_ms: 10,
    }
    .into()
}

pub(super) fn called(call: &str, tool: &str, input: &serde_json::Value) -> Payload {
    ToolCalled {
        call: CallId(call.to_owned()),
        tool: tool.to_owned(),
        input: input.to_string(),
        request: EventId(uuid::Uuid::nil()),
        effect: ToolEffect::Writes,
    }
    .into()
}

pub(super) fn finished(call: &str, exit: Option<ToolExit>, changed: &[&str]) -> Payload {
    ToolFinished {
        call: CallId(call.to_owned()),
        is_error: false,
        content: "out".to_owned(),
        exit,
        output: None,
        changed: changed.iter().map(|path| (*path).to_owned()).collect(),
        duration_ms: 5,
    }
    .into()
}

pub(super) const fn code(code: i32) -> Option<ToolExit> {
    Some(ToolExit { code: Some(code), signal: None, timed_out: false })
}

pub(super) fn ended(outcome: TurnOutcome) -> Payload {
    TurnEnded { outcome, note: "a note".to_owned() }.into()
}

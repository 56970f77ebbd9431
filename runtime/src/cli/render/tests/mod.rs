//! Tests of what people see.

mod asks;
mod clean;
mod conversation;
mod kinds;
mod live;
mod markdown;
mod pieces;
mod plain_reference;
mod streamed;
mod transcript;
mod units;

use super::{Detail, Style, Transcript};
use crate::tools;
use retrace_events::payload::Payload;
use retrace_events::redact::Redactor;
use retrace_events::testing::{EventMaker, example_settings, example_stream};
use retrace_events::{CallId, Event, EventId, payload};
use std::sync::{Arc, LazyLock};

/// A known secret of the tests' user.
const SECRET: &str = "hunter2-correct-horse";

fn redactor() -> Arc<Redactor> {
    // Building one takes longer than most tests.
    static REDACTOR: LazyLock<Arc<Redactor>> = LazyLock::new(|| Arc::new(Redactor::new(vec![SECRET.to_owned()])));
    Arc::clone(&REDACTOR)
}

fn transcript(detail: Detail) -> Transcript {
    Transcript::new(Style::Plain, detail, redactor(), tools::all())
}

fn events(payloads: Vec<Payload>) -> Vec<Event> {
    let mut maker = EventMaker::new(example_stream("00000000-11111111"), 1);
    payloads.iter().map(|payload| Event::decode(maker.payload(payload, None)).unwrap()).collect()
}

/// The text of `payloads`, as one transcript.
fn text(detail: Detail, payloads: Vec<Payload>) -> String {
    let mut transcript = transcript(detail);
    events(payloads).iter().map(|event| transcript.event(event)).collect()
}

fn some_event() -> EventId {
    events(vec![prompted("x")])[0].envelope.id
}

fn started(sandbox: &str) -> Vec<Payload> {
    let session = payload::session::SessionStarted {
        title: "a title".to_owned(),
        workspace: "/home/me/project".to_owned(),
        retrace_version: "0.1.0".to_owned(),
        settings: example_settings(),
    };
    let proof =
        |name: &str| payload::sandbox::SandboxProof { name: name.to_owned(), passed: true, detail: String::new() };
    let sandbox = payload::sandbox::SandboxStarted {
        backend: sandbox.to_owned(),
        level: sandbox.to_owned(),
        proofs: vec![proof("network"), proof("root")],
        limits: Vec::new(),
    };
    vec![session.into(), sandbox.into()]
}

fn prompted(words: &str) -> Payload {
    let source = payload::turn::PromptSource::Local;
    payload::turn::TurnPrompted { text: words.to_owned(), source, attachments: Vec::new() }.into()
}

fn answered(content: &str) -> Payload {
    payload::turn::TurnAnswered {
        request: EventId(uuid::Uuid::nil()),
        content: content.to_owned(),
        model: "m".to_owned(),
        stop_reason: "end_turn".to_owned(),
        stop_details: None,
        usage: payload::turn::Usage {
            input_tokens: 1_200,
            cache_read_tokens: 34_000,
            output_tokens: 56,
            ..Default::default()
        },
        cost_microusd: 12_345,
        request_id: None,
        duration_ms: 2_340,
    }
    .into()
}

fn called(call: &str, tool: &str, input: &str) -> Payload {
    payload::tool::ToolCalled {
        call: CallId(call.to_owned()),
        tool: tool.to_owned(),
        input: input.to_owned(),
        request: some_event(),
        effect: payload::tool::ToolEffect::Writes,
    }
    .into()
}

fn finished(call: &str, code: Option<i32>, content: &str) -> Payload {
    payload::tool::ToolFinished {
        call: CallId(call.to_owned()),
        is_error: code.is_some_and(|code| code != 0),
        content: content.to_owned(),
        exit: code.map(|code| payload::tool::ToolExit { code: Some(code), signal: None, timed_out: false }),
        output: None,
        changed: Vec::new(),
        duration_ms: 1_234,
    }
    .into()
}

/// `text` without the sequences that [`Style`] writes: numbers and an `m`. All others stay, for whoever looks for them.
fn uncoloured(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let codes = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').len();
        match part[codes..].strip_prefix('m') {
            Some(rest) if codes > 0 => plain.push_str(rest),
            Some(_) | None => plain.push_str(&format!("\u{1b}[{part}")),
        }
    }
    plain
}

/// `text` with its colour codes as `‹1;36›`, and where they end as `‹›`, so that they can be read.
fn readable(text: &str) -> String {
    text.replace("\u{1b}[0m", "‹›")
        .replace("\u{1b}[", "‹")
        .split('‹')
        .enumerate()
        .map(|(at, part)| match at {
            0 => part.to_owned(),
            _ => format!("‹{}", part.replacen('m', if part.starts_with('›') { "m" } else { "›" }, 1)),
        })
        .collect()
}

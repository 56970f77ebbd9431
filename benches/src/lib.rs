//! What the benchmarks share: a session of any length, shaped like a real one.

pub mod localisation;
pub mod locomo;
pub mod logged_session;
pub mod made;
pub mod recorded;
pub mod scale;

use retrace_events::payload::context::ContextEpochStarted;
use retrace_events::payload::session::SessionStarted;
use retrace_events::payload::settings::{Budget, Settings};
use retrace_events::payload::tool::{ToolCalled, ToolEffect, ToolExit, ToolFinished};
use retrace_events::payload::turn::{PromptSource, TurnAnswered, TurnPrompted, TurnRequested, Usage};
use retrace_events::{CallId, Class, EventId, Hash, Payload, StreamId, Token};

/// The stream of a session in the benchmarks.
#[must_use]
pub fn stream(name: &str) -> StreamId {
    StreamId {
        tenant: Token::slug("bench"),
        project: Token::slug("bench"),
        class: Class::Session,
        id: Token::slug(name),
    }
}

/// An event of about 1 KB, the size the measurements of other systems were made with.
#[must_use]
pub fn one_kilobyte() -> Payload {
    finished(0, &"0123456789abcdef".repeat(60))
}

/// The payloads of a session of `events` events: a prompt, and then steps of request, answer, call and result, with about
/// 0.5 KB in each answer and result.
#[must_use]
pub fn session(events: usize) -> Vec<Payload> {
    let nil = EventId(uuid::Uuid::nil());
    let mut payloads = vec![started(), prompt(), epoch()];
    let mut step = 0;
    while payloads.len() < events {
        payloads.push(request(nil).into());
        payloads.push(answer(nil, step).into());
        payloads.push(called(nil, step).into());
        payloads.push(finished(step, &"a line of output of a tool\n".repeat(18)));
        step += 1;
    }
    payloads.truncate(events);
    payloads
}

fn started() -> Payload {
    SessionStarted {
        title: "bench".into(),
        workspace: "/bench".into(),
        retrace_version: "0".into(),
        settings: settings(),
    }
    .into()
}

/// Settings as a session logs them.
fn settings() -> Settings {
    Settings {
        model: "claude-opus-5-5".into(),
        max_tokens: 32_000,
        thinking: None,
        base_url: "http://localhost".into(),
        sandbox: "auto".into(),
        budget: Budget::default(),
        command_timeout_ms: 120_000,
        max_attempts: 6,
        effort: None,
        approvals: "auto".into(),
        tree_budget: Budget::default(),
    }
}

fn prompt() -> Payload {
    TurnPrompted { text: "make it faster".into(), source: PromptSource::Local, attachments: Vec::new() }.into()
}

fn epoch() -> Payload {
    ContextEpochStarted {
        number: 1,
        renderer: 1,
        model: "claude-opus-5-5".into(),
        model_row: "{}".into(),
        system: "[]".into(),
        tools: "[]".into(),
        max_tokens: 32_000,
        thinking: None,
        output_config: None,
        seed: Vec::new(),
        from_seq: 0,
        why: "bench".into(),
        compacted: None,
    }
    .into()
}

fn request(epoch: EventId) -> TurnRequested {
    TurnRequested {
        attempt: 1,
        epoch,
        body_hash: Hash::of(b"body"),
        body_bytes: 10_000,
        model: "claude-opus-5-5".into(),
        estimated_input_tokens: 3_000,
        cost_bound_microusd: 900_000,
    }
}

fn answer(request: EventId, step: usize) -> TurnAnswered {
    let words = "a sentence of what the model thinks about the next step. ".repeat(6);
    let content = format!(
        r#"[{{"type":"text","text":"{words}"}},{{"type":"tool_use","id":"toolu_{step}","name":"bash","input":{{"command":"cargo test"}}}}]"#
    );
    TurnAnswered {
        request,
        content,
        model: "claude-opus-5-5".into(),
        stop_reason: "tool_use".into(),
        stop_details: None,
        usage: Usage { input_tokens: 10, cache_read_tokens: 3_000, output_tokens: 90, ..Usage::default() },
        cost_microusd: 5_000,
        request_id: Some("req_bench".into()),
        duration_ms: 2_000,
    }
}

fn called(answer: EventId, step: usize) -> ToolCalled {
    ToolCalled {
        call: CallId(format!("toolu_{step}")),
        tool: "bash".into(),
        input: r#"{"command":"cargo test"}"#.into(),
        request: answer,
        effect: ToolEffect::Writes,
    }
}

fn finished(step: usize, content: &str) -> Payload {
    ToolFinished {
        call: CallId(format!("toolu_{step}")),
        is_error: false,
        content: content.to_owned(),
        exit: Some(ToolExit { code: Some(0), signal: None, timed_out: false }),
        output: None,
        changed: Vec::new(),
        duration_ms: 100,
    }
    .into()
}

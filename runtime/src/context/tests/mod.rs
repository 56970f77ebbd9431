//! Tests of context assembly: all renderers, epochs, framing, and what is carried over.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod carried_tests;
mod epoch_tests;
mod first_tests;
mod fitted_tests;
mod framing_tests;
mod inventory_tests;
mod kept_tests;
mod random_tests;
mod second_tests;
mod sessions;
mod system_prompt_tests;
mod third_tests;

use super::render;
use retrace_events::log::MemoryLog;
use retrace_events::mint::SeededMint;
use retrace_events::payload::context::{
    ContextEpochStarted, ContextImageAttached, ContextPassage, ContextRetrieved, ContextSource,
};
use retrace_events::payload::settings::{Budget, Settings};
use retrace_events::payload::tool::{ToolBackgroundEnded, ToolBackgroundStarted, ToolFinished};
use retrace_events::payload::turn::{PromptSource, TurnAnswered, TurnPrompted, TurnWarned, Usage};
use retrace_events::{CallId, Class, EventId, Hash, Payload, SessionState, StreamId, Token, Writer};
use serde_json::Value;
use std::sync::Arc;

/// A PNG of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

fn settings(model: &str) -> Settings {
    Settings {
        model: model.to_owned(),
        max_tokens: 32_000,
        thinking: None,
        effort: None,
        base_url: "http://localhost".into(),
        sandbox: "auto".into(),
        approvals: "auto".into(),
        budget: Budget::default(),
        tree_budget: Budget::default(),
        command_timeout_ms: 1_000,
        max_attempts: 3,
    }
}

/// A small epoch of the given renderer.
fn epoch(renderer: u32) -> ContextEpochStarted {
    ContextEpochStarted {
        number: 1,
        renderer,
        model: "claude-test".into(),
        model_row: "{}".into(),
        system: r#"[ {"type":"text","text":"be good"} ]"#.into(),
        tools: r#"[{"name":"bash"}]"#.into(),
        max_tokens: 100,
        thinking: Some(r#"{"type":"adaptive"}"#.into()),
        output_config: None,
        seed: Vec::new(),
        from_seq: 0,
        why: String::new(),
        compacted: None,
    }
}

fn prompt(text: &str) -> Payload {
    TurnPrompted { text: text.into(), source: PromptSource::Local, attachments: Vec::new() }.into()
}

fn answer(content: &str) -> Payload {
    TurnAnswered {
        request: EventId(uuid::Uuid::nil()),
        content: content.into(),
        model: "claude-test".into(),
        stop_reason: "tool_use".into(),
        stop_details: None,
        usage: Usage::default(),
        cost_microusd: 0,
        request_id: None,
        duration_ms: 0,
    }
    .into()
}

fn result(call: &str, content: &str, is_error: bool) -> Payload {
    ToolFinished {
        call: CallId(call.into()),
        is_error,
        content: content.into(),
        exit: None,
        output: None,
        changed: Vec::new(),
        duration_ms: 0,
    }
    .into()
}

fn image(call: Option<&str>) -> Payload {
    ContextImageAttached {
        name: "dot.png".into(),
        media_type: "image/png".into(),
        data_base64: PIXEL.into(),
        call: call.map(|call| CallId(call.into())),
        width_px: 1,
        height_px: 1,
    }
    .into()
}

fn warned(note: &str) -> Payload {
    TurnWarned { rule: "same_step".into(), note: note.into() }.into()
}

/// A command in the background that begins and ends.
fn background(call: &str, command: &str, why: &str) -> [Payload; 2] {
    let call = CallId(call.into());
    let started = ToolBackgroundStarted { call: call.clone(), command: command.into() };
    [started.into(), ToolBackgroundEnded { call, exit: None, output: None, why: why.into() }.into()]
}

fn instructions(path: &str, text: &str) -> ContextPassage {
    ContextPassage { text: text.into(), source: ContextSource::Instructions(path.into()), tokens: 1, score_milli: 1 }
}

fn retrieved(passages: Vec<ContextPassage>) -> Payload {
    ContextRetrieved { query: "q".into(), passages, index_position: 0 }.into()
}

/// The states after each of `payloads`.
fn states(payloads: Vec<Payload>) -> Vec<SessionState> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let stream = StreamId {
            tenant: Token::slug("l"),
            project: Token::slug("p"),
            class: Class::Session,
            id: Token::slug("s"),
        };
        let log = Arc::new(MemoryLog::new());
        let mut writer = Writer::create(log, Arc::new(SeededMint::new(1)), stream, Hash::GENESIS);
        let mut state = SessionState::default();
        let mut states = Vec::new();
        for payload in payloads {
            for event in writer.append(vec![(payload, None)]).await.unwrap() {
                state.apply(&event);
            }
            states.push(state.clone());
        }
        states
    })
}

/// The body of the request after `payloads`.
fn body(payloads: Vec<Payload>) -> String {
    String::from_utf8(render(states(payloads).last().unwrap()).unwrap()).unwrap()
}

fn json(payloads: Vec<Payload>) -> Value {
    serde_json::from_str(&body(payloads)).unwrap()
}

/// Everything in a body before the conversation, and the blocks of the conversation with their roles; without the
/// marks, which may move.
fn blocks(body: &[u8]) -> (Value, Vec<(String, Value)>) {
    let mut json: Value = serde_json::from_slice(body).unwrap();
    let mut blocks = Vec::new();
    for message in json["messages"].take().as_array().unwrap() {
        for block in message["content"].as_array().unwrap() {
            let mut block = block.clone();
            block.as_object_mut().unwrap().shift_remove("cache_control");
            blocks.push((message["role"].as_str().unwrap().to_owned(), block));
        }
    }
    (json, blocks)
}

fn marks(body: &[u8]) -> usize {
    String::from_utf8_lossy(body).matches(r#""cache_control""#).count()
}

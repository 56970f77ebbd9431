//! The renderer: exact bytes, append-only inside an epoch, breakpoints, and what it refuses.

use super::{RENDERER, RenderError, first_epoch, render};
use crate::claude::ModelTable;
use expect_test::expect;
use proptest::prelude::*;
use retrace_events::log::MemoryLog;
use retrace_events::mint::SeededMint;
use retrace_events::payload::context::{ContextEpochStarted, ContextPassage, ContextRetrieved, ContextSource};
use retrace_events::payload::settings::{Budget, Settings};
use retrace_events::payload::tool::ToolFinished;
use retrace_events::payload::turn::{PromptSource, TurnAnswered, TurnInterrupted, TurnPrompted, Usage};
use retrace_events::{CallId, Class, EventId, Hash, Payload, SessionState, StreamId, Token, Writer};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

fn epoch() -> ContextEpochStarted {
    ContextEpochStarted {
        number: 1,
        renderer: RENDERER,
        model: "claude-test".into(),
        model_row: "{}".into(),
        system: r#"[ {"type":"text","text":"be good"} ]"#.into(),
        tools: r#"[{"name":"bash"}]"#.into(),
        max_tokens: 100,
        thinking: Some(r#"{"type":"adaptive"}"#.into()),
        seed: Vec::new(),
        from_seq: 0,
        why: String::new(),
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

fn body(payloads: Vec<Payload>) -> String {
    String::from_utf8(render(states(payloads).last().unwrap()).unwrap()).unwrap()
}

#[test]
fn a_request_is_these_bytes() {
    let raw = "[ {\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"s\\u0041\"},\n{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"bash\",\"input\":{ \"n\": 1.0e2}}]";
    let body = body(vec![prompt("hi \"you\""), epoch().into(), answer(raw), result("a", "exit code: 1", true)]);
    expect![[r#"
        {"model":"claude-test","max_tokens":100,"stream":true,"thinking":{"type":"adaptive"},"tools":[{"name":"bash"}],"system":[ {"type":"text","text":"be good"} ],"messages":[{"role":"user","content":[{"type":"text","text":"hi \"you\"","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[ {"type":"thinking","thinking":"","signature":"s\u0041"},
        {"type":"tool_use","id":"a","name":"bash","input":{ "n": 1.0e2}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"exit code: 1","is_error":true,"cache_control":{"type":"ephemeral"}}]}]}"#]]
    .assert_eq(&body);
}

#[test]
fn an_interrupted_turn_and_the_next_prompt_make_one_message() {
    let interrupted = TurnInterrupted { by: "signal".into(), during: "x".into() };
    let body = body(vec![prompt("one"), epoch().into(), interrupted.into(), prompt("two")]);
    let json: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(json["messages"].as_array().unwrap().len(), 1);
    assert_eq!(json["messages"][0]["content"].as_array().unwrap().len(), 3);
}

#[test]
fn an_answer_without_content_is_left_out() {
    let body = body(vec![prompt("one"), epoch().into(), answer("[]"), prompt("two")]);
    let json: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(json["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn what_cannot_be_rendered_is_refused() {
    assert!(matches!(render(&SessionState::default()), Err(RenderError::NoEpoch)));
    let of = |payloads| render(states(payloads).last().unwrap());
    let unknown = ContextEpochStarted { renderer: 99, ..epoch() };
    assert!(matches!(of(vec![unknown.into()]), Err(RenderError::UnknownRenderer(99))));
    let broken = ContextEpochStarted { tools: "[".into(), ..epoch() };
    assert!(matches!(of(vec![broken.into()]), Err(RenderError::NotJson { what: "tools", .. })));
    let passage =
        ContextPassage { text: "x".into(), source: ContextSource::Summary("n".into()), tokens: 1, score_milli: 1 };
    let seeded = ContextEpochStarted { seed: vec![passage.clone()], ..epoch() };
    assert!(matches!(of(vec![seeded.into()]), Err(RenderError::Foreign(_))));
    let found = ContextRetrieved { query: "q".into(), passages: vec![passage], index_position: 1 };
    assert!(matches!(of(vec![epoch().into(), found.into()]), Err(RenderError::Foreign(_))));
}

#[test]
fn the_first_epoch_is_written_verbatim() {
    let settings = Settings {
        model: "claude-opus-5-5".into(),
        max_tokens: 32_000,
        thinking: None,
        base_url: "http://localhost".into(),
        sandbox: "auto".into(),
        budget: Budget::default(),
        command_timeout_ms: 1_000,
        max_attempts: 3,
    };
    let row = ModelTable::builtin().unwrap().row(&settings.model);
    let epoch = first_epoch(&settings, &row, "[]".into(), Path::new("/work \"space\""), "process").unwrap();
    let system: Value = serde_json::from_str(&epoch.system).unwrap();
    assert!(system[0]["text"].as_str().unwrap().contains("/work \"space\""));
    assert_eq!(system[0]["cache_control"]["ttl"], "1h");
    assert_eq!(serde_json::from_str::<crate::claude::ModelRow>(&epoch.model_row).unwrap(), row);
    assert_eq!((epoch.model.as_str(), epoch.max_tokens, epoch.number), ("claude-opus-5-5", 32_000, 1));
}

/// A conversation of steps: what the user said, then per step the number of parallel calls and their results' texts.
fn conversation() -> impl Strategy<Value = Vec<Vec<String>>> {
    prop::collection::vec(prop::collection::vec("\\PC{0,20}", 1..6), 1..8)
}

fn payloads(steps: &[Vec<String>]) -> Vec<Payload> {
    let mut payloads = vec![prompt("begin"), epoch().into()];
    for (number, results) in steps.iter().enumerate() {
        let block = |i: usize| format!(r#"{{"type":"tool_use","id":"c{number}_{i}","name":"bash","input":{{}}}}"#);
        let blocks: Vec<String> = (0..results.len()).map(block).collect();
        payloads.push(answer(&format!("[{}]", blocks.join(","))));
        for (i, text) in results.iter().enumerate().rev() {
            payloads.push(result(&format!("c{number}_{i}"), text, i % 2 == 1));
        }
    }
    payloads
}

/// Takes the marks that may move out.
fn unmarked(body: &[u8]) -> Value {
    let mut json: Value = serde_json::from_slice(body).unwrap();
    for message in json["messages"].as_array_mut().unwrap() {
        for block in message["content"].as_array_mut().unwrap() {
            block.as_object_mut().unwrap().remove("cache_control");
        }
    }
    json
}

fn marks(body: &[u8]) -> usize {
    String::from_utf8_lossy(body).matches(r#""cache_control""#).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Inside an epoch each request is the one before it with more at its end, whatever was said, and the breakpoints
    /// stay within the API's four.
    #[test]
    fn requests_only_grow_at_their_end(steps in conversation()) {
        let states = states(payloads(&steps));
        let ready = states.iter().filter(|state| state.epoch.is_some() && state.calls.is_empty());
        let bodies: Vec<Vec<u8>> = ready.map(|state| render(state).unwrap()).collect();
        prop_assert_eq!(bodies.len(), steps.len() + 1);
        for pair in bodies.windows(2) {
            let (before, after) = (unmarked(&pair[0]), unmarked(&pair[1]));
            let (old, new) = (before["messages"].as_array().unwrap(), after["messages"].as_array().unwrap());
            prop_assert_eq!(&new[..old.len()], &old[..]);
            prop_assert_eq!(&before["system"], &after["system"]);
            prop_assert_eq!(&before["tools"], &after["tools"]);
            prop_assert!(marks(&pair[1]) <= 3);
        }
    }

    /// Results stand in the order of their calls, though they were logged in the opposite one, and no text is changed.
    #[test]
    fn results_are_told_in_order_and_unchanged(steps in conversation()) {
        let states = states(payloads(&steps));
        let json: Value = serde_json::from_slice(&render(states.last().unwrap()).unwrap()).unwrap();
        let users = json["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "user").skip(1);
        for (message, expected) in users.zip(&steps) {
            let told: Vec<&str> =
                message["content"].as_array().unwrap().iter().map(|block| block["content"].as_str().unwrap()).collect();
            prop_assert_eq!(told, expected.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}

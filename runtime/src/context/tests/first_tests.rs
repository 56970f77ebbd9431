//! Renderer 1: the bytes it always made, and what it refuses.

use super::*;
use crate::context::RenderError;
use expect_test::expect;
use proptest::prelude::*;
use retrace_events::payload::turn::TurnInterrupted;

#[test]
fn a_request_is_these_bytes() {
    let raw = "[ {\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"s\\u0041\"},\n{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"bash\",\"input\":{ \"n\": 1.0e2}}]";
    let body = body(vec![prompt("hi \"you\""), epoch(1).into(), answer(raw), result("a", "exit code: 1", true)]);
    expect![[r#"
        {"model":"claude-test","max_tokens":100,"stream":true,"thinking":{"type":"adaptive"},"tools":[{"name":"bash"}],"system":[ {"type":"text","text":"be good"} ],"messages":[{"role":"user","content":[{"type":"text","text":"hi \"you\"","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[ {"type":"thinking","thinking":"","signature":"s\u0041"},
        {"type":"tool_use","id":"a","name":"bash","input":{ "n": 1.0e2}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"exit code: 1","is_error":true,"cache_control":{"type":"ephemeral"}}]}]}"#]]
    .assert_eq(&body);
}

#[test]
fn an_interrupted_turn_and_the_next_prompt_make_one_message() {
    for renderer in [1, 2, 3] {
        let interrupted = TurnInterrupted { by: "signal".into(), during: "x".into() };
        let json = json(vec![prompt("one"), epoch(renderer).into(), interrupted.into(), prompt("two")]);
        assert_eq!(json["messages"].as_array().unwrap().len(), 1);
        assert_eq!(json["messages"][0]["content"].as_array().unwrap().len(), 3);
    }
}

#[test]
fn an_answer_without_content_is_left_out() {
    for renderer in [1, 2, 3] {
        let json = json(vec![prompt("one"), epoch(renderer).into(), answer("[]"), prompt("two")]);
        assert_eq!(json["messages"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn what_cannot_be_rendered_is_refused() {
    assert!(matches!(render(&SessionState::default()), Err(RenderError::NoEpoch)));
    let of = |payloads| render(states(payloads).last().unwrap());
    assert!(matches!(of(vec![epoch(99).into()]), Err(RenderError::UnknownRenderer(99))));
    for renderer in [1, 2, 3] {
        let broken = ContextEpochStarted { tools: "[".into(), ..epoch(renderer) };
        assert!(matches!(of(vec![broken.into()]), Err(RenderError::NotJson { what: "tools", .. })));
    }
}

#[test]
fn what_came_after_the_first_renderer_is_foreign_to_it() {
    let [started, ended] = background("b", "sleep 1", "it ended");
    let call = r#"[{"type":"tool_use","id":"a","name":"bash","input":{}}]"#;
    let passage = instructions("AGENTS.md", "x");
    let foreign: Vec<(&str, Vec<Payload>)> = vec![
        ("a seed", vec![ContextEpochStarted { seed: vec![passage.clone()], ..epoch(1) }.into()]),
        ("an output_config", vec![ContextEpochStarted { output_config: Some("{}".into()), ..epoch(1) }.into()]),
        ("retrieved passages", vec![epoch(1).into(), retrieved(vec![passage])]),
        ("images", vec![epoch(1).into(), image(None), prompt("x")]),
        ("images", vec![epoch(1).into(), answer(call), image(Some("a")), result("a", "x", false)]),
        ("a warning", vec![epoch(1).into(), warned("again")]),
        ("the end of a background command", vec![epoch(1).into(), started, ended]),
        ("an answer of another epoch", vec![epoch(1).into(), prompt("x"), answer("[]"), epoch(1).into()]),
    ];
    for (expected, payloads) in foreign {
        match render(states(payloads).last().unwrap()) {
            Err(RenderError::Foreign { renderer: 1, what }) => assert_eq!(what, expected),
            other => panic!("{expected}: {other:?}"),
        }
    }
}

/// A conversation of steps: per step the results' texts of its parallel calls.
fn conversation() -> impl Strategy<Value = Vec<Vec<String>>> {
    prop::collection::vec(prop::collection::vec("\\PC{0,20}", 1..6), 1..8)
}

fn payloads(renderer: u32, steps: &[Vec<String>]) -> Vec<Payload> {
    let mut payloads = vec![prompt("begin"), epoch(renderer).into()];
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Inside an epoch each request is the one before it with more at its end, whatever was said.
    #[test]
    fn requests_only_grow_at_their_end(steps in conversation()) {
        let states = states(payloads(1, &steps));
        let ready = states.iter().filter(|state| state.epoch.is_some() && state.calls.is_empty());
        let bodies: Vec<Vec<u8>> = ready.map(|state| render(state).unwrap()).collect();
        prop_assert_eq!(bodies.len(), steps.len() + 1);
        for pair in bodies.windows(2) {
            let ((rest, old), (rest_after, new)) = (blocks(&pair[0]), blocks(&pair[1]));
            prop_assert_eq!(&new[..old.len()], &old[..]);
            prop_assert_eq!(rest, rest_after);
            prop_assert!(marks(&pair[1]) <= 3);
        }
    }

    /// Results stand in the order of their calls, though they were logged in the opposite one, and no text is changed.
    /// Of what the first renderer knows, the second makes the very same bytes.
    #[test]
    fn results_are_told_in_order_and_unchanged(steps in conversation()) {
        let bodies = [1, 2].map(|renderer| body(payloads(renderer, &steps)));
        prop_assert_eq!(&bodies[0], &bodies[1]);
        let json: Value = serde_json::from_str(&bodies[1]).unwrap();
        let users = json["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "user").skip(1);
        for (message, expected) in users.zip(&steps) {
            let told: Vec<&str> =
                message["content"].as_array().unwrap().iter().map(|block| block["content"].as_str().unwrap()).collect();
            prop_assert_eq!(told, expected.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}

//! The events of an answer, byte for byte.

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::scripted::cache::InputTokens;
use crate::scripted::frames::{Usage, events, whole_message};
use crate::scripted::plan::{Plan, PlannedBlock};
use crate::scripted::step::{Delivery, UsageOverrides};

fn plan() -> Plan {
    Plan {
        message_id: "msg_1".into(),
        blocks: vec![
            PlannedBlock::Thinking { text: "hm".into(), signature: "sig".into() },
            PlannedBlock::Text { text: "a 🦀 b".into() },
            PlannedBlock::ToolUse { id: "toolu_1".into(), name: "ls".into(), input_json: "{}".into() },
            PlannedBlock::RedactedThinking { data: "data".into() },
        ],
        stop_reason: "tool_use".into(),
        stop_sequence: None,
        stop_details: Value::Null,
        output_tokens: 12,
    }
}

fn usage() -> Usage {
    let simulated = InputTokens { fresh: 1, read: 2, written_5m: 3, written_1h: 4 };
    Usage::new(simulated, &UsageOverrides::default())
}

fn check(delivery: &Delivery, due: Expect) {
    due.assert_eq(&events(&plan(), "claude-opus-5-5", &usage(), delivery).concat().replace('\r', "<CR>"));
}

#[test]
fn the_stream() {
    check(
        &Delivery { delta_chars: 3, ..Delivery::default() },
        expect![[r#"
            event: message_start
            data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-5","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":{"input_tokens":1,"cache_creation_input_tokens":7,"cache_read_input_tokens":2,"cache_creation":{"ephemeral_5m_input_tokens":3,"ephemeral_1h_input_tokens":4},"output_tokens":1,"service_tier":"standard"}}}

            event: content_block_start
            data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

            event: ping
            data: {"type":"ping"}

            event: content_block_delta
            data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}

            event: content_block_delta
            data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}

            event: content_block_stop
            data: {"type":"content_block_stop","index":0}

            event: content_block_start
            data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

            event: content_block_delta
            data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a 🦀"}}

            event: content_block_delta
            data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":" b"}}

            event: content_block_stop
            data: {"type":"content_block_stop","index":1}

            event: content_block_start
            data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}}

            event: content_block_delta
            data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}

            event: content_block_stop
            data: {"type":"content_block_stop","index":2}

            event: content_block_start
            data: {"type":"content_block_start","index":3,"content_block":{"type":"redacted_thinking","data":"data"}}

            event: content_block_stop
            data: {"type":"content_block_stop","index":3}

            event: message_delta
            data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null,"stop_details":null},"usage":{"input_tokens":1,"cache_creation_input_tokens":7,"cache_read_input_tokens":2,"output_tokens":12}}

            event: message_stop
            data: {"type":"message_stop"}

        "#]],
    );
}

#[test]
fn the_odd_stream_says_the_same_with_more_words() {
    let odd = events(&plan(), "m", &usage(), &Delivery { odd: true, ..Delivery::default() });
    let plain = events(&plan(), "m", &usage(), &Delivery::default());
    assert!(odd.iter().all(|event| event.ends_with("\r\n\r\n")));
    assert!(odd.iter().any(|event| event.starts_with(": ")));
    assert!(odd.iter().any(|event| event.contains("event_of_the_future")));
    let extra = ["ping", "of_the_future", ": a comment"];
    let known = |list: &[String]| -> Vec<String> {
        let known = list.iter().filter(|event| !extra.iter().any(|part| event.contains(part)));
        known.map(|event| event.replace('\r', "")).collect()
    };
    assert_eq!(known(&odd), known(&plain));
}

#[test]
fn figures_of_the_step_replace_the_simulated_ones() {
    let given =
        UsageOverrides { input_tokens: Some(100), cache_creation_input_tokens: Some(2), ..UsageOverrides::default() };
    let simulated = InputTokens { fresh: 1, read: 2, written_5m: 3, written_1h: 4 };
    let usage = whole_message(&plan(), "m", &Usage::new(simulated, &given))["usage"].clone();
    assert_eq!(usage["input_tokens"], 100);
    assert_eq!(usage["cache_creation_input_tokens"], 2);
    assert_eq!(usage["cache_creation"]["ephemeral_1h_input_tokens"], 2, "a part is never more than the whole");
    assert_eq!(usage["cache_creation"]["ephemeral_5m_input_tokens"], 0);
    assert_eq!((&usage["cache_read_input_tokens"], &usage["output_tokens"]), (&2.into(), &12.into()));
}

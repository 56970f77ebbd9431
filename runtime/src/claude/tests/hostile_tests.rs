//! Streams that were damaged on the way: the client's parsers may refuse them, but never panic and never let through an
//! answer whose content is no JSON.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::claude::{Assembler, Block, SseDecoder};

/// A sound stream with all kinds of blocks.
fn stream() -> String {
    let events = [
        json!({ "type": "message_start", "message": { "id": "msg_1", "model": "m", "usage": { "input_tokens": 3 } } }),
        start(0, json!({ "type": "thinking", "thinking": "", "signature": "" })),
        delta(0, json!({ "type": "thinking_delta", "thinking": "hm é" })),
        delta(0, json!({ "type": "signature_delta", "signature": "c2ln" })),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "text_delta", "text": "Hi 🦀" } }),
        json!({ "type": "content_block_stop", "index": 1 }),
        start(2, json!({ "type": "tool_use", "id": "t1", "name": "bash", "input": {} })),
        delta(2, json!({ "type": "input_json_delta", "partial_json": "{\"a\": [1," })),
        delta(2, json!({ "type": "input_json_delta", "partial_json": "2]}" })),
        json!({ "type": "content_block_stop", "index": 2 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 9 } }),
        json!({ "type": "message_stop" }),
    ];
    events.iter().map(|event| format!("event: x\ndata: {event}\n\n")).collect()
}

fn start(index: u64, block: Value) -> Value {
    json!({ "type": "content_block_start", "index": index, "content_block": block })
}

fn delta(index: u64, delta: Value) -> Value {
    json!({ "type": "content_block_delta", "index": index, "delta": delta })
}

/// Runs the parsers over `bytes` and checks what they let through; returns whether an answer came out.
fn survives(bytes: &[u8]) -> bool {
    let mut decoder = SseDecoder::new(1 << 20);
    let mut assembler = Assembler::new();
    let mut events = Vec::new();
    let sound = decoder.push(bytes, &mut events).is_ok();
    let all = events.iter().all(|event| assembler.push(&event.data).is_ok());
    if let Some(partial) = assembler.partial() {
        assert!(serde_json::from_str::<Vec<Value>>(&partial.content_json).is_ok(), "{}", partial.content_json);
    }
    let Some(answer) = assembler.answer(None).filter(|_| sound && all) else { return false };
    let content: Vec<Value> = serde_json::from_str(&answer.content_json).unwrap();
    assert_eq!(content.len(), answer.blocks.len());
    for (value, block) in content.iter().zip(&answer.blocks) {
        if let Block::ToolUse { input_json, .. } = block {
            assert_eq!(&serde_json::from_str::<Value>(input_json).unwrap(), &value["input"]);
            assert!(value["input"].is_object());
        }
    }
    true
}

#[test]
fn the_sound_stream_is_an_answer() {
    assert!(survives(stream().as_bytes()));
}

#[test]
fn every_beginning_of_it_is_none() {
    let stream = stream();
    for end in 0..stream.len() - 1 {
        assert!(!survives(&stream.as_bytes()[..end]), "cut at {end}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn changed_bytes(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = stream().into_bytes();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        survives(&bytes);
    }

    #[test]
    fn lost_doubled_and_swapped_events(order in prop::collection::vec(0usize..14, 0..24)) {
        let stream = stream();
        let events: Vec<&str> = stream.split_inclusive("\n\n").collect();
        let shuffled: String = order.iter().map(|at| events[*at]).collect();
        survives(shuffled.as_bytes());
    }

    #[test]
    fn any_json_as_events(values in prop::collection::vec(("[a-z_]{0,20}", any::<i64>(), "[ -~]{0,20}"), 0..10)) {
        let names = [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
            "error",
        ];
        let mut text = String::new();
        for (name, index, data) in values {
            let kind = names.get(name.len() % 9).copied().unwrap_or(&name);
            let event = json!({
                "type": kind,
                "index": index,
                "content_block": { "type": data, "text": index },
                "delta": { "type": "text_delta", "text": data },
                "message": { "id": data },
            });
            text += &format!("data: {event}\n\n");
        }
        survives(text.as_bytes());
    }
}

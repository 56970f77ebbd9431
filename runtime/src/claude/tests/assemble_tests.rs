//! The assembler keeps blocks exactly, knows every stop reason, and refuses contradictory streams.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

use crate::claude::{Answer, AssembleError, Assembler, Block, Delta, StopReason, Usage};

const HEAD: &str = r#"{"type":"message_start","message":{"id":"msg_1","model":"claude-opus-5-5","usage":{"input_tokens":3,"output_tokens":1,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":5,"ephemeral_1h_input_tokens":15}}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

fn end(reason: &str) -> String {
    json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 9 } }).to_string()
}

fn start(index: u64, block: &str) -> String {
    format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#)
}

fn delta(index: u64, delta: &str) -> String {
    format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#)
}

fn input(index: u64, partial: &str) -> String {
    delta(index, &json!({ "type": "input_json_delta", "partial_json": partial }).to_string())
}

fn stop(index: u64) -> String {
    format!(r#"{{"type":"content_block_stop","index":{index}}}"#)
}

fn run(events: &[String]) -> Result<Option<Answer>, AssembleError> {
    let mut assembler = Assembler::new();
    for event in events {
        assembler.push(event)?;
    }
    Ok(assembler.answer(Some("req_1".to_owned())))
}

fn answer(blocks: &[String]) -> Answer {
    let mut events = vec![HEAD.to_owned()];
    events.extend_from_slice(blocks);
    events.extend([end("end_turn"), STOP.to_owned()]);
    run(&events).unwrap().unwrap()
}

fn check(blocks: &[String], content: Expect) -> Answer {
    let answer = answer(blocks);
    serde_json::from_str::<Vec<serde_json::Value>>(&answer.content_json).expect("content is a JSON array");
    content.assert_eq(&answer.content_json);
    answer
}

#[test]
fn text_is_joined_and_unknown_fields_stay_in_their_order() {
    let answer = check(
        &[
            start(0, r#"{"zeta":1e3,"type":"text","text":"","n":12345678901234567890123,"a":{ "b" : 1.0}}"#),
            delta(0, r#"{"type":"text_delta","text":"Hé\n"}"#),
            delta(0, r#"{"type":"text_delta","text":"\"🦀\""}"#),
            stop(0),
        ],
        expect![[r#"[{"zeta":1e3,"type":"text","text":"Hé\n\"🦀\"","n":12345678901234567890123,"a":{ "b" : 1.0}}]"#]],
    );
    assert_eq!(answer.blocks, [Block::Text { text: "Hé\n\"🦀\"".to_owned() }]);
    assert_eq!(answer.request_id.as_deref(), Some("req_1"));
    assert_eq!((answer.model.as_str(), answer.message_id.as_str()), ("claude-opus-5-5", "msg_1"));
}

#[test]
fn thinking_keeps_its_signature_even_without_text() {
    let answer = check(
        &[
            start(0, r#"{"type":"thinking","thinking":"","signature":""}"#),
            delta(0, r#"{"type":"thinking_delta","thinking":"hm "}"#),
            delta(0, r#"{"type":"thinking_delta","thinking":"yes"}"#),
            delta(0, r#"{"type":"signature_delta","signature":"c2ln"}"#),
            stop(0),
            start(1, r#"{"type":"thinking","thinking":"","signature":""}"#),
            delta(1, r#"{"type":"signature_delta","signature":"bare"}"#),
            stop(1),
            start(2, r#"{"type":"redacted_thinking","data":"b3BhcXVl"}"#),
            stop(2),
        ],
        expect![[
            r#"[{"type":"thinking","thinking":"hm yes","signature":"c2ln"},{"type":"thinking","thinking":"","signature":"bare"},{"type":"redacted_thinking","data":"b3BhcXVl"}]"#
        ]],
    );
    assert_eq!(
        answer.blocks,
        [
            Block::Thinking { text: "hm yes".to_owned(), signature: "c2ln".to_owned() },
            Block::Thinking { text: String::new(), signature: "bare".to_owned() },
            Block::RedactedThinking { data: "b3BhcXVl".to_owned() },
        ]
    );
}

#[test]
fn tool_input_is_the_exact_concatenation() {
    let call = r#"{"type":"tool_use","id":"toolu_1","name":"bash","input":{},"caller":{"type":"direct"}}"#;
    let answer = check(
        &[start(0, call), input(0, ""), input(0, "{\"b\": 1.50,\n"), input(0, " \"a\":\"\\u00e9\"}"), stop(0)],
        expect![[r#"
            [{"type":"tool_use","id":"toolu_1","name":"bash","input":{"b": 1.50,
             "a":"\u00e9"},"caller":{"type":"direct"}}]"#]],
    );
    let calls: Vec<_> = answer.tool_calls().collect();
    assert_eq!(calls, [("toolu_1", "bash", "{\"b\": 1.50,\n \"a\":\"\\u00e9\"}")]);
}

#[test]
fn empty_input_is_an_empty_object_and_given_input_stays() {
    let answer = check(
        &[
            start(0, r#"{"type":"tool_use","id":"t1","name":"a","input":{}}"#),
            input(0, ""),
            stop(0),
            start(1, r#"{"type":"tool_use","id":"t2","name":"b","input":{"x":[1]}}"#),
            stop(1),
            start(2, r#"{"type":"tool_use","id":"t3","name":"c"}"#),
            stop(2),
        ],
        expect![[
            r#"[{"type":"tool_use","id":"t1","name":"a","input":{}},{"type":"tool_use","id":"t2","name":"b","input":{"x":[1]}},{"type":"tool_use","id":"t3","name":"c","input":{}}]"#
        ]],
    );
    assert_eq!(answer.tool_calls().count(), 3);
}

#[test]
fn broken_input_is_kept_aside_and_never_run() {
    for broken in [r#"{"command": "ls"#, "[1]", "\"text\"", "null", "{}}", "{\"a\":\u{1}}"] {
        let call = start(0, r#"{"type":"tool_use","id":"t1","name":"bash","input":{}}"#);
        let answer = answer(&[call, input(0, broken), stop(0)]);
        assert_eq!(answer.content_json, r#"[{"type":"tool_use","id":"t1","name":"bash","input":{}}]"#);
        assert_eq!(
            answer.blocks,
            [Block::ToolUse {
                id: "t1".to_owned(),
                name: "bash".to_owned(),
                input_json: "{}".to_owned(),
                broken_input: Some(broken.to_owned()),
            }]
        );
        assert_eq!(answer.tool_calls().count(), 0, "{broken}");
    }
}

#[test]
fn citations_compaction_and_unknown_blocks() {
    let answer = check(
        &[
            start(0, r#"{"type":"text","text":"","citations":[{"type":"old"}]}"#),
            delta(0, r#"{"type":"citations_delta","citation":{"type":"char_location", "start_char_index":1}}"#),
            delta(0, r#"{"type":"citations_delta","citation":{"type":"page_location"}}"#),
            stop(0),
            start(1, r#"{"type":"compaction","content":null}"#),
            delta(1, r#"{"type":"compaction_delta","content":"short","encrypted_content":"ZW5j"}"#),
            stop(1),
            start(2, r#"{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}"#),
            input(2, r#"{"query":"x"}"#),
            stop(2),
            start(3, r#"{"type":"of_the_future","payload":{"k":[1,2 ,3]}}"#),
            stop(3),
        ],
        expect![[
            r#"[{"type":"text","text":"","citations":[{"type":"old"},{"type":"char_location", "start_char_index":1},{"type":"page_location"}]},{"type":"compaction","content":"short","encrypted_content":"ZW5j"},{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"x"}},{"type":"of_the_future","payload":{"k":[1,2 ,3]}}]"#
        ]],
    );
    assert!(
        matches!(&answer.blocks[3], Block::Other { kind, json } if kind == "of_the_future" && json.contains("[1,2 ,3]"))
    );
    assert!(matches!(&answer.blocks[2], Block::Other { kind, .. } if kind == "server_tool_use"));
    assert_eq!(answer.tool_calls().count(), 0, "the API's own tools are not ours to run");
}

#[test]
fn unknown_events_and_deltas_and_pings_are_skipped() {
    let block = start(0, r#"{"type":"text","text":""}"#);
    let answer = answer(&[
        r#"{"type":"ping"}"#.to_owned(),
        r#"{"type":"of_the_future","index":"not a number"}"#.to_owned(),
        block,
        delta(0, r#"{"type":"future_delta","text":5}"#),
        delta(0, r#"{"type":"text_delta","text":"ok","extra":1}"#),
        stop(0),
    ]);
    assert_eq!(answer.content_json, r#"[{"type":"text","text":"ok"}]"#);
}

#[test]
fn every_stop_reason() {
    for reason in [
        "end_turn",
        "max_tokens",
        "stop_sequence",
        "tool_use",
        "pause_turn",
        "refusal",
        "model_context_window_exceeded",
        "compaction",
        "of_the_future",
    ] {
        let got = run(&[HEAD.to_owned(), end(reason), STOP.to_owned()]).unwrap().unwrap().stop_reason;
        assert_eq!(got.as_str(), reason);
        assert_eq!(matches!(got, StopReason::Unknown(_)), reason == "of_the_future");
        let text = serde_json::to_string(&got).unwrap();
        assert_eq!(text, format!("{reason:?}"));
        assert_eq!(serde_json::from_str::<StopReason>(&text).unwrap(), got);
    }
}

#[test]
fn stop_details_and_sequence_are_kept() {
    let last = r#"{"type":"message_delta","delta":{"stop_reason":"refusal","stop_sequence":"END","stop_details":{"type":"refusal", "category":null}},"usage":{"output_tokens":4}}"#;
    let answer = run(&[HEAD.to_owned(), last.to_owned(), STOP.to_owned()]).unwrap().unwrap();
    assert_eq!(answer.stop_details.as_deref(), Some(r#"{"type":"refusal", "category":null}"#));
    assert_eq!(answer.stop_sequence.as_deref(), Some("END"));
    assert_eq!(answer.content_json, "[]");
    let none = run(&[HEAD.to_owned(), end("end_turn"), STOP.to_owned()]).unwrap().unwrap();
    assert_eq!((none.stop_details, none.stop_sequence), (None, None));
}

#[test]
fn usage_is_cumulative_not_added() {
    let last = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":4,"output_tokens":50,"cache_read_input_tokens":31,"output_tokens_details":{"thinking_tokens":7},"server_tool_use":{"web_search_requests":2,"web_fetch_requests":1}}}"#;
    let answer = run(&[HEAD.to_owned(), end("end_turn"), last.to_owned(), STOP.to_owned()]).unwrap().unwrap();
    let expected = Usage {
        input_tokens: 4,
        output_tokens: 50,
        cache_creation_input_tokens: 20,
        cache_creation_5m_input_tokens: 5,
        cache_creation_1h_input_tokens: 15,
        cache_read_input_tokens: 31,
        thinking_tokens: 7,
        web_search_requests: 2,
        web_fetch_requests: 1,
    };
    assert_eq!(answer.usage, expected);
    assert_eq!(answer.usage.total_input_tokens(), 4 + 20 + 31);
}

#[test]
fn without_message_stop_there_is_no_answer_but_a_partial() {
    let mut assembler = Assembler::new();
    assert_eq!(assembler.partial(), None);
    let call = start(1, r#"{"type":"tool_use","id":"t1","name":"bash","input":{}}"#);
    let text = start(0, r#"{"type":"text","text":"Let me"}"#);
    for event in [HEAD.to_owned(), text, stop(0), call, input(1, r#"{"comm"#), end("tool_use")] {
        assembler.push(&event).unwrap();
    }
    assert!(!assembler.is_finished());
    assert_eq!(assembler.answer(None), None);
    let partial = assembler.partial().unwrap();
    expect![[r#"[{"type":"text","text":"Let me"},{"type":"tool_use","id":"t1","name":"bash","input":{}}]"#]]
        .assert_eq(&partial.content_json);
    assert_eq!((partial.usage.output_tokens, partial.message_id.as_deref()), (9, Some("msg_1")));
}

#[test]
fn deltas_for_the_reader() {
    let mut assembler = Assembler::new();
    let events = [
        HEAD.to_owned(),
        start(0, r#"{"type":"text","text":"first "}"#),
        delta(0, r#"{"type":"text_delta","text":"more"}"#),
        stop(0),
        start(1, r#"{"type":"tool_use","id":"t1","name":"bash","input":{}}"#),
        input(1, "{}"),
        stop(1),
        end("tool_use"),
        STOP.to_owned(),
    ];
    let deltas: Vec<Delta> = events.iter().filter_map(|event| assembler.push(event).unwrap()).collect();
    assert_eq!(
        deltas,
        [
            Delta::Text { index: 0, text: "first ".to_owned() },
            Delta::Text { index: 0, text: "more".to_owned() },
            Delta::BlockStop { index: 0 },
            Delta::ToolStart { index: 1, id: "t1".to_owned(), name: "bash".to_owned() },
            Delta::ToolInput { index: 1, partial_json: "{}".to_owned() },
            Delta::BlockStop { index: 1 },
        ]
    );
    assert!(assembler.is_finished());
    assert_eq!(assembler.push(HEAD).unwrap(), None, "nothing counts after message_stop");
}

#[test]
fn streams_that_contradict_themselves_are_refused() {
    let text = || start(0, r#"{"type":"text","text":""}"#);
    let head = || HEAD.to_owned();
    let more = || delta(0, r#"{"type":"text_delta","text":"x"}"#);
    let cases: [(&str, Vec<String>); 11] = [
        ("second message_start", vec![head(), head()]),
        ("before message_start", vec![text()]),
        ("one index", vec![head(), text(), text()]),
        ("never started", vec![head(), more()]),
        ("already complete", vec![head(), text(), stop(0), more()]),
        ("already complete", vec![head(), text(), stop(0), stop(0)]),
        ("without a type", vec![head(), start(0, "{}")]),
        ("without id or name", vec![head(), start(0, r#"{"type":"tool_use","input":{}}"#)]),
        ("message_stop before", vec![STOP.to_owned()]),
        ("without a stop_reason", vec![head(), STOP.to_owned()]),
        ("malformed", vec![head(), delta(0, r#"{"type":"text_delta"}"#)]),
    ];
    for (wanted, events) in cases {
        let error = run(&events).unwrap_err().to_string();
        assert!(error.contains(wanted), "{wanted}: {error}");
    }
    for malformed in
        ["", "not json", "[]", r#"{"no":"type"}"#, r#"{"type":"content_block_stop"}"#, "{\"type\":\"ping\"}x"]
    {
        assert!(matches!(run(&[malformed.to_owned()]), Err(AssembleError::Malformed(_))), "{malformed}");
    }
}

#[test]
fn an_error_event_is_reported_as_it_is() {
    let event = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"}"#;
    let error = run(&[HEAD.to_owned(), event.to_owned()]).unwrap_err();
    assert!(
        matches!(&error, AssembleError::Api { error_type, message } if error_type == "overloaded_error" && message == "Overloaded")
    );
}

fn json_value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        "[a-z\"\\\\é🦀\n\t]{0,10}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::hash_map("[a-z]{1,4}", inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_text_and_input_survive_any_cut(
        text in "[ -~é🦀\n\"\\\\]{0,60}",
        fields in prop::collection::hash_map("[a-z]{1,4}", json_value(), 0..4),
        cuts in prop::collection::vec(0usize..80, 0..8),
        pretty in any::<bool>(),
    ) {
        let object = serde_json::Value::Object(fields.into_iter().collect());
        let raw = if pretty { serde_json::to_string_pretty(&object).unwrap() } else { object.to_string() };
        let split = |whole: &str| -> Vec<String> {
            let chars: Vec<char> = whole.chars().collect();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.min(&chars.len()).to_owned()).collect();
            cuts.sort_unstable();
            let mut from = 0;
            cuts.push(chars.len());
            cuts.into_iter().map(|to| { let piece = chars[from..to].iter().collect(); from = to; piece }).collect()
        };
        let mut events = vec![start(0, r#"{"type":"text","text":""}"#)];
        events.extend(split(&text).iter().map(|piece| delta(0, &json!({ "type": "text_delta", "text": piece }).to_string())));
        events.push(stop(0));
        events.push(start(1, r#"{"type":"tool_use","id":"t1","name":"bash","input":{}}"#));
        events.extend(split(&raw).iter().map(|piece| input(1, piece)));
        events.push(stop(1));
        let answer = answer(&events);
        prop_assert_eq!(&answer.blocks[0], &Block::Text { text: text.clone() });
        prop_assert_eq!(answer.tool_calls().next(), Some(("t1", "bash", raw.as_str())));
        let content: serde_json::Value = serde_json::from_str(&answer.content_json).unwrap();
        prop_assert_eq!(&content[0]["text"], &json!(text));
        prop_assert_eq!(&content[1]["input"], &object);
        prop_assert!(answer.content_json.contains(&raw));
    }
}

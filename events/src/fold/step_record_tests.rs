//! What counts as the same words, the same call and the same result.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::{NOISE_PATTERN, StepRecord, keep_step};
use crate::fold::OpenCall;
use crate::fold::calls::calls_in;
use crate::hash::Hash;
use crate::id::CallId;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::VecDeque;

fn step(content: &str) -> StepRecord {
    StepRecord::answered(content, &calls_in(content))
}

fn call(input: &str) -> StepRecord {
    step(&format!(r#"[{{"type":"tool_use","id":"toolu_0001","name":"bash","input":{input}}}]"#))
}

fn with_result(content: &str) -> StepRecord {
    let mut record = call(r#"{"command":"make"}"#);
    record.finished(&CallId("toolu_0001".into()), content, false, true);
    record
}

fn alike(a: &str, b: &str) -> bool {
    with_result(a) == with_result(b)
}

#[test]
fn words_are_the_same_whatever_stands_between_them() {
    let said = |text: &str| step(&json!([{"type": "text", "text": text}]).to_string()).said;
    assert_eq!(said("I will try\n\nagain."), said("  I will  try again. "));
    assert_ne!(said("I will try again."), said("I will try that."));
    assert_eq!(said(" \n"), None);
}

#[test]
fn words_in_several_blocks_count_and_thinking_does_not() {
    let one = step(r#"[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"a b"}]"#);
    let two = step(r#"[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"new","odd":[1]}]"#);
    assert!(one.said.is_some());
    assert_eq!(one.said, two.said);
    assert_eq!(step(r#"[{"type":"thinking","thinking":"hm","signature":"x"}]"#).said, None);
}

#[test]
fn content_that_is_no_answer_says_and_calls_nothing() {
    for content in ["", "[]", "{}", "null", "[1,2]", "{\"type\":\"text\"", "[{\"type\":7}]"] {
        let record = step(content);
        assert_eq!((record.said, record.calls.len(), record.is_complete()), (None, 0, true), "{content}");
    }
}

#[test]
fn inputs_are_the_same_whatever_their_key_order_and_whitespace() {
    let input = |input: &str| call(input).calls[0].input;
    assert_eq!(input(r#"{"a":1,"b":{"c":[1,2],"d":"x y"}}"#), input(r#"{ "b": {"d":"x y", "c":[1, 2]}, "a": 1 }"#));
    assert_ne!(input(r#"{"a":[1,2]}"#), input(r#"{"a":[2,1]}"#));
    assert_ne!(input(r#"{"a":"x y"}"#), input(r#"{"a":"x  y"}"#), "whitespace inside a text is not the JSON's");
}

#[test]
fn an_input_that_is_no_json_is_compared_as_it_is() {
    let broken = |input: &str| {
        let call = OpenCall { id: CallId("c".into()), input: input.into(), ..calls_in(OPEN)[0].clone() };
        StepRecord::answered("[]", &[call]).calls[0].input
    };
    assert_eq!(broken("{\"a\": "), broken(" {\"a\":"));
    assert_ne!(broken("{\"a\": "), broken("{\"b\": "));
    assert_eq!(broken(&"[".repeat(10_000)), broken(&"[".repeat(10_000)));
}

const OPEN: &str = r#"[{"type":"tool_use","id":"toolu_0001","name":"bash","input":{}}]"#;

#[test]
fn what_differs_between_two_equal_runs_does_not_count() {
    for (one, other) in [
        ("test result: ok. finished in 0.03s", "test result: ok. finished in 12.41s"),
        ("ok  pkg/strategy\t2.155s", "ok  pkg/strategy\t4.335s"),
        ("real\t0m1.204s", "real\t0m1.377s"),
        ("took 1h 2m 3s", "took 1h 2m 41s"),
        ("time: [1.02 ms 1.03 ms]", "time: [1.12 ms 1.23 ms]"),
        ("2026-11-21T13:02:02Z error", "2026-11-21T13:02:44Z error"),
        ("2026-11-21 13:02:02,123 WARN", "2026-11-22 09:11:00,999 WARN"),
        ("[13:02:02] built", "[13:05:59.7] built"),
        ("object at 0x7f3a2b1c4d50>", "object at 0x7f11aa220010>"),
        ("killed, pid 4242", "killed, pid 99"),
        ("pid=77 gone", "pid=1234 gone"),
        ("thread 'main' (312) panicked at src/a.rs:1:2", "thread 'main' (99871) panicked at src/a.rs:1:2"),
        ("cannot open /tmp/tmp.X2kd93mAle/out", "cannot open /tmp/tmp.Zk20dkAAqq/out"),
        ("/tmp/go-build123/b001", "/tmp/go-build99/b001"),
        ("[left out; read_output with call_id toolu_0001]", "[left out; read_output with call_id toolu_0001]"),
    ] {
        assert!(alike(one, other), "{one:?} and {other:?}");
    }
}

#[test]
fn every_other_number_counts() {
    for (one, other) in [
        ("3 passed; 1 failed", "4 passed; 0 failed"),
        ("src/a.rs:10:5: error", "src/a.rs:11:5: error"),
        ("line 12", "line 13"),
        ("progress 41%", "progress 42%"),
        ("1792 bytes", "1793 bytes"),
        ("1700000001", "1700000002"),
        ("0x10", "0x11"),
        ("/tmp/one", "/tmp/two"),
        ("exit code: 1\n", "exit code: 2\n"),
        ("3 steps", "4 steps"),
        ("s3 bucket", "s4 bucket"),
        ("v1.2.3", "v1.2.4"),
        ("", " "),
    ] {
        assert!(!alike(one, other), "{one:?} and {other:?}");
    }
}

#[test]
fn a_result_that_names_its_own_call_is_the_same_as_that_of_another_call() {
    let result = |id: &str| {
        let content = OPEN.replace("toolu_0001", id);
        let mut record = step(&content);
        record.finished(&CallId(id.into()), &format!("[to see them: read_output with call_id {id}]"), false, false);
        record.calls[0].result
    };
    assert_eq!(result("toolu_aaaa"), result("toolu_bbbb"));
    assert_ne!(result("1"), result("2"), "a short id may stand there by chance");
}

#[test]
fn results_go_to_their_calls_and_only_the_first_counts() {
    let two = OPEN.replace(']', r#",{"type":"tool_use","id":"toolu_0002","name":"read_file","input":{"path":"a"}}]"#);
    let mut record = step(&two);
    assert!(!record.is_complete());
    record.finished(&CallId("toolu_0002".into()), "text", false, false);
    record.finished(&CallId("toolu_9999".into()), "nobody's", true, true);
    assert!(!record.is_complete());
    record.finished(&CallId("toolu_0001".into()), "no", true, false);
    record.finished(&CallId("toolu_0001".into()), "yes", false, false);
    let seen: Vec<_> = record.calls.iter().map(|call| (call.tool.as_str(), call.is_error, call.wrote)).collect();
    assert_eq!(seen, [("bash", true, true), ("read_file", false, false)], "what a command changed nobody knows");
    assert_eq!(record.calls[0].result, Some(Hash::of(b"no")));
    assert!(record.is_complete());
}

#[test]
fn commands_that_sleep_and_looks_at_the_background_are_waits() {
    let waits = |input: Value| call(&input.to_string()).calls[0].waits;
    for command in ["sleep 5; tail log", "make && sleep 0.5 && curl x", "while true; do (sleep $N); done", "sleep .5"] {
        assert!(waits(json!({"command": command})), "{command}");
    }
    for command in ["make", "grep sleep src/a.rs", "./sleep 5", "echo asleep 5", "man sleep"] {
        assert!(!waits(json!({"command": command})), "{command}");
    }
    assert!(!waits(json!({"path": "a", "content": "sleep 5"})), "a file about sleeping waits for nothing");
    assert!(step(&OPEN.replace("bash", "read_output")).calls[0].waits);
}

#[test]
fn the_gist_is_short_and_on_one_line() {
    let gist = |input: Value| call(&input.to_string()).calls[0].gist.clone();
    assert_eq!(gist(json!({"command": "make\ntest"})), r#"{"command":"make\ntest"}"#);
    assert_eq!(gist(json!({"b": 1, "a": "\u{85}\u{7f}"})), r#"{"a":"  ","b":1}"#);
    let long = gist(json!({"command": "ü".repeat(5_000)}));
    assert_eq!((long.chars().count(), long.chars().last()), (81, Some('…')));
}

#[test]
fn only_so_many_steps_are_kept() {
    let mut steps = VecDeque::new();
    for number in 0..StepRecord::KEPT + 10 {
        keep_step(&mut steps, step(&format!(r#"[{{"type":"text","text":"{number}"}}]"#)));
    }
    assert_eq!(steps.len(), StepRecord::KEPT);
    assert_eq!(steps.front(), Some(&step(r#"[{"type":"text","text":"10"}]"#)));
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".{0,4}", inner), 0..4).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// The same value with the keys of every object the other way round, and whitespace wherever it may stand.
fn turned(value: &Value) -> String {
    match value {
        Value::Object(pairs) => {
            let pairs = pairs.iter().rev().map(|(key, value)| format!(" {} :\n{}", json!(key), turned(value)));
            format!("{{{}\t}}", pairs.collect::<Vec<_>>().join(" ,"))
        }
        Value::Array(items) => format!("[ {} ]", items.iter().map(turned).collect::<Vec<_>>().join("  , ")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

proptest! {
    #[test]
    fn any_input_is_the_same_however_it_is_written(value in value()) {
        prop_assert_eq!(&call(&value.to_string()).calls[0], &call(&turned(&value)).calls[0]);
    }

    #[test]
    fn anything_can_be_taken_in(content in ".{0,300}", input in ".{0,100}", result in "(?s).{0,300}") {
        let open = OpenCall { input, ..calls_in(OPEN)[0].clone() };
        let mut record = StepRecord::answered(&content, &[open]);
        record.finished(&CallId("toolu_0001".into()), &result, true, false);
        prop_assert!(record.is_complete());
        prop_assert!(record.calls[0].gist.chars().count() <= 81);
    }

    #[test]
    fn plain_words_always_count(one in "[a-z ]{1,40}", other in "[a-z ]{1,40}") {
        prop_assert_eq!(alike(&one, &other), one == other);
    }
}

#[test]
fn the_pattern_of_noise_is_a_pattern() {
    assert!(NOISE_PATTERN.is_some());
}

//! Tool calls and results: one each, in the very next message, before all else.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{assistant, call, checked, messages, result, rule, text, user};

fn talk(calls: Value, results: Value) -> Value {
    messages(json!([user(json!("a")), assistant(calls), user(results)]))
}

#[test]
fn each_call_has_its_result_in_the_next_message() {
    let two = json!([text("t"), call("t1"), call("t2")]);
    rule(
        &[
            talk(json!([call("t1")]), json!([result("t1")])),
            talk(two.clone(), json!([result("t2"), result("t1"), text("and")])),
            messages(json!([
                user(json!("a")),
                assistant(json!([call("t1")])),
                user(json!([result("t1")])),
                user(json!("more")),
                assistant(json!([call("t2")])),
                user(json!([result("t2")])),
            ])),
        ],
        &[
            (
                "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t2.",
                talk(two.clone(), json!([result("t1")])),
            ),
            ("immediately after: t1, t2.", talk(two, json!("never mind"))),
            (
                "messages.1: `tool_use` ids were found",
                messages(json!([user(json!("a")), assistant(json!([call("t1")]))])),
            ),
            (
                "messages.1: `tool_use` ids were found",
                messages(json!([
                    user(json!("a")),
                    assistant(json!([call("t1")])),
                    user(json!("wait")),
                    user(json!([result("t1")]))
                ])),
            ),
            (
                "messages.1: `tool_use` ids were found",
                messages(json!([
                    user(json!("a")),
                    assistant(json!([call("t1")])),
                    assistant(json!("b")),
                    user(json!([result("t1")]))
                ])),
            ),
        ],
    );
}

#[test]
fn each_result_has_its_call_in_the_message_before() {
    rule(
        &[],
        &[
            (
                "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1",
                messages(json!([user(json!([result("t1")]))])),
            ),
            ("unexpected `tool_use_id`", talk(json!([text("x")]), json!([result("t1")]))),
            (
                "messages.2.content.1: unexpected `tool_use_id`",
                talk(json!([call("t1")]), json!([result("t1"), result("t9")])),
            ),
            (
                "messages.4.content.0: unexpected `tool_use_id`",
                messages(json!([
                    user(json!("a")),
                    assistant(json!([call("t1")])),
                    user(json!([result("t1")])),
                    assistant(json!("b")),
                    user(json!([result("t1")])),
                ])),
            ),
            (
                "Found multiple `tool_result` blocks with id: t1",
                talk(json!([call("t1")]), json!([result("t1"), result("t1")])),
            ),
        ],
    );
}

#[test]
fn ids_are_unique_and_well_formed() {
    let twice = json!([
        user(json!("a")),
        assistant(json!([call("t1")])),
        user(json!([result("t1")])),
        assistant(json!([call("t1")])),
        user(json!([result("t1")])),
    ]);
    rule(
        &[talk(json!([call("toolu_01-Az")]), json!([result("toolu_01-Az")]))],
        &[
            (
                "messages.1.content.1: `tool_use` ids must be unique",
                talk(json!([call("t1"), call("t1")]), json!([result("t1")])),
            ),
            ("messages.3.content.0: `tool_use` ids must be unique", messages(twice)),
            (
                "messages.1.content.0.id: String should match pattern",
                talk(json!([call("a b")]), json!([result("a b")])),
            ),
            (
                "messages.2.content.0.tool_use_id: String should match pattern",
                talk(json!([call("t1")]), json!([result("")])),
            ),
        ],
    );
}

#[test]
fn results_come_first_and_have_the_right_shape() {
    let with_content = |content: Value| json!([{ "type": "tool_result", "tool_use_id": "t1", "content": content }]);
    let one = json!([call("t1")]);
    let image = json!({ "type": "image", "source": { "type": "url", "url": "https://x" } });
    let search = json!({ "type": "search_result", "source": "s", "title": "t", "content": [text("x")] });
    rule(
        &[
            talk(one.clone(), json!([{ "type": "tool_result", "tool_use_id": "t1" }])),
            talk(one.clone(), json!([{ "type": "tool_result", "tool_use_id": "t1", "content": "", "is_error": true }])),
            talk(one.clone(), with_content(json!([text("x"), image, search]))),
        ],
        &[
            (
                "`tool_result` blocks must come before all other content",
                talk(one.clone(), json!([text("first"), result("t1")])),
            ),
            ("must come before", talk(json!([call("t1"), call("t2")]), json!([result("t1"), text("x"), result("t2")]))),
            ("content.0.content: Input should be a valid list", talk(one.clone(), with_content(json!(5)))),
            (
                "Input tag 'thinking'",
                talk(one.clone(), with_content(json!([{ "type": "thinking", "thinking": "" , "signature": "" }]))),
            ),
            ("text content blocks must be non-empty", talk(one.clone(), with_content(json!([text("")])))),
            (
                "is_error: Input should be a valid boolean",
                talk(one.clone(), json!([{ "type": "tool_result", "tool_use_id": "t1", "is_error": 1 }])),
            ),
            ("tool_use_id: Field required", talk(one, json!([{ "type": "tool_result" }]))),
        ],
    );
}

#[test]
fn calls_have_the_right_shape() {
    let odd = |changes: Value| {
        let mut block = call("t1");
        for (key, value) in changes.as_object().unwrap() {
            block[key] = value.clone();
        }
        talk(json!([block]), json!([result("t1")]))
    };
    rule(
        &[odd(json!({ "caller": { "type": "direct" }, "input": { "cache_control": "just data" } }))],
        &[
            ("messages.1.content.0.input: Input should be an object", odd(json!({ "input": "{}" }))),
            ("messages.1.content.0.name: String should match pattern", odd(json!({ "name": "two words" }))),
            ("messages.1.content.0.index: Extra inputs", odd(json!({ "index": 1 }))),
        ],
    );
}

proptest! {
    /// Calls and results made from any small lists: accepted exactly if the results are the calls, each once.
    #[test]
    fn accepted_exactly_when_paired(calls in prop::collection::vec(0u8..4, 0..4), results in prop::collection::vec(0u8..4, 0..4)) {
        let id = |n: &u8| format!("t{n}");
        let mut content = vec![text("x")];
        content.extend(calls.iter().map(|n| call(&id(n))));
        let mut answer: Vec<Value> = results.iter().map(|n| result(&id(n))).collect();
        answer.push(text("y"));
        let sorted = |list: &[u8]| { let mut list = list.to_vec(); list.sort_unstable(); list };
        let unique = |list: &[u8]| { let mut list = sorted(list); list.dedup(); list.len() };
        let paired = sorted(&calls) == sorted(&results) && unique(&calls) == calls.len();
        prop_assert_eq!(checked(&talk(json!(content), json!(answer))).is_ok(), paired);
    }

    /// No JSON whatever makes the checks panic.
    #[test]
    fn any_json_is_judged(messages in json_value(), tools in json_value(), system in json_value(), thinking in json_value()) {
        let request = json!({ "model": "claude-opus-5-5", "max_tokens": 5, "messages": messages, "tools": tools, "system": system, "thinking": thinking });
        let _ = checked(&request);
    }
}

/// JSON that is often nearly right.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        prop::sample::select(vec![
            "user",
            "assistant",
            "text",
            "tool_use",
            "tool_result",
            "thinking",
            "adaptive",
            "",
            "t1",
            "x"
        ])
        .prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "role",
        "content",
        "type",
        "text",
        "id",
        "tool_use_id",
        "input",
        "name",
        "cache_control",
        "ttl",
        "input_schema",
        "thinking",
        "signature",
    ]);
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..5).prop_map(|pairs| Value::Object(
                pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            )),
        ]
    })
}

//! What the model is told of the tools, byte for byte, and how bad input is answered.

use super::harness::tool_named;
use crate::tools::{all, effect_of, tools_json};
use expect_test::expect_file;
use retrace_events::payload::tool::ToolEffect;
use serde_json::{Value, json};

#[test]
fn the_tools_are_told_the_same_way_each_time() {
    let json = tools_json(&all());
    assert_eq!(json, tools_json(&all()));
    // It is a part of every request's prefix: a change here ends every cached prefix, so it must be meant.
    let pretty = serde_json::to_string_pretty(&serde_json::from_str::<Value>(&json).unwrap()).unwrap();
    expect_file!["tools.json"].assert_eq(&format!("{pretty}\n"));
}

#[test]
fn the_text_is_compact_and_in_order() {
    let json = tools_json(&all());
    assert!(json.starts_with(r#"[{"name":"bash","description":""#), "{json}");
    let parsed: Value = serde_json::from_str(&json).unwrap();
    let names: Vec<&str> = parsed.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let expected = ["bash", "read_file", "write_file", "edit_file", "list_dir", "search_files", "recall"];
    assert_eq!(names, [&expected[..], &["read_output", "kill", "todo", "ask_user", "batch"]].concat());
    assert!(!json.contains('\n'));
}

#[test]
fn schemas_are_plain_closed_objects_with_every_field_described() {
    for tool in all() {
        let schema = tool.schema();
        assert_eq!(schema.name, tool.name());
        assert!(schema.description.len() > 100 && !schema.description.contains("  "), "{}", schema.description);
        let input = schema.input_schema;
        assert_eq!(
            (&input["type"], &input["additionalProperties"]),
            (&json!("object"), &json!(false)),
            "{}",
            schema.name
        );
        let keys: Vec<&String> = input.as_object().unwrap().keys().collect();
        assert!(
            keys.iter().all(|key| ["type", "properties", "required", "additionalProperties"].contains(&key.as_str())),
            "{keys:?}"
        );
        for (name, field) in input["properties"].as_object().unwrap() {
            assert!(field["description"].as_str().is_some_and(|text| text.len() > 20), "{}.{name}", schema.name);
            assert!(field["type"].is_string(), "{}.{name} has one plain type", schema.name);
        }
    }
}

#[test]
fn only_three_tools_write() {
    let writing: Vec<&str> =
        all().iter().filter(|tool| tool.effect() == ToolEffect::Writes).map(|tool| tool.name()).collect();
    assert_eq!(writing, ["bash", "write_file", "edit_file"]);
    assert!(all().iter().all(|tool| effect_of(tool.name()) == tool.effect()));
}

#[tokio::test]
async fn input_that_does_not_fit_is_explained() {
    let bench = super::harness::Bench::new().await;
    let table = [
        ("bash", json!({}), "invalid input for bash: missing field `command`\nfields: command (string, required)"),
        ("bash", json!({"command": "ls", "shell": "zsh"}), "unknown field `shell`"),
        ("bash", json!("ls"), "invalid type: string \"ls\""),
        (
            "read_file",
            json!({"path": "a", "offset": "7"}),
            "invalid type: string \"7\", expected u64\nfields: path (string, required), offset (integer), limit (integer)",
        ),
        ("read_file", json!({"path": "a", "offset": -1}), "invalid value: integer `-1`"),
        ("write_file", json!({"path": "a"}), "missing field `content`"),
        ("edit_file", json!({"path": "a", "old_string": "x"}), "missing field `new_string`"),
        ("list_dir", json!({"depth": 1.5}), "invalid type: floating point"),
        ("search_files", json!({"query": "x"}), "unknown field `query`"),
        ("recall", json!({"query": "x", "place": "code"}), "unknown field `place`"),
        ("read_output", Value::Null, "invalid type: null"),
        ("kill", json!({"call": "x"}), "unknown field `call`"),
        ("todo", json!({"items": [{"text": "x", "status": "later"}]}), "unknown variant `later`"),
        ("ask_user", json!({"question": 1}), "invalid type: integer `1`"),
    ];
    for (tool, input, expected) in table {
        let text = bench.fails(tool, input).await;
        assert!(text.starts_with(&format!("invalid input for {tool}: ")) && text.contains(expected), "{text}");
    }
}

#[tokio::test]
async fn what_cannot_work_is_known_without_running_it() {
    let bench = super::harness::Bench::new().await;
    let table = [
        ("bash", json!({"command": " "})),
        ("read_output", json!({"call_id": "x", "grep": "("})),
        ("recall", json!({"query": "x", "since": "soon"})),
        ("read_file", json!({})),
        ("ask_user", json!({"question": "?", "options": ["", ""]})),
        ("batch", json!({"calls": []})),
        ("batch", json!({"calls": [{"tool": "batch", "input": {"calls": []}}]})),
        ("batch", json!({"calls": [{"tool": "ask_user", "input": {"question": "?"}}]})),
    ];
    for (tool, input) in table {
        let refused = tool_named(tool).refused(&input).unwrap();
        assert_eq!(refused, bench.run(tool, input.clone()).await);
        assert!(refused.is_error && tool_named(tool).preview(&bench.context, &input).await.is_none());
    }
    for (tool, input) in [("bash", json!({"command": "false"})), ("read_file", json!({"path": "../.."}))] {
        assert_eq!(tool_named(tool).refused(&input), None);
    }
}

#[test]
fn only_a_question_waits_for_a_person() {
    let waiting: Vec<&str> = all().iter().filter(|tool| tool.waits_for_user()).map(|tool| tool.name()).collect();
    assert_eq!(waiting, ["ask_user"]);
}

#[test]
fn summaries_are_one_line_for_any_input() {
    let table = [
        ("bash", json!({"command": "cargo test\n  --all"}), "cargo test --all"),
        ("read_file", json!({"path": "a.rs", "offset": 10, "limit": 5}), "a.rs, lines 10 to 14"),
        (
            "read_file",
            json!({"path": "a.rs", "offset": u64::MAX, "limit": u64::MAX}),
            "a.rs, lines 18446744073709551615 to 18446744073709551614",
        ),
        ("write_file", json!({"path": "a.rs", "content": "x\ny"}), "a.rs (2 lines)"),
        ("edit_file", json!({"path": "a.rs", "replace_all": true}), "a.rs, everywhere"),
        ("list_dir", json!({}), "."),
        ("search_files", json!({"pattern": "fn main", "glob": "*.rs"}), "/fn main/ in *.rs"),
        ("recall", json!({"query": "the flaky test", "in": "code"}), "the flaky test in:code"),
        ("read_output", json!({"call_id": "toolu_1", "from_end": 20}), "toolu_1, last 20 lines"),
        ("kill", json!({"call_id": "toolu_1"}), "toolu_1"),
        (
            "todo",
            json!({"items": [{"text": "a", "status": "done"}, {"text": "b", "status": "in_progress"}]}),
            "1 of 2 done: b",
        ),
        ("ask_user", json!({"question": "Which\none?"}), "Which one?"),
    ];
    for (tool, input, expected) in table {
        assert_eq!(tool_named(tool).summary(&input), expected);
    }
    for tool in all() {
        for input in
            [Value::Null, json!([1]), json!({"path": {"x": 1}, "command": 7}), json!({"command": "a\n".repeat(9_999)})]
        {
            let summary = tool.summary(&input);
            assert!(!summary.contains('\n') && summary.chars().count() < 250, "{summary}");
        }
    }
}

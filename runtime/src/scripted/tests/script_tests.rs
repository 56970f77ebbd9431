//! Scripts are read with errors that name step and line.

use expect_test::{Expect, expect};

use crate::scripted::Script;
use crate::scripted::step::{StepBlock, ToolInput};

fn refused(text: &str, due: Expect) {
    due.assert_eq(&Script::parse(text).unwrap_err().to_string());
}

#[test]
fn the_example_in_the_documentation_is_a_script() {
    let source = include_str!("../mod.rs");
    let example = source.split("```toml").nth(1).unwrap().split("```").next().unwrap();
    let text: String = example.lines().map(|line| line.trim_start_matches("//!").to_owned() + "\n").collect();
    let text = text.replace("\"fix\", \"stop\"", "\"look\"");
    let script = Script::parse(&text).unwrap();
    let step = &script.steps[0];
    assert_eq!((step.name.as_str(), step.stop_reason.as_str(), step.next.as_slice()), ("look", "tool_use", &[0][..]));
    assert_eq!((step.blocks.len(), step.faults.len()), (2, 3), "`times` makes two of the second fault");
    assert_eq!((step.delivery.split_bytes, step.delivery.odd, step.usage.output_tokens), (7, true, Some(9)));
}

#[test]
fn what_is_left_out_follows_from_the_rest() {
    let script = Script::parse(
        r#"
[[step]]
block = [{ type = "text", text = "a" }, { type = "tool_use", name = "x" }]
[[step]]
refusal = { category = "cyber" }
[[step]]
stop_sequence = "END"
[[step]]
[[step]]
stop_reason = "of_the_future"
block = [{ type = "tool_use", name = "x", raw_input = "{" }, { type = "thinking" }, { type = "redacted_thinking" }]
"#,
    )
    .unwrap();
    let reasons: Vec<&str> = script.steps.iter().map(|step| step.stop_reason.as_str()).collect();
    assert_eq!(reasons, ["tool_use", "refusal", "stop_sequence", "end_turn", "of_the_future"]);
    assert_eq!(script.steps[1].stop_details["category"], "cyber");
    assert_eq!(script.steps[1].name, "2");
    let StepBlock::ToolUse { input: ToolInput::Object(input), .. } = &script.steps[0].blocks[1] else { panic!() };
    assert_eq!(input, &serde_json::json!({}));
    assert_eq!(script.steps[4].blocks[0], StepBlock::ToolUse { name: "x".into(), input: ToolInput::Raw("{".into()) });
}

#[test]
fn toml_inputs_become_json() {
    let script = Script::parse(
        "
[[step]]
[[step.block]]
type = 'tool_use'
name = 'x'
[step.block.input]
s = 'a'
i = -3
f = 1.5
b = true
d = 2026-11-21
l = [1, ['x']]
t = { u = 'v' }
",
    )
    .unwrap();
    let StepBlock::ToolUse { input: ToolInput::Object(input), .. } = &script.steps[0].blocks[0] else { panic!() };
    let due = serde_json::json!({
        "s": "a",
        "i": -3,
        "f": 1.5,
        "b": true,
        "d": "2026-11-21",
        "l": [1, ["x"]],
        "t": { "u": "v" },
    });
    assert_eq!(input, &due);
}

#[test]
fn errors_name_step_and_line() {
    refused("", expect!["script, line 1: a script needs at least one [[step]]"]);
    refused("[[step]]\n\nwhen = 5", expect!["script, line 3, step 1: invalid type: integer `5`, expected a string"]);
    refused(
        "[[step]]\n[[step]]\nname = 'b'\nwhen = 'a('",
        expect!["script, line 4, step 2 (b): `when` is not a regular expression: unclosed group"],
    );
    refused(
        "[[step]]\nname = 'a'\nnext = 'c'",
        expect![[r#"script, line 3, step 1 (a): `next` names "c", which no step is called"#]],
    );
    refused(
        "[[step]]\nname = 'a'\n[[step]]\nname = 'a'",
        expect![[r#"script, line 1, step 1 (a): the name "a" is given to several steps"#]],
    );
    refused(
        "[[step]]\n[[step.block]]\ntype = 'poem'",
        expect![[
            r#"script, line 2, step 1: unknown block type "poem": text, thinking, redacted_thinking or tool_use"#
        ]],
    );
    refused("[[step]]\n[[step.block]]\ntype = 'text'", expect!["script, line 2, step 1: a text block needs `text`"]);
    refused(
        "[[step]]\n[[step.block]]\ntype = 'text'\ntext = 'x'\nname = 'y'",
        expect!["script, line 2, step 1: a text block has no `name`"],
    );
    refused(
        "[[step]]\n[[step.block]]\ntype = 'tool_use'\nname = 'x'\ninput = {}\nraw_input = ''",
        expect!["script, line 2, step 1: `input` and `raw_input` exclude each other"],
    );
    refused(
        "[[step]]\n\n\ncolor = 'red'",
        expect![[r#"
        script, line 4, step 1: unknown field `color`, expected one of `name`, `when`, `goto`, `next`, `block`, `stop_reason`, `stop_sequence`, `refusal`, `usage`, `fault`, `delivery`"#]],
    );
    refused(
        "[[step]]\nname = 'a'\n[[step]]\nname = 'b",
        expect!["script, line 4, step 2: invalid literal string, expected `'`"],
    );
    let large = format!("# {}", "x".repeat(4 << 20));
    refused(&large, expect!["script, line 1: the script is larger than 4194304 bytes"]);
}

#[test]
fn faults_are_one_thing_each() {
    let fault = |text: &str, due: Expect| refused(&format!("[[step]]\n[[step.fault]]\n{text}"), due);
    fault(
        "",
        expect![
            "script, line 2, step 1: a fault needs one of `status`, `error_mid_stream`, `cut_after_events`, `cut_after_bytes`, `end_after_events`, `stall_after_events`, `hang`"
        ],
    );
    fault(
        "status = 500\nhang = true",
        expect!["script, line 2, step 1: one fault cannot be several things; write several `[[step.fault]]`"],
    );
    fault("status = 200", expect!["script, line 2, step 1: `status` 200 is no error (300 to 599)"]);
    fault(
        "hang = true\nretry_after = 5",
        expect![
            "script, line 2, step 1: `retry_after`, `retry_after_ms`, `should_retry` and `error_type` need a `status`"
        ],
    );
    fault(
        "cut_after_events = 1\nafter_events = 5",
        expect!["script, line 2, step 1: `after_events` and `after_bytes` need `error_mid_stream`"],
    );
    fault(
        "error_mid_stream = 'x'\nafter_events = 5\nafter_bytes = 5",
        expect!["script, line 2, step 1: `after_events` and `after_bytes` exclude each other"],
    );
    fault("hang = true\ntimes = 0", expect!["script, line 2, step 1: `times` must be between 1 and 1000"]);
    fault(
        "status = 429\nretry_after = [1]",
        expect!["script, line 2, step 1: `retry_after` is a number of seconds or the text of an HTTP date"],
    );
    fault(
        "status = 429\nretry_after = \"a\\nb\"",
        expect!["script, line 2, step 1: `retry_after` holds a character that no header can carry"],
    );
}

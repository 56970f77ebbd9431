//! What of an old answer is given back.

use crate::context::carried::without_thinking;
use proptest::prelude::*;
use serde_json::{Value, json};

fn kept(content: &str) -> Option<String> {
    without_thinking(content).unwrap().map(|raw| raw.get().to_owned())
}

#[test]
fn thinking_goes_and_the_rest_stays_as_it_was_written() {
    let content = "[ {\"type\":\"thinking\",\"thinking\":\"a\",\"signature\":\"s\"} ,\n{ \"type\" : \"text\", \"text\":\"\\u0041 [\" },{\"type\":\"redacted_thinking\",\"data\":\"d\"},{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":{\"type\":\"thinking\", \"n\":1e3}}]";
    let rest = "[{ \"type\" : \"text\", \"text\":\"\\u0041 [\" },{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":{\"type\":\"thinking\", \"n\":1e3}}]";
    assert_eq!(kept(content).as_deref(), Some(rest));
    assert_eq!(kept(rest).as_deref(), Some(rest), "a second time changes nothing");
}

#[test]
fn nothing_is_left_of_an_answer_that_was_thinking_or_blank() {
    for content in [
        "[]",
        r#"[{"type":"thinking","thinking":"a","signature":"s"}]"#,
        r#"[{"type":"redacted_thinking","data":"a"},{"type":"text","text":" \n"}]"#,
        r#"[{"type":"text"}]"#,
    ] {
        assert_eq!(kept(content), None, "{content}");
    }
}

#[test]
fn what_is_no_answer_is_an_error() {
    for content in ["", "{}", "[1]", r#"["thinking"]"#, r#"[{"text":"x"}]"#, "[{\"type\":\"text\""] {
        assert!(without_thinking(content).is_err(), "{content}");
    }
}

fn block() -> impl Strategy<Value = Value> {
    prop_oneof![
        "\\PC{0,12}".prop_map(|text| json!({ "type": "text", "text": text })),
        "\\PC{0,12}".prop_map(|text| json!({ "type": "thinking", "thinking": text, "signature": "s" })),
        "\\PC{0,12}".prop_map(|data| json!({ "type": "redacted_thinking", "data": data })),
        "\\PC{0,12}".prop_map(|text| json!({ "type": "tool_use", "id": "a", "name": "n", "input": { "x": text } })),
        "[a-z_]{1,8}".prop_map(|kind| json!({ "type": format!("{kind}_result"), "content": [] })),
    ]
}

proptest! {
    /// Exactly the blocks that are neither thinking nor blank words are left, in their order and unchanged.
    #[test]
    fn the_other_blocks_stay(blocks in prop::collection::vec(block(), 0..8)) {
        let content = Value::Array(blocks.clone()).to_string();
        let stays = |block: &&Value| match block["type"].as_str().unwrap() {
            "thinking" | "redacted_thinking" => false,
            "text" => !block["text"].as_str().unwrap().trim().is_empty(),
            _ => true,
        };
        let expected: Vec<Value> = blocks.iter().filter(stays).cloned().collect();
        let left: Vec<Value> = kept(&content).map(|json| serde_json::from_str(&json).unwrap()).unwrap_or_default();
        prop_assert_eq!(left, expected);
    }
}

/// What is given back of an answer in its own epoch; empty when all of it is left out.
fn given_back(content: &str) -> String {
    super::super::carried::as_it_came(content).unwrap().map(|raw| raw.get().to_owned()).unwrap_or_default()
}

#[test]
fn in_its_own_epoch_an_answer_goes_back_byte_for_byte() {
    for content in [
        r#"[ {"type":"text", "text":"hi"},{"type":"tool_use","id":"a","name":"bash","input":{ "n": 1.0e2}} ]"#,
        // Thinking may be bound to the blank words beside it.
        r#"[{"type":"thinking","thinking":"","signature":"s"},{"type":"text","text":"\n\n"},{"type":"text","text":"so"}]"#,
    ] {
        assert_eq!(given_back(content), content);
    }
}

#[test]
fn blank_words_without_thinking_are_left_out_since_the_api_refuses_them() {
    let call = r#"{"type":"tool_use","id":"a","name":"bash","input":{ "n": 1.0e2}}"#;
    assert_eq!(given_back(&format!(r#"[{{"type":"text","text":"\n\n"}}, {call}]"#)), format!("[{call}]"));
    assert_eq!(given_back(r#"[{"type":"text","text":" "}]"#), "");
    assert_eq!(given_back("[]"), "");
}

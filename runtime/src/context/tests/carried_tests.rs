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

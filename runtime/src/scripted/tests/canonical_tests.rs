//! What counts as the same content, and what does not.

use serde_json::{Value, json};

use super::{text, with};
use crate::scripted::canonical::{texts_or_blocks, unmarked};
use crate::scripted::prefix_hash::PrefixHash;

fn hash(block: &Value) -> [u8; 32] {
    let mut prefix = PrefixHash::new(&json!({}));
    prefix.add("user", &unmarked(block));
    prefix.digest()
}

#[test]
fn spelling_and_marks_do_not_count() {
    let plain = json!({ "type": "tool_result", "tool_use_id": "t1", "content": "done" });
    for same in [
        json!({ "content": "done", "tool_use_id": "t1", "type": "tool_result" }),
        json!({ "type": "tool_result", "tool_use_id": "t1", "content": [text("done")] }),
        json!({ "type": "tool_result", "tool_use_id": "t1", "content": "done", "cache_control": { "type": "ephemeral" } }),
        json!({ "type": "tool_result", "tool_use_id": "t1", "content": [{ "type": "text", "text": "done", "cache_control": { "type": "ephemeral" } }] }),
        json!({ "type": "tool_result", "tool_use_id": "t1", "content": "done", "toolset_name": null }),
    ] {
        assert_eq!(hash(&same), hash(&plain), "{same}");
    }
}

#[test]
fn content_counts_down_to_the_last_character() {
    let call = |input: Value| json!({ "type": "tool_use", "id": "t1", "name": "a", "input": input });
    let all = [
        call(json!({})),
        call(json!({ "a": 1 })),
        call(json!({ "a": 1.0 })),
        call(json!({ "a": "1" })),
        call(json!({ "a": [1] })),
        call(json!({ "a": null })),
        call(json!({ "a": { "cache_control": "data" } })),
        call(json!({ "b": 1 })),
        json!({ "type": "tool_use", "id": "t2", "name": "a", "input": {} }),
        json!({ "type": "tool_result", "tool_use_id": "t1", "content": "done" }),
        json!({ "type": "tool_result", "tool_use_id": "t1", "content": "done", "is_error": true }),
        json!({ "type": "tool_result", "tool_use_id": "t1", "content": [text("do"), text("ne")] }),
        text("done"),
        text("done "),
    ];
    for (index, one) in all.iter().enumerate() {
        for other in &all[index + 1..] {
            assert_ne!(hash(one), hash(other), "{one} and {other}");
        }
    }
    assert_eq!(
        hash(&call(json!({ "a": 1, "b": 2 }))),
        hash(&call(json!({ "b": 2, "a": 1 }))),
        "key order does not count"
    );
}

#[test]
fn who_says_what_and_where_one_block_ends_counts() {
    let digest = |parts: &[(&str, Value)]| {
        let mut prefix = PrefixHash::new(&json!({}));
        parts.iter().for_each(|(role, block)| prefix.add(role, block));
        prefix.digest()
    };
    let all = [
        digest(&[]),
        digest(&[("user", text("ab"))]),
        digest(&[("assistant", text("ab"))]),
        digest(&[("user", text("a")), ("user", text("b"))]),
        digest(&[("user", text("b")), ("user", text("a"))]),
    ];
    for (index, one) in all.iter().enumerate() {
        assert!(!all[index + 1..].contains(one), "{index}");
    }
}

#[test]
fn the_head_is_system_and_tools() {
    let digest = |changes: Value| PrefixHash::new(&with(changes)).digest();
    let bare = digest(json!({}));
    assert_eq!(bare, digest(json!({ "max_tokens": 5, "model": "other", "metadata": {}, "messages": [] })));
    assert_eq!(bare, digest(json!({ "system": [], "tools": [] })));
    assert_eq!(digest(json!({ "system": "s" })), digest(json!({ "system": [text("s")] })));
    assert_ne!(bare, digest(json!({ "system": "s" })));
    assert_ne!(digest(json!({ "system": "s" })), digest(json!({ "tools": [{ "name": "s" }] })));
    let marked = json!({ "tools": [{ "name": "s", "cache_control": { "type": "ephemeral" } }] });
    assert_eq!(digest(marked), digest(json!({ "tools": [{ "name": "s" }] })));
}

#[test]
fn contents_that_are_none_have_no_blocks() {
    for odd in [json!(null), json!(5), json!({}), json!(true)] {
        assert_eq!(texts_or_blocks(Some(&odd)), Vec::<Value>::new());
    }
    assert_eq!(texts_or_blocks(None), Vec::<Value>::new());
    assert_eq!(texts_or_blocks(Some(&json!("x"))), [text("x")]);
    assert_eq!(unmarked(&json!("no object")), json!("no object"));
}

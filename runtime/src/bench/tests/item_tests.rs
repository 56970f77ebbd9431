//! Items: what the text of a call is, and what it replaces.

use super::super::{Item, ItemKind};
use super::{call, user};
use serde_json::json;

#[test]
fn the_text_of_a_call_is_the_strings_of_its_input() {
    let item = call("Edit", "a.rs", &json!({ "file_path": "/w/a.rs", "n": 3, "deep": [{ "x": "one" }, "two", null] }));
    assert_eq!(item.text, "/w/a.rs\none\ntwo");
    assert_eq!((item.chars, item.tokens), (15, 4));
    assert_eq!(item.input("file_path"), Some("/w/a.rs"));
    assert_eq!(item.input("n"), None);
}

#[test]
fn what_is_no_json_stays_as_it_is() {
    let broken = Item::new(ItemKind::ToolCall, "Bash", "", "{\"command\": ", 0);
    assert_eq!((broken.text.as_str(), broken.call.len()), ("{\"command\": ", 0));
    // JSON that is no object has strings, and no fields.
    let list = Item::new(ItemKind::ToolCall, "Bash", "", "[\"a\", 1]", 0);
    assert_eq!((list.text.as_str(), list.call.len()), ("a", 0));
    assert_eq!(Item::new(ItemKind::ToolCall, "Bash", "", "7", 0).text, "");
    // Only calls are read so.
    assert_eq!(user("{\"a\": \"b\"}").text, "{\"a\": \"b\"}");
}

#[test]
fn replaced_are_all_old_strings() {
    let one = call("Edit", "", &json!({ "old_string": "x", "new_string": "y" }));
    assert_eq!(one.replaced(), ["x"]);
    let edits = json!([{ "old_string": "a" }, { "old_string": 7 }, "no edit", { "old_string": "b" }]);
    assert_eq!(call("MultiEdit", "", &json!({ "edits": edits })).replaced(), ["a", "b"]);
    assert_eq!(call("MultiEdit", "", &json!({ "edits": "abc" })).replaced(), Vec::<&str>::new());
    assert_eq!(call("Read", "", &json!({})).replaced(), Vec::<&str>::new());
}

#[test]
fn kinds_have_names() {
    for name in ["user", "meta", "assistant", "thinking", "tool_call", "tool_result", "summary"] {
        assert!(ItemKind::parse(name).is_some(), "{name}");
    }
    assert_eq!(ItemKind::parse("User"), None);
}

//! Requests of a session.

use super::super::{ItemKind, RecordedRequest};
use super::{call, item, result, session, user};
use serde_json::json;

#[test]
fn a_request_stands_wherever_the_model_begins_to_speak() {
    let thinks = || item(ItemKind::Thinking, "hm");
    let played = session(vec![
        user("go"),
        thinks(),
        call("Read", "a", &json!({})),
        call("Read", "b", &json!({})),
        result("Read", "a", "x"),
        result("Read", "b", "y"),
        item(ItemKind::Assistant, "done"),
        item(ItemKind::Summary, "short"),
        thinks(),
    ]);
    let at = |at: usize| RecordedRequest { at, sent_ms: 1_000 * at as u64 };
    assert_eq!(played.requests(), [at(1), at(6), at(8)]);
    assert_eq!(played.tokens(), played.items.iter().map(|item| item.tokens).sum::<u64>());
    assert_eq!(session(Vec::new()).requests(), []);
    assert_eq!(played.newest(5, &[ItemKind::ToolResult]).unwrap().path, "a");
    assert_eq!(played.newest(4, &[ItemKind::ToolResult]), None);
}

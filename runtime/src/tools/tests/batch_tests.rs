//! What a batch may hold, and how the results of its calls become one.

use crate::tools::{cut_part, joined, named, part_share_bytes, parts_of};
use retrace_events::CallId;
use serde_json::json;

fn call() -> CallId {
    CallId("toolu_9".to_owned())
}

#[test]
fn a_batch_is_taken_apart_word_for_word() {
    // Order, white space and numbers are the model's: a call is logged as it was written.
    let input = r#"{"calls":[{"input":{"b":1.50,  "a":"é"},"tool":"bash"},{"tool":"no_such_tool","input":{}}]}"#;
    let parts = parts_of(&call(), "batch", input).unwrap();
    let seen: Vec<(&str, &str, &str)> =
        parts.iter().map(|part| (part.call.0.as_str(), part.tool.as_str(), part.input.as_str())).collect();
    assert_eq!(seen, [("toolu_9.1", "bash", r#"{"b":1.50,  "a":"é"}"#), ("toolu_9.2", "no_such_tool", "{}")]);
}

#[test]
fn what_is_no_batch_has_no_parts() {
    let many = |count: usize| json!({ "calls": vec![json!({ "tool": "kill", "input": {} }); count] }).to_string();
    let nested = r#"{"calls":[{"tool":"kill","input":{}},{"tool":"batch","input":{"calls":[]}}]}"#;
    for input in ["", "[]", "{}", r#"{"calls":{}}"#, r#"{"calls":[{"tool":"bash"}]}"#, nested, &many(0), &many(17)] {
        assert!(parts_of(&call(), "batch", input).is_none(), "{input}");
    }
    assert!(parts_of(&call(), "bash", &many(2)).is_none());
    assert_eq!(parts_of(&call(), "batch", &many(16)).unwrap().len(), 16);
    let refused = named("batch").unwrap().refused(&serde_json::from_str(nested).unwrap()).unwrap();
    assert_eq!(refused.content, "call 2 of the batch: batch cannot be in a batch; nothing was done");
}

#[test]
fn results_share_what_room_there_is() {
    assert_eq!(part_share_bytes(0, 1), 48_000);
    assert_eq!(part_share_bytes(0, 16), 3_000);
    // What the first did not need the others have.
    assert_eq!(part_share_bytes(1_000, 2), 23_500);
    assert_eq!(part_share_bytes(1_000_000, 3), 500, "something of each is shown");
    let long = "a line\n".repeat(2_000);
    let cut = cut_part(&long, 3_000, &call());
    assert!(cut.len() <= 3_000 && cut.len() > 2_500, "{}", cut.len());
    assert!(cut.contains("left out here for want of room; to see all: read_output with call_id toolu_9]"), "{cut}");
    assert_eq!(cut_part("short", 3_000, &call()), "short");
}

#[test]
fn each_result_stands_below_what_it_is_of() {
    let parts = [
        ("read_file", r#"{"path":"a.rs"}"#, false, "1\tfn a() {}\n"),
        ("bash", r#"{"command":"false"}"#, true, "exit code: 1\n[no output]"),
    ];
    let text = joined(parts.into_iter());
    assert_eq!(
        text,
        "[1 of 2: read_file a.rs]\n1\tfn a() {}\n\n[2 of 2: bash false; failed]\nexit code: 1\n[no output]"
    );
    let summary = named("batch").unwrap().summary(&json!({"calls": [{"tool": "read_file", "input": {"path": "a"}}]}));
    assert_eq!(summary, "1 call: read_file a");
}

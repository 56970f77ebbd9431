//! Usage reports replace, never add, and odd values change nothing.

use serde_json::json;

use crate::claude::Usage;

#[test]
fn a_report_replaces_what_it_names_and_nothing_else() {
    let mut usage = Usage { input_tokens: 5, output_tokens: 6, cache_read_input_tokens: 7, ..Usage::default() };
    usage.absorb(&json!({ "output_tokens": 2, "cache_creation_input_tokens": 9 }));
    let due = Usage {
        input_tokens: 5,
        output_tokens: 2,
        cache_read_input_tokens: 7,
        cache_creation_input_tokens: 9,
        ..Usage::default()
    };
    assert_eq!(usage, due);
}

#[test]
fn values_that_are_no_counts_are_left_out() {
    let before = Usage { input_tokens: 5, thinking_tokens: 3, ..Usage::default() };
    for odd in [
        json!(null),
        json!("many"),
        json!([1]),
        json!({ "input_tokens": null }),
        json!({ "input_tokens": -1 }),
        json!({ "input_tokens": 1.5 }),
        json!({ "input_tokens": "7" }),
        json!({ "input_tokens": 1e40 }),
        json!({ "cache_creation": 3, "server_tool_use": [], "output_tokens_details": "x" }),
        json!({ "inference_geo": "eu", "service_tier": "standard", "iterations": [{ "input_tokens": 1 }] }),
    ] {
        let mut usage = before;
        usage.absorb(&odd);
        assert_eq!(usage, before, "{odd}");
    }
}

#[test]
fn the_split_of_cache_writes_and_their_sum_never_lose_tokens() {
    let writes = |sum, short, long| Usage {
        cache_creation_input_tokens: sum,
        cache_creation_5m_input_tokens: short,
        cache_creation_1h_input_tokens: long,
        ..Usage::default()
    };
    assert_eq!(writes(10, 4, 6).cache_write_5m(), 4);
    assert_eq!(writes(10, 0, 0).cache_write_5m(), 10, "without a split all are short-lived");
    assert_eq!(writes(10, 0, 6).cache_write_5m(), 4);
    assert_eq!(writes(0, 4, 6).cache_write_5m(), 4, "a split without a sum");
    assert_eq!(writes(3, 4, 6).total_input_tokens(), 10, "a sum below its split");
    let huge = Usage { input_tokens: u64::MAX, cache_read_input_tokens: u64::MAX, ..Usage::default() };
    assert_eq!(huge.total_input_tokens(), u64::MAX);
}

#[test]
fn old_and_new_records_can_be_read() {
    let stored = serde_json::to_value(Usage { output_tokens: 3, ..Usage::default() }).unwrap();
    assert_eq!(serde_json::from_value::<Usage>(stored).unwrap().output_tokens, 3);
    assert_eq!(serde_json::from_value::<Usage>(json!({ "of_the_future": 1 })).unwrap(), Usage::default());
}

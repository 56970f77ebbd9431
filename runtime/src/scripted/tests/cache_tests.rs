//! The simulated prompt cache bills what the real one would.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{assistant, messages, user, with};
use crate::scripted::cache::{InputTokens, PromptCache, count_tokens};

/// A block of about 1,000 tokens.
fn block(n: usize) -> Value {
    json!({ "type": "text", "text": format!("{n:04}").repeat(1_000) })
}

fn marked(n: usize, ttl: &str) -> Value {
    let mut block = block(n);
    block["cache_control"] = json!({ "type": "ephemeral", "ttl": ttl });
    block
}

fn blocks(list: Vec<Value>) -> Value {
    messages(json!([user(json!(list))]))
}

fn account(cache: &mut PromptCache, request: &Value) -> InputTokens {
    let tokens = cache.account(request, 500, Instant::now());
    let total = tokens.fresh + tokens.read + tokens.written_5m + tokens.written_1h;
    assert_eq!(total, count_tokens(request), "every token is counted once");
    tokens
}

fn thousands(tokens: InputTokens) -> [u64; 4] {
    [tokens.fresh, tokens.read, tokens.written_5m, tokens.written_1h].map(|tokens| (tokens + 250) / 1_000)
}

#[test]
fn written_once_and_read_afterwards() {
    let mut cache = PromptCache::default();
    let request = blocks(vec![block(1), marked(2, "5m"), block(3)]);
    assert_eq!(thousands(account(&mut cache, &request)), [1, 0, 2, 0]);
    assert_eq!(thousands(account(&mut cache, &request)), [1, 2, 0, 0]);
    let longer = blocks(vec![block(1), block(2), block(3), marked(4, "5m")]);
    assert_eq!(thousands(account(&mut cache, &longer)), [0, 2, 2, 0], "found although the mark moved on");
    let changed = blocks(vec![block(9), marked(2, "5m"), block(3)]);
    assert_eq!(thousands(account(&mut cache, &changed)), [1, 0, 2, 0]);
    let other_model = {
        let mut other = request;
        other["model"] = json!("claude-opus-5");
        other
    };
    assert_eq!(thousands(account(&mut cache, &other_model)), [1, 0, 2, 0]);
}

#[test]
fn lifetimes_are_billed_apart_and_tools_come_first() {
    let mut cache = PromptCache::default();
    let request = with(json!({
        "messages": [user(json!([block(1), marked(2, "5m")]))],
        "system": [marked(3, "1h")],
        "tools": [{ "name": "a", "description": "x".repeat(4_000), "input_schema": { "type": "object" } }],
    }));
    assert_eq!(thousands(account(&mut cache, &request)), [0, 0, 2, 2]);
    let mut changed = request.clone();
    changed["messages"][0]["content"][0] = block(7);
    assert_eq!(thousands(account(&mut cache, &changed)), [0, 2, 2, 0], "tools and system are read");
    let mut tools = request;
    tools["tools"][0]["name"] = json!("b");
    assert_eq!(thousands(account(&mut cache, &tools)), [0, 0, 2, 2], "a change in the tools loses everything");
}

#[test]
fn nothing_is_kept_without_marks_or_below_the_minimum() {
    let mut cache = PromptCache::default();
    let plain = blocks(vec![block(1), block(2)]);
    for _ in 0..2 {
        assert_eq!(thousands(account(&mut cache, &plain)), [2, 0, 0, 0]);
    }
    let mut small =
        messages(json!([user(json!([{ "type": "text", "text": "x", "cache_control": { "type": "ephemeral" } }]))]));
    for _ in 0..2 {
        let tokens = account(&mut cache, &small);
        assert_eq!((tokens.read, tokens.written_5m), (0, 0));
    }
    small["messages"][0]["content"].as_array_mut().unwrap().push(block(1));
    small["cache_control"] = json!({ "type": "ephemeral" });
    assert_eq!(thousands(account(&mut cache, &small)), [0, 0, 1, 0], "a mark on the request is one on its last block");
    assert_eq!(thousands(account(&mut cache, &small)), [0, 1, 0, 0]);
}

#[test]
fn the_look_back_is_twenty_blocks() {
    let first = blocks(vec![marked(0, "5m")]);
    let grown = |by: usize| {
        let mut list: Vec<Value> = (0..by).map(block).collect();
        list.push(marked(by, "5m"));
        blocks(list)
    };
    for (by, read) in [(19, 1), (20, 0)] {
        let mut cache = PromptCache::default();
        account(&mut cache, &first);
        assert_eq!(thousands(account(&mut cache, &grown(by)))[1], read, "{by} blocks behind");
    }
    let mut cache = PromptCache::default();
    account(&mut cache, &first);
    let mut two_marks = grown(20);
    two_marks["messages"][0]["content"][10] = marked(10, "5m");
    assert_eq!(thousands(account(&mut cache, &two_marks))[1], 1, "a mark in between reaches further back");
}

#[tokio::test(start_paused = true)]
async fn lifetimes_end_and_reading_renews_them() {
    let mut cache = PromptCache::default();
    let (short, long) = (blocks(vec![marked(1, "5m")]), blocks(vec![marked(2, "1h")]));
    account(&mut cache, &short);
    account(&mut cache, &long);
    tokio::time::advance(Duration::from_secs(290)).await;
    assert_eq!(thousands(account(&mut cache, &short))[1], 1);
    tokio::time::advance(Duration::from_secs(290)).await;
    assert_eq!(thousands(account(&mut cache, &short))[1], 1, "read 290 s ago, so still alive");
    tokio::time::advance(Duration::from_secs(301)).await;
    assert_eq!(thousands(account(&mut cache, &short))[1], 0);
    assert_eq!(thousands(account(&mut cache, &long))[1], 1);
    tokio::time::advance(Duration::from_secs(3_601)).await;
    assert_eq!(thousands(account(&mut cache, &long))[1], 0);
}

#[tokio::test(start_paused = true)]
async fn reading_renews_a_prefix_also_when_the_mark_has_moved_on() {
    let mut cache = PromptCache::default();
    let first = blocks(vec![marked(1, "5m")]);
    let longer = blocks(vec![block(1), marked(2, "5m")]);
    account(&mut cache, &first);
    tokio::time::advance(Duration::from_secs(290)).await;
    assert_eq!(thousands(account(&mut cache, &longer)), [0, 1, 1, 0]);
    tokio::time::advance(Duration::from_secs(290)).await;
    assert_eq!(thousands(account(&mut cache, &first)), [0, 1, 0, 0], "written 580 s ago, read 290 s ago");
}

#[test]
fn a_growing_conversation_reads_nearly_all_of_itself() {
    let mut cache = PromptCache::default();
    let mut list = vec![user(json!([block(0)]))];
    let (mut read, mut total) = (0, 0);
    for turn in 1..20 {
        let mut now = list.clone();
        let last = now.last_mut().unwrap()["content"].as_array_mut().unwrap().last_mut().unwrap();
        last["cache_control"] = json!({ "type": "ephemeral" });
        let request = messages(json!(now));
        read += account(&mut cache, &request).read;
        total += count_tokens(&request);
        list.push(assistant(json!([block(turn * 2)])));
        list.push(user(json!([block(turn * 2 + 1)])));
    }
    assert!(read * 100 / total >= 85, "{read} of {total}");
}

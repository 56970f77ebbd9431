//! The parts of the simulation that stand alone.

use crate::bench::cache::{CacheLifetime, CacheMark, CacheSimulator};
use crate::claude::ModelTable;
use crate::config::ThinkingChoice;
use crate::replaying::OtherSettings;
use crate::replaying::what_if::cache_blocks::CacheBlocks;
use crate::replaying::what_if::request_figures::{divided, share};
use crate::replaying::what_if::{ItemKind, RequestFigures};
use proptest::prelude::*;
use retrace_events::payload::settings::Settings;
use retrace_events::testing::example_settings;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn parsed(pairs: &[&str]) -> OtherSettings {
    OtherSettings::parse(&pairs.iter().map(|pair| (*pair).to_owned()).collect::<Vec<_>>()).unwrap()
}

#[test]
fn pairs_are_read_as_the_configuration_reads_them() {
    let other = parsed(&["context_tokens=30000", " model = claude-haiku-4-5 ", "effort=none", "thinking=2048"]);
    assert_eq!(other.context_tokens, Some(Some(30_000)));
    assert_eq!(other.model.as_deref(), Some("claude-haiku-4-5"));
    assert_eq!((other.effort, other.thinking), (Some(None), Some(ThinkingChoice::Budget(2_048))));
    assert_eq!(other.max_tokens, None);
    assert_eq!(parsed(&["context_tokens=none"]).context_tokens, Some(None));
    assert_eq!(parsed(&[]), OtherSettings::default());
}

#[test]
fn only_what_is_given_is_changed() {
    let models = ModelTable::builtin().unwrap();
    let model = "claude-opus-5-5".to_owned();
    let settings = Settings {
        thinking: ThinkingChoice::Auto.field(&models.row(&model), 8_000),
        model,
        max_tokens: 8_000,
        effort: Some("low".to_owned()),
        ..example_settings()
    };
    assert_eq!(parsed(&["context_tokens=30000"]).over(&settings, &models), settings);
    let changed = parsed(&["max_tokens=4000", "effort=high"]).over(&settings, &models);
    assert_eq!((changed.max_tokens, changed.effort.as_deref()), (4_000, Some("high")));
    assert_eq!(changed.model, settings.model);
    // A thinking that was the model's own choice is the other model's own.
    let other = parsed(&["model=claude-haiku-4-5"]).over(&settings, &models);
    assert_eq!(other.thinking, ThinkingChoice::Auto.field(&models.row("claude-haiku-4-5"), 8_000));
    let off = parsed(&["thinking=off"]).over(&settings, &models);
    assert_eq!(off.thinking, ThinkingChoice::Off.field(&models.row("claude-opus-5-5"), 8_000));
}

fn body(words: &[&str]) -> Vec<u8> {
    let mut blocks: Vec<Value> = words.iter().map(|word| json!({ "type": "text", "text": word })).collect();
    if let Some(last) = blocks.last_mut() {
        last["cache_control"] = json!({ "type": "ephemeral" });
    }
    json!({
        "model": "m",
        "tools": [{ "name": "t", "input_schema": { "cache_control": "data" } }],
        "system": [{ "type": "text", "text": "s", "cache_control": { "type": "ephemeral", "ttl": "1h" } }],
        "messages": [{ "role": "user", "content": blocks }],
    })
    .to_string()
    .into_bytes()
}

#[test]
fn blocks_stand_in_the_apis_order_with_their_marks() {
    let blocks = CacheBlocks::of(&body(&["one", "two"]));
    let (segments, marks) = blocks.segments(1_000);
    assert_eq!(segments.len(), 4);
    assert_eq!(segments.iter().map(|segment| segment.tokens).sum::<u64>(), 1_000);
    let mark = |segment, lifetime| CacheMark { segment, lifetime };
    assert_eq!(marks, [mark(1, CacheLifetime::OneHour), mark(3, CacheLifetime::FiveMinutes)]);
    // A mark is no part of a block, and a model's cache is its own.
    let later = CacheBlocks::of(&body(&["one", "two", "three"]));
    assert_eq!(
        later.segments(9).0[..4].iter().map(|one| one.hash).collect::<Vec<_>>(),
        segments.iter().map(|one| one.hash).collect::<Vec<_>>()
    );
    let other = String::from_utf8(body(&["one", "two"])).unwrap().replace("\"m\"", "\"n\"");
    assert_ne!(CacheBlocks::of(other.as_bytes()).segments(9).0[0].hash, segments[0].hash);
}

#[test]
fn a_conversation_that_grows_is_read_from_the_cache() {
    let mut cache = CacheSimulator::new(0);
    let mut send = |words: &[&str], at_ms| {
        let blocks = CacheBlocks::of(&body(words));
        let (segments, marks) = blocks.segments(1_000);
        cache.send(&segments, marks, at_ms)
    };
    assert_eq!(send(&["one"], 0).read, 0);
    let second = send(&["one", "two"], 1_000);
    assert!(second.read > 0 && second.fresh == 0 && second.total() == 1_000, "{second:?}");
    assert_eq!(send(&["other"], 2 * 60 * 60 * 1_000).read, 0, "two hours later nothing is there");
}

#[test]
fn what_is_no_body_has_no_blocks() {
    assert_eq!(CacheBlocks::of(b"nonsense"), CacheBlocks::default());
    assert!(CacheBlocks::of(b"{}").segments(5).0.is_empty());
}

#[test]
fn sums_count_epochs_once() {
    let one = RequestFigures { epoch: 1, input_tokens: 10, read_tokens: 4, written_tokens: 5, ..Default::default() };
    let mut total = RequestFigures::default();
    [one.clone(), RequestFigures { epoch: 2, cost_microusd: 7, ..one }].iter().for_each(|figures| total.add(figures));
    assert_eq!((total.epoch, total.input_tokens, total.fresh_tokens(), total.cost_microusd), (2, 20, 2, 7));
}

proptest! {
    #[test]
    fn tokens_are_divided_without_a_remainder_to_speak_of(bytes in proptest::collection::vec(0_u64..1_000_000, 1..5), total in 0_u64..10_000_000) {
        let bytes: BTreeMap<ItemKind, u64> = ItemKind::ALL.into_iter().zip(bytes).collect();
        let parts = divided(&bytes, total);
        let sum: u64 = parts.values().sum();
        prop_assert!(sum <= total);
        if bytes.values().any(|bytes| *bytes > 0) {
            prop_assert!(total - sum <= ItemKind::ALL.len() as u64);
        }
    }

    #[test]
    fn a_share_is_never_more_than_the_whole(total: u64, whole in 1_u64.., part: u64) {
        prop_assert!(share(total, part.min(whole), whole) <= total);
    }
}

//! Calls that are made of others: the model hears of them once, in one result, and each part is a call of its own until then.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::tests::{Chain, called, finished, with_two_calls};
use super::{CallProgress, Stage, TranscriptItem};
use crate::id::{CallId, EventId};
use crate::payload::context::ContextImageAttached;
use crate::payload::tool::{ToolEffect, ToolPart, ToolParted};

fn part(call: &str) -> ToolPart {
    ToolPart { call: CallId(call.into()), tool: "read_file".into(), input: r#"{"path":"x"}"#.into() }
}

/// A session whose first call is begun and made of two, and whose second one waits.
fn parted() -> (Chain, EventId) {
    let (mut chain, answer) = with_two_calls();
    chain.push(called("a", ToolEffect::ReadOnly, answer));
    chain.push(ToolParted { call: CallId("a".into()), parts: vec![part("a.1"), part("a.2"), part("b")] });
    (chain, answer)
}

fn ids(chain: &Chain) -> Vec<&str> {
    chain.state.calls.iter().map(|call| call.id.0.as_str()).collect()
}

#[test]
fn parts_stand_behind_their_whole_and_are_calls_like_any() {
    let (mut chain, answer) = parted();
    assert_eq!(ids(&chain), ["a", "a.1", "a.2", "b"], "a part with the id of another call is none");
    chain.push(called("a.1", ToolEffect::ReadOnly, answer));
    assert_eq!(chain.state.calls[1].progress, CallProgress::Begun(ToolEffect::ReadOnly));
    chain.push(finished("a.1", "one"));
    assert!(!chain.state.parted[0].is_complete());
    let results = |chain: &Chain| {
        chain.state.transcript.items().iter().filter(|item| matches!(item, TranscriptItem::Result { .. })).count()
    };
    assert_eq!(results(&chain), 0, "a part has no result in the conversation");
    chain.push(finished("a.2", "two"));
    assert!(chain.state.parted[0].is_complete());
    assert_eq!(*chain.stage(), Stage::Calls, "the whole has no result yet");
    chain.push(finished("a", "one and two"));
    assert_eq!((results(&chain), chain.state.parted.len()), (1, 0));
    chain.push(finished("b", "three"));
    assert!(matches!(chain.stage(), Stage::Ask { .. }));
    assert!(chain.state.calls.is_empty());
    assert_eq!(results(&chain), 2);
}

#[test]
fn images_of_parts_come_with_the_whole() {
    let (mut chain, _) = parted();
    for call in ["a.1", "a.2"] {
        chain.push(ContextImageAttached {
            name: "x.png".into(),
            media_type: "image/png".into(),
            data_base64: call.into(),
            call: Some(CallId(call.into())),
            width_px: 1,
            height_px: 1,
        });
        chain.push(finished(call, "an image"));
    }
    chain.push(finished("a", "both"));
    let Some(TranscriptItem::Result { images, .. }) = chain.state.transcript.items().last() else {
        panic!("no result")
    };
    assert_eq!(images.iter().map(|image| &*image.data_base64).collect::<Vec<_>>(), ["a.1", "a.2"]);
}

#[test]
fn whoever_looks_for_circles_sees_the_parts() {
    let (mut chain, _) = parted();
    let record = chain.state.steps.back().unwrap().record();
    assert_eq!(record.calls.iter().map(|call| call.call.0.as_str()).collect::<Vec<_>>(), ["a.1", "a.2", "b"]);
    chain.push(finished("a.1", "one"));
    // The whole ends without its second part, as a turn that is broken off may end it.
    chain.push(finished("a", "broken off"));
    chain.push(finished("b", "three"));
    let record = chain.state.steps.back().unwrap().record();
    assert!(record.is_complete(), "{record:?}");
    assert!(record.calls[1].is_error && !record.calls[0].is_error);
    assert!(matches!(chain.stage(), Stage::Ask { .. }));
}

#[test]
fn what_was_not_begun_is_not_parted() {
    let (mut chain, _) = with_two_calls();
    chain.push(ToolParted { call: CallId("a".into()), parts: vec![part("a.1")] });
    assert_eq!(ids(&chain), ["a", "b"]);
}

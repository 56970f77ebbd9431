//! Loading a session: pages, chain errors, and forks.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::*;
use crate::hash::Hash;
use crate::log::MemoryLog;
use crate::payload::Payload;
use crate::testing::{EventMaker, example_payloads, example_stream};

fn stream() -> StreamId {
    example_stream("loaded")
}

/// A log with `count` prompts, and the prompts.
async fn log_of(count: usize) -> (MemoryLog, Vec<Envelope>) {
    let log = MemoryLog::new();
    let events = EventMaker::new(stream(), 1).prompts(count);
    for batch in events.chunks(100) {
        log.append(batch).await.unwrap();
    }
    (log, events)
}

#[tokio::test]
async fn what_is_loaded_is_the_fold_of_all_pages() {
    for count in [0, 1, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE] {
        let (log, events) = log_of(count).await;
        let state = load(&log, &stream()).await.unwrap();
        assert_eq!(state.next_seq(), count as u64);
        assert_eq!(state.totals.prompts as usize, count);
        assert_eq!(state.head_hash(), events.last().map_or(Hash::GENESIS, |last| last.hash().unwrap()));
        assert_eq!(format!("{state:?}"), format!("{:?}", fold(events).unwrap()));
    }
}

#[tokio::test]
async fn what_is_folded_until_a_place_ends_there_and_goes_on_from_there() {
    let (log, events) = log_of(2 * PAGE + 10).await;
    let history = History::of(&log, &stream()).await.unwrap();
    let mut state = SessionState::default();
    for until in [0, 1, 7, PAGE as u64, PAGE as u64 + 1, 2 * PAGE as u64 + 3, 5, u64::MAX] {
        let before = state.next_place();
        continue_until(&log, &history, &mut state, until).await.unwrap();
        // Nothing is taken back.
        assert_eq!(state.next_place(), until.min(events.len() as u64).max(before));
    }
    assert_eq!(format!("{state:?}"), format!("{:?}", fold(events).unwrap()));
}

#[tokio::test]
async fn a_stream_that_is_not_there_is_an_empty_session() {
    let (log, _) = log_of(3).await;
    let state = load(&log, &example_stream("another")).await.unwrap();
    assert_eq!((state.head, state.next_seq()), (None, 0));
    assert!(state.settings.is_none());
}

#[tokio::test]
async fn damage_anywhere_is_found() {
    for seq in [0, 1, 7, PAGE as u64 - 1, PAGE as u64, PAGE as u64 + 3] {
        type Harm = fn(&MemoryLog, &StreamId, u64);
        let harms: [Harm; 2] =
            [|log, stream, seq| log.flip_byte(stream, seq), |log, stream, seq| log.remove_event(stream, seq)];
        for harm in harms {
            let (log, _) = log_of(PAGE + 10).await;
            harm(&log, &stream(), seq);
            let outcome = load(&log, &stream()).await;
            match outcome {
                Err(LogError::Damaged { seq: named, .. }) => assert!(named.abs_diff(seq) <= 1, "{named} for {seq}"),
                other => panic!("{seq}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_payload_that_is_not_what_its_kind_says_stops_the_fold() {
    let mut maker = EventMaker::new(stream(), 1);
    let good = maker.prompt("one");
    let bad = maker.raw("turn.prompted", 1, vec![crate::codec::BINCODE_2, 255, 255], None);
    assert!(matches!(fold([good.clone(), bad]), Err(CodecError::Malformed { .. })));
    let foreign = maker.raw("turn.prompted", 1, vec![9, 0], None);
    assert!(matches!(fold([good, foreign]), Err(CodecError::UnknownCodec(9))));
}

#[test]
fn any_order_of_events_folds_without_a_panic_and_only_depends_on_them() {
    // Each kind after each other kind: a hostile or damaged log may hold any of them.
    let payloads: Vec<Payload> = example_payloads();
    for first in &payloads {
        for second in &payloads {
            let events = || {
                let mut maker = EventMaker::new(stream(), 1);
                [first, second, first].map(|payload| maker.payload(payload, None))
            };
            let (one, other) = (fold(events()).unwrap(), fold(events()).unwrap());
            assert_eq!(one.next_seq(), 3);
            assert_eq!(format!("{:?}", one.transcript), format!("{:?}", other.transcript));
            assert_eq!(one.head, other.head);
        }
    }
}

#[test]
fn the_first_newer_kind_is_remembered() {
    let mut maker = EventMaker::new(stream(), 1);
    let events =
        [maker.prompt("one"), maker.opaque("turn.pondered", 9), maker.opaque("tool.sung", 9), maker.prompt("two")];
    let state = fold(events).unwrap();
    assert_eq!(state.newer.as_deref(), Some("`turn.pondered` (schema 1)"));
    assert_eq!((state.totals.prompts, state.next_seq()), (2, 4));
}

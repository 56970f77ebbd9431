//! The writer: places, links, lost acks, and what it does when it has lost the stream.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::*;
use crate::log::{Fault, MemoryLog};
use crate::mint::SeededMint;
use crate::payload::{session, turn};
use crate::testing::example_stream;
use crate::verify::verify_stream;

fn prompt(text: &str) -> (Payload, Option<EventId>) {
    let prompted =
        turn::TurnPrompted { text: text.to_owned(), source: turn::PromptSource::Local, attachments: Vec::new() };
    (prompted.into(), None)
}

fn writer(log: &MemoryLog, seed: u64) -> Writer {
    Writer::create(Arc::new(log.clone()), Arc::new(SeededMint::new(seed)), example_stream("written"), Hash::GENESIS)
}

#[tokio::test]
async fn events_get_their_place_and_link() {
    let log = MemoryLog::new();
    let mut writer = writer(&log, 1);
    let first = writer.append(vec![prompt("one"), prompt("two")]).await.unwrap();
    let cause = Some(first[0].envelope.id);
    let closed = session::SessionClosed { why: "done".to_owned() };
    let second = writer.append(vec![(closed.clone().into(), cause)]).await.unwrap();
    assert_eq!(writer.next_seq(), 3);
    let events = [first, second].concat();
    let stored = log.read(&example_stream("written"), 0, 10).await.unwrap();
    assert_eq!(stored, events.iter().map(|event| event.envelope.clone()).collect::<Vec<_>>());
    assert_eq!(stored[2].cause, cause);
    assert_eq!(events[2].payload.known(), Some(&closed.into()));
    for pair in events.windows(2) {
        assert_eq!(pair[1].envelope.prev_hash, pair[0].hash);
    }
    let verified = verify_stream(&log, writer.stream()).await.unwrap();
    assert_eq!((verified.events, verified.head), (3, events[2].hash));
}

#[tokio::test]
async fn nothing_to_append_is_nothing_appended() {
    let log = MemoryLog::new();
    let mut writer = writer(&log, 1);
    assert!(writer.append(Vec::new()).await.unwrap().is_empty());
    assert_eq!(writer.next_seq(), 0);
}

#[tokio::test]
async fn a_lost_ack_is_repeated_and_stored_once() {
    let log = MemoryLog::new();
    let mut writer = writer(&log, 1);
    log.fail_next(Fault::LoseAck);
    writer.append(vec![prompt("one")]).await.unwrap();
    log.fail_next(Fault::NotStored);
    log.fail_next(Fault::LoseAck);
    writer.append(vec![prompt("two"), prompt("three")]).await.unwrap();
    assert_eq!(verify_stream(&log, writer.stream()).await.unwrap().events, 3);
}

#[tokio::test]
async fn a_log_that_stays_silent_is_reported_and_the_writer_stays_where_it_was() {
    let log = MemoryLog::new();
    let mut writer = writer(&log, 1);
    for _ in 0..3 {
        log.fail_next(Fault::NotStored);
    }
    let error = writer.append(vec![prompt("one")]).await.unwrap_err();
    assert!(matches!(error, LogError::Unavailable { .. }), "{error}");
    assert_eq!(writer.next_seq(), 0);
    log.fail_next(Fault::Full);
    let error = writer.append(vec![prompt("one")]).await.unwrap_err();
    assert!(matches!(error, LogError::Full { .. }), "{error}");
    writer.append(vec![prompt("one")]).await.unwrap();
    assert_eq!(verify_stream(&log, writer.stream()).await.unwrap().events, 1);
}

#[tokio::test]
async fn the_second_writer_is_fenced_and_stays_so() {
    let log = MemoryLog::new();
    let (mut first, mut second) = (writer(&log, 1), writer(&log, 2));
    let stored = first.append(vec![prompt("one")]).await.unwrap();
    for _ in 0..2 {
        let error = second.append(vec![prompt("other")]).await.unwrap_err();
        assert!(matches!(error, LogError::Fenced { tried: 0, actual_next: 1, .. }), "{error}");
    }
    let last = (stored[0].envelope.seq, stored[0].hash);
    let mint: Arc<dyn Mint> = Arc::new(SeededMint::new(3));
    let mut third = Writer::resume(Arc::new(log.clone()), mint, example_stream("written"), last);
    // Its clock is behind that of the first, which the strict log does not take for correct.
    while third.mint().now() < stored[0].envelope.at {}
    third.append(vec![prompt("taken over")]).await.unwrap();
    assert!(first.append(vec![prompt("too late")]).await.is_err());
    assert_eq!(verify_stream(&log, third.stream()).await.unwrap().events, 2);
}

#[tokio::test]
async fn numbers_and_links_do_not_depend_on_how_events_are_batched() {
    let mut hashes = Vec::new();
    for sizes in [vec![6], vec![1; 6], vec![2, 3, 1], vec![0, 5, 0, 1]] {
        let log = MemoryLog::new();
        let mut writer = writer(&log, 7);
        let mut number = 0;
        for size in sizes {
            let batch = (number..number + size).map(|n| prompt(&format!("prompt {n}"))).collect();
            number += size;
            let events = writer.append(batch).await.unwrap();
            assert_eq!(events.len(), size);
            assert_eq!(writer.next_seq(), number as u64);
        }
        let stored = log.read(writer.stream(), 0, 100).await.unwrap();
        assert!(stored.iter().enumerate().all(|(place, event)| event.seq == place as u64));
        hashes.push(verify_stream(&log, writer.stream()).await.unwrap().head);
    }
    // The same mint was asked the same questions, so the logs are the same to the byte.
    assert!(hashes.windows(2).all(|pair| pair[0] == pair[1]), "{hashes:?}");
}

#[tokio::test]
async fn a_resumed_writer_goes_on_where_the_stream_ends() {
    let log = MemoryLog::new();
    let mut first = writer(&log, 1);
    let mut last = first.append(vec![prompt("one")]).await.unwrap().pop().unwrap();
    let mint = Arc::clone(first.mint());
    for text in ["two", "three"] {
        let place = (last.envelope.seq, last.hash);
        let mut next = Writer::resume(Arc::new(log.clone()), Arc::clone(&mint), example_stream("written"), place);
        assert_eq!(next.next_seq(), last.envelope.seq + 1);
        last = next.append(vec![prompt(text)]).await.unwrap().pop().unwrap();
        assert_eq!(last.envelope.prev_hash, place.1);
    }
    assert_eq!(verify_stream(&log, first.stream()).await.unwrap().events, 3);
}

#[tokio::test]
async fn a_wrong_place_or_hash_is_no_way_in() {
    let log = MemoryLog::new();
    let mut first = writer(&log, 1);
    let last = first.append(vec![prompt("one"), prompt("two")]).await.unwrap().pop().unwrap();
    for place in [(0, last.hash), (2, last.hash), (1, Hash::of(b"forged")), (1, Hash::GENESIS)] {
        let mint = Arc::clone(first.mint());
        let mut other = Writer::resume(Arc::new(log.clone()), mint, example_stream("written"), place);
        assert!(other.append(vec![prompt("mine")]).await.is_err(), "{place:?}");
    }
    assert_eq!(verify_stream(&log, first.stream()).await.unwrap().events, 2);
    first.append(vec![prompt("three")]).await.unwrap();
}

#[tokio::test]
async fn every_lost_ack_of_a_batch_leaves_it_once() {
    // Up to two lost acks are repeated away, in any mixture with appends that were not stored.
    for faults in
        [[Fault::LoseAck, Fault::LoseAck], [Fault::NotStored, Fault::NotStored], [Fault::NotStored, Fault::LoseAck]]
    {
        let log = MemoryLog::new();
        let mut writer = writer(&log, 1);
        faults.iter().for_each(|fault| log.fail_next(*fault));
        let events = writer.append(vec![prompt("one"), prompt("two")]).await.unwrap();
        assert_eq!(log.read(writer.stream(), 0, 9).await.unwrap().len(), 2, "{faults:?}");
        assert_eq!(verify_stream(&log, writer.stream()).await.unwrap().head, events[1].hash);
    }
}

#[tokio::test]
async fn a_payload_that_is_too_large_changes_nothing() {
    let log = MemoryLog::new();
    let mut writer = writer(&log, 1);
    let large = "x".repeat(crate::codec::MAX_PAYLOAD_BYTES);
    let error = writer.append(vec![prompt("one"), prompt(&large)]).await.unwrap_err();
    assert!(matches!(error, LogError::Codec(_)), "{error}");
    assert_eq!((writer.next_seq(), log.head(writer.stream()).await.unwrap()), (0, None));
    writer.append(vec![prompt("one")]).await.unwrap();
}

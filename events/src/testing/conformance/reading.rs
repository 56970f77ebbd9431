//! Reading: any part of a stream, and the order over all streams.

use super::Backend;
use crate::envelope::Envelope;
use crate::id::StreamId;
use crate::log::{LogError, Position, Positioned, StreamFilter};
use crate::testing::{EventMaker, example_stream};
use futures::StreamExt;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use std::collections::HashMap;

/// Reading from any number on, up to any limit, gives exactly that part, also when other streams stand in between.
pub async fn any_part_of_a_stream_can_be_read(backend: &dyn Backend) {
    let (log, stream) = (backend.open().await, example_stream("parts"));
    let (mut maker, mut other) = (EventMaker::new(stream.clone(), 1), EventMaker::new(example_stream("between"), 2));
    let mut all = Vec::new();
    for size in [1, 40, 3, 60, 96] {
        let batch = maker.prompts(size);
        log.append(&batch).await.unwrap();
        log.append(&other.prompts(1 + size / 2)).await.unwrap();
        all.extend(batch);
    }
    let mut random = StdRng::seed_from_u64(7);
    let edges = [(0, 0), (0, 1), (0, 200), (0, 1_000), (199, 1), (199, 5), (200, 5), (1_000, 5), (u64::MAX, 5)];
    let inner = (0..40).map(|_| (random.random_range(0..210_u64), random.random_range(0..220_usize)));
    for (from, limit) in edges.into_iter().chain(inner) {
        let expected: Vec<Envelope> = all.iter().filter(|event| event.seq >= from).take(limit).cloned().collect();
        assert_eq!(log.read(&stream, from, limit).await.unwrap(), expected, "from {from}, limit {limit}");
    }
}

/// Positions grow, within a stream as the numbers do; pages of any size give the same order, nothing twice.
pub async fn all_streams_are_read_in_one_order(backend: &dyn Backend) {
    let log = backend.open().await;
    let mut makers: Vec<EventMaker> =
        (0..3).map(|n| EventMaker::new(example_stream(&format!("order-{n}")), 10 + n)).collect();
    let mut random = StdRng::seed_from_u64(11);
    let mut appended = Vec::new();
    for _ in 0..60 {
        let maker = &mut makers[random.random_range(0..3_usize)];
        let batch = maker.prompts(random.random_range(1..4_usize));
        log.append(&batch).await.unwrap();
        appended.extend(batch);
    }
    let whole = log.read_all(Position(0), 10_000).await.unwrap();
    let events: Vec<Envelope> = whole.iter().map(|(_, event)| event.clone()).collect();
    assert_eq!(events, appended);
    assert!(whole[0].0 > Position(0));
    assert!(whole.windows(2).all(|pair| pair[0].0 < pair[1].0), "positions grow");
    let mut next: HashMap<StreamId, u64> = HashMap::new();
    for (_, event) in &whole {
        let expected = next.entry(event.stream.clone()).or_default();
        assert_eq!(event.seq, *expected);
        *expected += 1;
    }
    for page_size in [1, 7, 50] {
        let mut pages: Vec<Positioned> = Vec::new();
        loop {
            let after = pages.last().map_or(Position(0), |(position, _)| *position);
            let page = log.read_all(after, page_size).await.unwrap();
            assert!(page.len() <= page_size);
            if page.is_empty() {
                break;
            }
            pages.extend(page);
        }
        assert_eq!(pages, whole, "pages of {page_size}");
    }
    assert_eq!(log.read_all(Position(0), 0).await.unwrap(), []);
    let last = whole.last().unwrap().0;
    assert_eq!(log.read_all(last, 10).await.unwrap(), []);
}

/// A reader that has seen more than there is has noticed a loss, or has come to the wrong log: it is told.
pub async fn a_position_beyond_the_end_is_refused(backend: &dyn Backend) {
    let log = backend.open().await;
    log.append(&EventMaker::new(example_stream("short"), 1).prompts(3)).await.unwrap();
    let last = log.read_all(Position(0), 10).await.unwrap()[2].0;
    for beyond in [last.0 + 1, u64::MAX] {
        let error = log.read_all(Position(beyond), 10).await.unwrap_err();
        assert!(matches!(&error, LogError::DamagedStore { what, .. } if what.contains("ends at position")), "{error}");
        let mut tail = log.follow(StreamFilter::default(), Position(beyond)).await.unwrap();
        let error = tail.next().await.unwrap().unwrap_err();
        assert!(matches!(&error, LogError::DamagedStore { .. }), "{error}");
    }
}

/// What one handle has acked another reads at once.
pub async fn other_handles_read_what_was_written(backend: &dyn Backend) {
    let (writer, reader, stream) = (backend.open().await, backend.open().await, example_stream("at-once"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    for n in 0..30_u64 {
        let event = maker.prompt("now");
        writer.append(std::slice::from_ref(&event)).await.unwrap();
        let head = reader.head(&stream).await.unwrap().unwrap();
        assert_eq!((head.seq, head.hash, head.at), (n, event.hash().unwrap(), event.at));
        assert_eq!(reader.read(&stream, n, 10).await.unwrap(), [event]);
    }
}

/// The end is the last event's position, as soon as that is acknowledged, through any handle; a follower from there on
/// sees what comes, and nothing else.
pub async fn the_end_is_the_last_position(backend: &dyn Backend) {
    let (log, other) = (backend.open().await, backend.open().await);
    assert_eq!(log.end().await.unwrap(), Position(0));
    let mut makers = [EventMaker::new(example_stream("one"), 1), EventMaker::new(example_stream("two"), 2)];
    for round in 0..6_usize {
        let end = log.end().await.unwrap();
        let mut tail = other.follow(StreamFilter::default(), end).await.unwrap();
        let events = makers[round % 2].prompts(round + 1);
        log.append(&events).await.unwrap();
        for log in [&log, &other] {
            let last = log.read_all(Position(0), 1_000).await.unwrap().pop().unwrap();
            assert_eq!(log.end().await.unwrap(), last.0);
            assert_eq!(Some(&last.1), events.last());
        }
        for expected in &events {
            let seen = tokio::time::timeout(std::time::Duration::from_secs(20), tail.next()).await;
            assert_eq!(&seen.expect("it comes").unwrap().unwrap().1, expected);
        }
    }
    assert_eq!(log.read_all(log.end().await.unwrap(), 10).await.unwrap(), []);
}

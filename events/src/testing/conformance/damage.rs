//! Damage behind the log's back is found by whoever reads, and never passed over.

use super::Backend;
use crate::envelope::Envelope;
use crate::hash::Hash;
use crate::log::{EventLog, LogError, Position, StreamFilter};
use crate::testing::{EventMaker, example_stream};
use crate::verify::verify_stream;
use futures::StreamExt;
use std::time::Duration;

/// A changed byte in an event: every way of reading it says so, and where.
pub async fn a_flipped_byte_is_found(backend: &dyn Backend) {
    let stream = example_stream("flipped");
    let events = fill(backend, 7).await;
    backend.flip_byte(&stream, 3).await;
    let log = backend.open().await;
    assert_damaged(log.read(&stream, 0, 100).await, 3);
    assert_damaged(log.read(&stream, 3, 1).await, 3);
    assert_damaged(log.read_all(Position(0), 100).await, 3);
    assert_damaged(verify_stream(&*log, &stream).await, 3);
    assert_damaged(follow_to_error(&*log).await, 3);
    // What is sound can still be read.
    assert_eq!(log.read(&stream, 0, 3).await.unwrap(), events[..3]);
    assert_eq!(log.read(&stream, 4, 3).await.unwrap(), events[4..]);
}

/// An event that is gone: nobody is shown what follows as if it were whole.
pub async fn a_missing_event_is_found(backend: &dyn Backend) {
    let stream = example_stream("flipped");
    let events = fill(backend, 7).await;
    backend.remove_event(&stream, 3).await;
    let log = backend.open().await;
    assert_damaged(log.read(&stream, 0, 100).await, 3);
    assert_damaged(log.read(&stream, 3, 2).await, 3);
    assert_damaged(log.read_all(Position(0), 100).await, 3);
    assert_damaged(verify_stream(&*log, &stream).await, 3);
    assert_damaged(follow_to_error(&*log).await, 3);
    assert_eq!(log.read(&stream, 0, 3).await.unwrap(), events[..3]);
    // A writer that knows the end can go on: appending neither heals nor hides it.
    let last = events.last().unwrap();
    let mut maker = EventMaker::behind(stream.clone(), 9, (last.seq, last.hash().unwrap()));
    log.append(&maker.prompts(1)).await.unwrap();
    assert_damaged(verify_stream(&*log, &stream).await, 3);
}

/// The other streams are as good as before.
pub async fn damage_in_one_stream_leaves_others_readable(backend: &dyn Backend) {
    let (stream, other) = (example_stream("flipped"), example_stream("sound"));
    fill(backend, 3).await;
    let mut maker = EventMaker::new(other.clone(), 5);
    let sound = maker.prompts(4);
    backend.open().await.append(&sound).await.unwrap();
    backend.flip_byte(&stream, 1).await;
    let log = backend.open().await;
    assert_eq!(log.read(&other, 0, 100).await.unwrap(), sound);
    log.append(&maker.prompts(1)).await.unwrap();
    assert_eq!(verify_stream(&*log, &other).await.unwrap().events, 5);
    assert_damaged(verify_stream(&*log, &stream).await, 1);
}

/// And a log without damage is found to have none.
pub async fn a_sound_log_verifies(backend: &dyn Backend) {
    let stream = example_stream("flipped");
    let log = backend.open().await;
    let empty = verify_stream(&*log, &stream).await.unwrap();
    assert_eq!((empty.events, empty.head), (0, Hash::GENESIS));
    let mut maker = EventMaker::new(stream.clone(), 1);
    // More than one page of the verification.
    for _ in 0..3 {
        log.append(&maker.prompts(700)).await.unwrap();
    }
    let found = verify_stream(&*backend.open().await, &stream).await.unwrap();
    assert_eq!(Some((found.events - 1, found.head)), maker.last());
}

/// A stream of `count` events.
async fn fill(backend: &dyn Backend, count: usize) -> Vec<Envelope> {
    let log = backend.open().await;
    let events = EventMaker::new(example_stream("flipped"), 1).prompts(count);
    log.append(&events).await.unwrap();
    events
}

/// Follows from the beginning until there is an error.
async fn follow_to_error(log: &dyn EventLog) -> Result<(), LogError> {
    let mut tail = log.follow(StreamFilter::default(), Position(0)).await?;
    loop {
        let event = tokio::time::timeout(Duration::from_secs(20), tail.next()).await.expect("a tail does not hang");
        event.expect("a tail ends only with an error")?;
    }
}

fn assert_damaged<T: std::fmt::Debug>(outcome: Result<T, LogError>, expected_seq: u64) {
    match outcome {
        Err(LogError::Damaged { seq, .. }) => assert_eq!(seq, expected_seq),
        other => panic!("not found damaged but {other:?}"),
    }
}

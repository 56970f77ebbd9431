//! The live tail.

use super::Backend;
use crate::envelope::Envelope;
use crate::id::{Class, StreamId, Token};
use crate::log::{LogError, Position, Positioned, StreamFilter};
use crate::testing::{EventMaker, example_stream};
use futures::stream::{BoxStream, StreamExt};
use std::time::Duration;

/// No follower has to wait this long; when one does, it has missed something.
const PATIENCE: Duration = Duration::from_secs(20);

type Tail = BoxStream<'static, Result<Positioned, LogError>>;

/// What is there comes first, then what is appended, in order, nothing twice; and one can begin anywhere.
pub async fn a_follower_sees_the_past_and_the_future(backend: &dyn Backend) {
    let (log, stream) = (backend.open().await, example_stream("tail"));
    let mut maker = EventMaker::new(stream, 1);
    let mut events = maker.prompts(5);
    log.append(&events).await.unwrap();
    let mut tail = log.follow(StreamFilter::default(), Position(0)).await.unwrap();
    let past = take(&mut tail, 5).await;
    for size in [1, 20, 1] {
        let batch = maker.prompts(size);
        log.append(&batch).await.unwrap();
        events.extend(batch);
        take(&mut tail, size).await;
    }
    let middle = past[2].0;
    let mut later = log.follow(StreamFilter::default(), middle).await.unwrap();
    assert_eq!(envelopes(take(&mut later, 24).await), events[3..]);
    assert_eq!(log.read_all(middle, 100).await.unwrap().len(), 24);
}

/// Another process's events come as well, while this one does nothing.
pub async fn a_follower_sees_what_another_handle_writes(backend: &dyn Backend) {
    let (reader, writer) = (backend.open().await, backend.open().await);
    let mut tail = reader.follow(StreamFilter::default(), Position(0)).await.unwrap();
    let mut maker = EventMaker::new(example_stream("elsewhere"), 1);
    for _ in 0..20 {
        let event = maker.prompts(1);
        writer.append(&event).await.unwrap();
        assert_eq!(envelopes(take(&mut tail, 1).await), event);
    }
}

/// A filter leaves out the rest, before and after it began.
pub async fn a_follower_sees_only_what_it_asked_for(backend: &dyn Backend) {
    let log = backend.open().await;
    let session = example_stream("filtered");
    let control = session.sibling(Class::Control);
    let mut foreign = session.clone();
    foreign.tenant = Token::slug("someone-else");
    let mut makers =
        [EventMaker::new(session, 1), EventMaker::new(control.clone(), 2), EventMaker::new(foreign.clone(), 3)];
    let filters = [
        StreamFilter { class: Some(Class::Control), ..StreamFilter::default() },
        StreamFilter { tenant: Some(foreign.tenant.clone()), ..StreamFilter::default() },
        StreamFilter { project: Some(Token::slug("nothing-of-this")), ..StreamFilter::default() },
    ];
    let mut append = async || {
        for maker in &mut makers {
            log.append(&maker.prompts(2)).await.unwrap();
        }
    };
    append().await;
    let mut tails = Vec::new();
    for filter in &filters {
        tails.push(log.follow(filter.clone(), Position(0)).await.unwrap());
    }
    append().await;
    let controls = envelopes(take(&mut tails[0], 4).await);
    assert!(controls.iter().all(|event| event.stream == control), "{controls:?}");
    let foreigners = envelopes(take(&mut tails[1], 4).await);
    assert!(foreigners.iter().all(|event| event.stream == foreign), "{foreigners:?}");
    assert_eq!(controls.iter().map(|event| event.seq).collect::<Vec<_>>(), [0, 1, 2, 3]);
    // The third has nothing to say, and says nothing while the others have caught up.
    assert!(futures::FutureExt::now_or_never(tails[2].next()).is_none());
}

/// One stream, and none that has half of its name in common.
pub async fn a_follower_may_ask_for_one_stream(backend: &dyn Backend) {
    let (log, stream) = (backend.open().await, example_stream("single"));
    let mut others = vec![stream.sibling(Class::Control), example_stream("single-2"), example_stream("sing")];
    others.push(StreamId { tenant: Token::slug("someone-else"), ..stream.clone() });
    others.push(StreamId { project: Token::slug("another"), ..stream.clone() });
    let streams = others.into_iter().chain([stream.clone()]);
    let mut makers: Vec<EventMaker> = (1..).zip(streams).map(|(seed, stream)| EventMaker::new(stream, seed)).collect();
    let mut append = async || {
        for maker in &mut makers {
            log.append(&maker.prompts(2)).await.unwrap();
        }
    };
    append().await;
    let mut tail = log.follow(StreamFilter::only(&stream), Position(0)).await.unwrap();
    let mut named =
        log.follow(StreamFilter { id: Some(stream.id.clone()), ..StreamFilter::default() }, Position(0)).await.unwrap();
    let middle = log.end().await.unwrap();
    let mut late = log.follow(StreamFilter::only(&stream), middle).await.unwrap();
    append().await;
    assert_eq!(envelopes(take(&mut tail, 4).await), log.read(&stream, 0, 10).await.unwrap());
    assert_eq!(envelopes(take(&mut late, 2).await), log.read(&stream, 2, 10).await.unwrap());
    let named = envelopes(take(&mut named, 16).await);
    assert!(named.iter().all(|event| event.stream.id == stream.id), "{named:?}");
    assert!(futures::FutureExt::now_or_never(tail.next()).is_none());
}

/// Two followers of a busy log see the same events in the same order.
pub async fn two_followers_see_the_same(backend: &dyn Backend) {
    const EVENTS: usize = 200;
    let (log, other) = (backend.open().await, backend.open().await);
    let mut early = log.follow(StreamFilter::default(), Position(0)).await.unwrap();
    let writing: Vec<_> = (0..4_u64)
        .map(|writer| {
            let log = if writer % 2 == 0 { log.clone() } else { other.clone() };
            tokio::spawn(async move {
                let mut maker = EventMaker::new(example_stream(&format!("busy-{writer}")), 40 + writer);
                for _ in 0..EVENTS / 4 {
                    log.append(&maker.prompts(1)).await.unwrap();
                }
            })
        })
        .collect();
    let mut late = other.follow(StreamFilter::default(), Position(0)).await.unwrap();
    let seen = take(&mut early, EVENTS).await;
    assert_eq!(take(&mut late, EVENTS).await, seen);
    assert_eq!(log.read_all(Position(0), 10_000).await.unwrap(), seen);
    for task in writing {
        task.await.unwrap();
    }
}

/// The next `count` events.
pub(super) async fn take(tail: &mut Tail, count: usize) -> Vec<Positioned> {
    let mut events = Vec::new();
    while events.len() < count {
        let event = tokio::time::timeout(PATIENCE, tail.next()).await;
        let event = event.unwrap_or_else(|_| panic!("only {} of {count} events came", events.len()));
        events.push(event.expect("a tail does not end").unwrap());
    }
    events
}

fn envelopes(events: Vec<Positioned>) -> Vec<Envelope> {
    events.into_iter().map(|(_, event)| event).collect()
}

//! Verification: chains that are sound, and logs that tell less or more than there is.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::*;
use crate::blob::BlobStore;
use crate::envelope::Envelope;
use crate::id::Timestamp;
use crate::log::{Claim, ClaimError, Durability, Head, Holder, Position, Positioned, StreamFilter, StreamInfo};
use crate::testing::{EventMaker, example_stream};
use async_trait::async_trait;
use futures::stream::BoxStream;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A log that says what a test puts into its mouth.
#[derive(Debug)]
struct Liar {
    events: Vec<Envelope>,
    head: Option<Head>,
    /// What it says instead when it is asked for the first time.
    first: Option<Option<Head>>,
    head_asked: AtomicUsize,
}

impl Liar {
    fn honest(events: Vec<Envelope>) -> Self {
        let head = events.last().map(|last| Head { seq: last.seq, hash: last.hash().unwrap(), at: last.at });
        Self::new(events, head)
    }

    fn new(events: Vec<Envelope>, head: Option<Head>) -> Self {
        Self { events, head, first: None, head_asked: AtomicUsize::new(0) }
    }

    /// Says this at first, and then what it says anyway.
    fn at_first(self, head: Option<Head>) -> Self {
        Self { first: Some(head), ..self }
    }
}

#[async_trait]
impl EventLog for Liar {
    async fn append(&self, _: &[Envelope]) -> Result<(), LogError> {
        unreachable!("verification only reads")
    }
    async fn head(&self, _: &StreamId) -> Result<Option<Head>, LogError> {
        let asked = self.head_asked.fetch_add(1, Ordering::Relaxed);
        Ok(if asked == 0 { self.first.unwrap_or(self.head) } else { self.head })
    }
    async fn read(&self, _: &StreamId, from_seq: u64, limit: usize) -> Result<Vec<Envelope>, LogError> {
        let from = usize::try_from(from_seq).unwrap();
        Ok(self.events.iter().skip(from).take(limit).cloned().collect())
    }
    async fn read_all(&self, _: Position, _: usize) -> Result<Vec<Positioned>, LogError> {
        unreachable!("verification reads one stream")
    }
    async fn follow(
        &self,
        _: StreamFilter,
        _: Position,
    ) -> Result<BoxStream<'static, Result<Positioned, LogError>>, LogError> {
        unreachable!("verification reads one stream")
    }
    async fn streams(&self, _: &StreamFilter) -> Result<Vec<StreamInfo>, LogError> {
        unreachable!("verification reads one stream")
    }
    async fn end(&self) -> Result<Position, LogError> {
        unreachable!("verification reads one stream")
    }
    async fn claim(&self, _: &StreamId, _: &Holder) -> Result<Claim, ClaimError> {
        unreachable!("verification only reads")
    }
    fn blobs(&self) -> &dyn BlobStore {
        unreachable!("verification reads no blobs")
    }
    fn durability(&self) -> Durability {
        Durability::Volatile
    }
    fn location(&self) -> String {
        "a test".to_owned()
    }
}

async fn verify(log: &Liar) -> Result<Verified, LogError> {
    verify_stream(log, &example_stream("verified")).await
}

fn events(count: usize) -> Vec<Envelope> {
    EventMaker::new(example_stream("verified"), 1).prompts(count)
}

#[tokio::test]
async fn a_sound_stream_is_counted() {
    for count in [1, 999, 1_000, 1_001, 2_000] {
        let log = Liar::honest(events(count));
        let verified = verify(&log).await.unwrap();
        assert_eq!((verified.events, verified.head), (count as u64, log.head.unwrap().hash));
    }
    let nothing = verify(&Liar::honest(Vec::new())).await.unwrap();
    assert_eq!((nothing.events, nothing.head), (0, Hash::GENESIS));
}

#[tokio::test]
async fn the_first_wrong_event_is_named() {
    type Change = fn(&mut Vec<Envelope>);
    let wrong: [(&str, Change); 5] = [
        ("missing", |events| drop(events.remove(1_500))),
        ("prev_hash", |events| events[1_500].prev_hash = Hash::of(b"x")),
        ("prev_hash", |events| events[1_499].payload.push(1)),
        ("prev_hash", |events| events[1_499].at = Timestamp(7)),
        ("missing", |events| events[1_500].seq += 1),
    ];
    for (word, change) in wrong {
        let mut log = Liar::honest(events(1_600));
        change(&mut log.events);
        match verify(&log).await {
            Err(LogError::Damaged { seq: 1_500, what, .. }) => assert!(what.contains(word), "{what}"),
            other => panic!("{word}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_log_that_contradicts_itself_is_damaged() {
    let sound = Liar::honest(events(3));
    let head = sound.head.unwrap();
    let heads = [
        None,
        Some(Head { seq: 3, ..head }),
        Some(Head { seq: 1, ..head }),
        Some(Head { hash: Hash::of(b"x"), ..head }),
    ];
    for head in heads {
        let outcome = verify(&Liar::new(events(3), head)).await;
        assert!(matches!(outcome, Err(LogError::Damaged { .. })), "{head:?}: {outcome:?}");
    }
    let outcome = verify(&Liar::new(Vec::new(), Some(head))).await;
    assert!(matches!(outcome, Err(LogError::Damaged { .. })), "{outcome:?}");
}

#[tokio::test]
async fn a_stream_that_grows_while_it_is_read_is_sound() {
    let all = events(5);
    let head = |count: usize| Liar::honest(all[..count].to_vec()).head;
    // What was there at first, what was read, and what was there at last.
    for (first, read, last) in [(0, 3, 3), (2, 3, 3), (3, 3, 5), (2, 3, 5), (0, 0, 5), (0, 0, 0)] {
        let log = Liar::new(all[..read].to_vec(), head(last)).at_first(head(first));
        assert_eq!(verify(&log).await.unwrap().events, read as u64, "{first} {read} {last}");
    }
    // What was there at first and is not read is lost; what is taken back, too.
    for (first, read, last) in [(5, 3, 5), (5, 3, 3), (1, 0, 1), (3, 3, 2), (3, 3, 0)] {
        let log = Liar::new(all[..read].to_vec(), head(last)).at_first(head(first));
        let outcome = verify(&log).await;
        assert!(matches!(outcome, Err(LogError::Damaged { .. })), "{first} {read} {last}: {outcome:?}");
    }
    let wrong = head(2).map(|head| Head { hash: Hash::of(b"x"), ..head });
    let outcome = verify(&Liar::new(all[..3].to_vec(), head(3)).at_first(wrong)).await;
    assert!(matches!(outcome, Err(LogError::Damaged { seq: 1, .. })), "{outcome:?}");
}

#[tokio::test]
async fn only_a_forks_first_event_may_have_a_parent() {
    let mut fork = EventMaker::behind(example_stream("verified"), 1, (9, Hash::of(b"parent")));
    let mut first = fork.raw("session.forked", 1, vec![1], None);
    first.seq = 0;
    assert_eq!(verify(&Liar::honest(vec![first.clone()])).await.unwrap().events, 1);
    first.kind = "session.started".to_owned();
    let outcome = verify(&Liar::honest(vec![first])).await;
    assert!(matches!(outcome, Err(LogError::Damaged { seq: 0, .. })), "{outcome:?}");
}

//! Sending while acks are lost and others write.

use super::faulty_log::Meddling;
use super::*;
use crate::hash::Hash;
use crate::id::Timestamp;
use crate::log::LogError;
use crate::mint::Mint;
use proptest::prelude::*;
use std::sync::atomic::Ordering;

/// Whatever happens around an append, the event is stored once.
async fn sent_once(meddling: &[Meddling], expected: &[&str]) {
    let (log, session) = bench();
    let sender = sender(&log, &session, 1);
    sender.send(prompt("first")).await.unwrap();
    log.meddle(meddling);
    let sent = sender.send(prompt("mine")).await.unwrap();
    sender.send(prompt("last")).await.unwrap();
    assert_eq!(texts(&log, &session).await, expected, "{meddling:?}");
    let stored = log.read(sender.stream(), sent.envelope.seq, 1).await.unwrap();
    assert_eq!(stored, [sent.envelope], "{meddling:?}: what is given back is what is stored");
    crate::verify::verify_stream(&*log, sender.stream()).await.unwrap();
}

#[tokio::test]
async fn an_event_is_stored_once_whatever_happens() {
    use Meddling::*;
    sent_once(&[], &["first", "mine", "last"]).await;
    sent_once(&[Before], &["first", "another", "mine", "last"]).await;
    sent_once(&[Before, Before, Before], &["first", "another", "another", "another", "mine", "last"]).await;
    sent_once(&[AckLost], &["first", "mine", "last"]).await;
    sent_once(&[NotStored, NotStored], &["first", "mine", "last"]).await;
    sent_once(&[NotStored, Before], &["first", "another", "mine", "last"]).await;
    // The ack is lost and somebody else has written since: the repetition is refused, and yet it is stored.
    sent_once(&[AfterAndAckLost], &["first", "mine", "another", "last"]).await;
    sent_once(&[AfterAndFenced], &["first", "mine", "another", "last"]).await;
    sent_once(&[Before, AfterAndAckLost], &["first", "another", "mine", "another", "last"]).await;
    sent_once(&[NotStored, Before, NotStored, AfterAndFenced], &["first", "another", "mine", "another", "last"]).await;
}

#[tokio::test]
async fn a_doubtful_event_is_repeated_by_whoever_sends_it_again() {
    use Meddling::*;
    for (meddling, others) in
        [([AckLost, NotStored, NotStored], 0), ([NotStored; 3], 0), ([AfterAndAckLost, NotStored, NotStored], 1)]
    {
        let (log, session) = bench();
        let sender = sender(&log, &session, 1);
        log.meddle(&meddling);
        let error = sender.send(prompt("once")).await.unwrap_err();
        assert!(matches!(error, LogError::Unavailable { .. }), "{error}");
        let event = sender.send(prompt("once")).await.unwrap();
        let (stored, seq) = (texts(&log, &session).await, event.envelope.seq);
        assert_eq!(stored.iter().filter(|text| *text == "once").count(), 1, "{meddling:?}: {stored:?}");
        assert_eq!((stored.len(), seq), (1 + others, 0));
        // It is not in doubt any more: the same words now mean a second prompt.
        let second = sender.send(prompt("once")).await.unwrap();
        assert_ne!(second.envelope.id, event.envelope.id);
        assert_eq!(texts(&log, &session).await.len(), 2 + others);
    }
}

#[tokio::test]
async fn other_words_are_another_event() {
    let (log, session) = bench();
    let sender = sender(&log, &session, 1);
    log.meddle(&[Meddling::AckLost, Meddling::NotStored, Meddling::NotStored]);
    sender.send(prompt("in doubt")).await.unwrap_err();
    sender.send(prompt("another thing")).await.unwrap();
    sender.send(prompt("in doubt")).await.unwrap();
    assert_eq!(texts(&log, &session).await, ["in doubt", "another thing", "in doubt"]);
}

#[tokio::test]
async fn a_log_that_refuses_is_not_asked_again() {
    let (log, session) = bench();
    let sender = sender(&log, &session, 1);
    log.inner.fail_next(crate::log::Fault::Full);
    assert!(matches!(sender.send(prompt("no room")).await, Err(LogError::Full { .. })));
    assert_eq!(log.appends.load(Ordering::SeqCst), 1);
    sender.send(prompt("room")).await.unwrap();
    assert_eq!(texts(&log, &session).await, ["room"]);
}

#[tokio::test]
async fn a_sender_that_is_alone_asks_for_the_end_only_once() {
    let (log, session) = bench();
    let sender = sender(&log, &session, 1);
    sender.send(prompt("one")).await.unwrap();
    // Nothing can be read any more, and need not be.
    log.is_away.store(true, Ordering::SeqCst);
    sender.send(prompt("two")).await.unwrap();
    log.is_away.store(false, Ordering::SeqCst);
    assert_eq!(texts(&log, &session).await, ["one", "two"]);
}

/// With others always quicker, a sender gives up in the end, and says so; nothing of its own is stored.
#[tokio::test(start_paused = true)]
async fn a_sender_that_never_gets_its_turn_gives_up() {
    let (log, session) = bench();
    let sender = sender(&log, &session, 1);
    log.meddle(&[Meddling::Before; 50_000]);
    let started = tokio::time::Instant::now();
    let error = sender.send(prompt("mine")).await.unwrap_err();
    let appends = log.appends.load(Ordering::SeqCst);
    assert!(matches!(error, LogError::Fenced { actual_next, .. } if actual_next == appends as u64), "{error}");
    let elapsed_s = started.elapsed().as_secs();
    assert!((30..32).contains(&elapsed_s), "{elapsed_s} s, {appends} tries");
    assert!((400..20_000).contains(&appends), "{appends} tries");
    assert!(texts(&log, &session).await.iter().all(|text| text == "another"));
}

/// A clock that stands still, far behind the others.
#[derive(Debug)]
struct SlowClock;

impl Mint for SlowClock {
    fn now(&self) -> Timestamp {
        Timestamp(5)
    }
    fn event_id(&self) -> crate::EventId {
        crate::mint::SystemMint.event_id()
    }
}

#[tokio::test]
async fn a_slow_clock_does_not_turn_time_back() {
    let (log, session) = bench();
    let slow = ControlSender::new(log.clone(), Arc::new(SlowClock), &session);
    let first = slow.send(prompt("slow")).await.unwrap();
    let quick = sender(&log, &session, 2).send(prompt("quick")).await.unwrap();
    let second = slow.send(prompt("slow again")).await.unwrap();
    assert_eq!((first.envelope.at, first.envelope.prev_hash), (Timestamp(5), Hash::GENESIS));
    assert!(quick.envelope.at > first.envelope.at);
    assert_eq!(second.envelope.at, quick.envelope.at);
}

fn meddling() -> impl Strategy<Value = Vec<Meddling>> {
    use Meddling::*;
    proptest::collection::vec(
        prop_oneof![Just(Before), Just(AfterAndAckLost), Just(AfterAndFenced), Just(NotStored), Just(AckLost)],
        0..12,
    )
}

proptest! {
    /// However faults and others' events fall together: whoever repeats what is in doubt until it is acknowledged has
    /// sent each event once, in its order.
    #[test]
    fn repeating_what_is_in_doubt_sends_it_once(rounds in proptest::collection::vec(meddling(), 1..6)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let (log, session) = bench();
            let sender = sender(&log, &session, 1);
            for (number, meddling) in rounds.iter().enumerate() {
                log.meddle(meddling);
                while let Err(e) = sender.send(prompt(&number.to_string())).await {
                    assert!(matches!(e, LogError::Unavailable { .. }), "{e}");
                }
            }
            let sent: Vec<String> = texts(&log, &session).await.into_iter().filter(|text| text != "another").collect();
            let expected: Vec<String> = (0..rounds.len()).map(|number| number.to_string()).collect();
            assert_eq!(sent, expected);
            crate::verify::verify_stream(&*log, sender.stream()).await.unwrap();
        });
    }
}

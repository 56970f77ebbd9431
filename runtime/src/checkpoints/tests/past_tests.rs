//! Pasts: what they say through checkpoints is what they say when all is read, forks included.

use super::growing::{Growing, moves, prompt};
use super::*;
use crate::checkpoints::KeptPast;
use crate::context::Past;
use crate::context::working::MissingRoom;
use proptest::prelude::*;
use retrace_events::payload::context::ContextPassage;
use retrace_events::redact::Redactor;
use std::sync::Arc;

fn redactor() -> Arc<Redactor> {
    Arc::new(Redactor::new(Vec::new()))
}

/// All that a past can be asked.
fn said(past: &Past) -> (u64, Vec<Vec<ContextPassage>>) {
    let room = MissingRoom { bytes: 4_000, horizon_bytes: 40_000, place_bytes: 100 };
    let mut said = vec![past.lacking(room, &redactor())];
    for kept_from in [0, past.next_place() / 2, u64::MAX] {
        said.push(past.seed(kept_from, 500));
        said.push(past.seed(kept_from, 20_000));
    }
    (past.next_place(), said)
}

async fn read(log: &MemoryLog, stream: &StreamId) -> Past {
    let mut past = Past::new(stream.clone(), redactor());
    past.catch_up(log).await.unwrap();
    past
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_past_says_the_same(first in moves(40), second in moves(20), third in moves(20)) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let mut growing = Growing::new();
            let mut running = KeptPast::new(checkpoints(folder.path()), growing.stream(0), redactor());
            for moves in [first, second, third] {
                growing.make(&moves).await;
                let keeper = checkpoints(folder.path());
                for (stream, _) in growing.sessions() {
                    let expected = said(&read(&growing.log, &stream).await);
                    // The second time with what the first time left.
                    for time in 0..2 {
                        let past = keeper.past(&growing.log, &stream, &redactor()).await.unwrap();
                        assert_eq!(said(&past), expected, "{stream}, time {time}");
                    }
                }
                let expected = said(&read(&growing.log, &growing.stream(0)).await);
                assert_eq!(said(running.now(&growing.log).await.unwrap()), expected);
                running.rest();
            }
            running.close().await;
        });
    }

    /// A past as bytes and back goes on as if nothing had happened.
    #[test]
    fn a_past_comes_back_as_it_was(before in moves(30), after in moves(15)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut growing = Growing::new();
            growing.make(&before).await;
            let stream = growing.stream(0);
            let bytes = read(&growing.log, &stream).await.to_bytes().unwrap();
            let mut back = Past::from_bytes(&bytes, stream.clone(), redactor()).unwrap();
            assert_eq!(said(&back), said(&read(&growing.log, &stream).await));
            growing.make(&after).await;
            back.catch_up(&growing.log).await.unwrap();
            assert_eq!(said(&back), said(&read(&growing.log, &stream).await));
        });
    }
}

/// A session of so many prompts, its pasts kept.
async fn kept(events: u64) -> (Growing, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let growing = Growing::of_prompts(events).await;
    checkpoints(folder.path()).past(&growing.log, &growing.stream(0), &redactor()).await.unwrap();
    (growing, folder)
}

#[tokio::test]
async fn what_stands_before_a_past_is_not_read_again_not_by_a_fork_either() {
    let (mut growing, folder) = kept(PAST_EVENTS * 2 + 1).await;
    assert_eq!(files_named(folder.path(), "past-").len(), 2);
    let fork = growing.fork(0, PAST_EVENTS * 2).await;
    let stream = growing.stream(fork);
    let expected = said(&read(&growing.log, &stream).await);
    growing.log.flip_byte(&growing.stream(0), 1);
    let past = checkpoints(folder.path()).past(&growing.log, &stream, &redactor()).await.unwrap();
    assert_eq!(said(&past), expected);
    let mut anew = Past::new(stream, redactor());
    assert!(anew.catch_up(&growing.log).await.is_err());
}

#[tokio::test]
async fn who_takes_out_other_secrets_reads_for_himself() {
    let (growing, folder) = kept(PAST_EVENTS).await;
    growing.log.flip_byte(&growing.stream(0), 1);
    let other = Arc::new(Redactor::new(vec!["another secret".to_owned()]));
    let keeper = checkpoints(folder.path());
    assert!(keeper.past(&growing.log, &growing.stream(0), &redactor()).await.is_ok());
    assert!(keeper.past(&growing.log, &growing.stream(0), &other).await.is_err());
}

#[tokio::test]
async fn a_broken_past_is_read_anew() {
    let (growing, folder) = kept(PAST_EVENTS + 3).await;
    let stream = growing.stream(0);
    let expected = said(&read(&growing.log, &stream).await);
    let file = files_named(folder.path(), "past-").remove(0);
    let whole = std::fs::read(&file).unwrap();
    for place in (0..whole.len()).step_by(11) {
        let mut flipped = whole.clone();
        flipped[place] ^= 4;
        std::fs::write(&file, if place % 2 == 0 { &flipped } else { &whole[..place] }).unwrap();
        let past = checkpoints(folder.path()).past(&growing.log, &stream, &redactor()).await.unwrap();
        assert_eq!(said(&past), expected);
    }
}

#[tokio::test]
async fn a_running_past_is_kept_while_nobody_needs_it_and_when_it_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let mut growing = Growing::new();
    let mut running = KeptPast::new(checkpoints(folder.path()), growing.stream(0), redactor());
    for number in 0..PAST_EVENTS * 2 + PAST_EVENTS / 2 {
        growing.add(0, prompt(&number.to_string())).await;
        running.now(&growing.log).await.unwrap();
        running.rest();
    }
    running.now(&growing.log).await.unwrap();
    let kept = files_named(folder.path(), "past-").len();
    assert_eq!(kept, 2);
    running.close().await;
    assert_eq!(files_named(folder.path(), "past-").len(), kept + 1);
    growing.log.flip_byte(&growing.stream(0), PAST_EVENTS * 2);
    assert!(checkpoints(folder.path()).past(&growing.log, &growing.stream(0), &redactor()).await.is_ok());
}

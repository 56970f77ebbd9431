//! Histories: forks of forks read as one line, and what is wrong with a line is said.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::*;
use crate::fold;
use crate::log::MemoryLog;
use crate::mint::SystemMint;
use crate::payload::session::SessionForkReason;
use crate::testing::{EventMaker, example_stream};
use crate::writer::Writer;
use proptest::prelude::*;
use std::sync::Arc;

/// A log with a session of `events` prompts.
async fn root(log: &MemoryLog, name: &str, events: usize) -> StreamId {
    let stream = example_stream(name);
    for batch in EventMaker::new(stream.clone(), 1).prompts(events).chunks(100) {
        log.append(batch).await.unwrap();
    }
    stream
}

fn forked(parent: &StreamId, parent_seq: u64, parent_hash: Hash) -> SessionForked {
    SessionForked {
        parent: parent.clone(),
        parent_seq,
        parent_hash,
        reason: SessionForkReason::Fork,
        title: "a fork".to_owned(),
        workspace: "/fork".to_owned(),
        retrace_version: "0".to_owned(),
        settings: crate::testing::example_settings(),
    }
}

/// A fork of event `seq` of `parent` with `events` events besides its first.
async fn fork(log: &MemoryLog, name: &str, parent: &StreamId, seq: u64, events: usize) -> StreamId {
    let hash = log.read(parent, seq, 1).await.unwrap()[0].hash().unwrap();
    let stream = example_stream(name);
    let mut writer = Writer::create(Arc::new(log.clone()), Arc::new(SystemMint), stream.clone(), hash);
    let mut batch: Vec<(Payload, Option<crate::EventId>)> = vec![(forked(parent, seq, hash).into(), None)];
    let prompts = (0..events).map(|number| {
        let text = format!("{name} {number}");
        let source = crate::payload::turn::PromptSource::Local;
        (crate::payload::turn::TurnPrompted { text, source, attachments: Vec::new() }.into(), None)
    });
    batch.extend(prompts);
    writer.append(batch).await.unwrap();
    stream
}

/// All of a history, page by page.
async fn all(log: &MemoryLog, history: &History, page: usize) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    loop {
        let next = history.read(log, found.len() as u64, page).await.unwrap();
        if next.is_empty() {
            return found;
        }
        found.extend(next.into_iter().map(|envelope| (envelope.stream.id.to_string(), envelope.seq)));
    }
}

#[tokio::test]
async fn a_fork_of_a_fork_is_one_line() {
    let log = MemoryLog::new();
    let first = root(&log, "first", 5).await;
    let second = fork(&log, "second", &first, 2, 3).await;
    let third = fork(&log, "third", &second, 1, 1).await;
    let history = History::of(&log, &third).await.unwrap();
    let expected = [("first", 0), ("first", 1), ("first", 2), ("second", 0), ("second", 1), ("third", 0), ("third", 1)];
    for page in [1, 2, 3, 100] {
        let found = all(&log, &history, page).await;
        assert_eq!(found, expected.map(|(stream, seq)| (stream.to_owned(), seq)), "pages of {page}");
    }
    assert_eq!((history.stream(), history.own_from()), (&third, 5));
    for (place, (stream, seq)) in expected.into_iter().enumerate() {
        let (at, number) = history.at(place as u64);
        assert_eq!((at.id.as_str(), number), (stream, seq));
    }
    let ancestors: Vec<(String, u64)> =
        history.ancestors().map(|ancestor| (ancestor.stream.id.to_string(), ancestor.last_seq)).collect();
    assert_eq!(ancestors, [("second".to_owned(), 1), ("first".to_owned(), 2)]);
    assert_eq!(all(&log, &history.until(0), 4).await.len(), 6);
    assert_eq!(all(&log, &History::alone(third), 4).await.len(), 2);
}

#[tokio::test]
async fn each_event_comes_with_its_place_until_somebody_fails() {
    let log = MemoryLog::new();
    let root = root(&log, "root", PAGE + 20).await;
    let child = fork(&log, "child", &root, PAGE as u64 + 9, 5).await;
    let history = History::of(&log, &child).await.unwrap();
    let mut seen = Vec::new();
    let see = |place, event: &Event| {
        seen.push((place, (event.envelope.stream.clone(), event.envelope.seq)));
        Ok::<_, LogError>(())
    };
    let end = PAGE as u64 + 10 + 6;
    assert_eq!(history.for_each(&log, 3, see).await.unwrap(), end);
    let expected = (3..end).map(|place| (place, (history.at(place).0.clone(), history.at(place).1)));
    assert!(seen.into_iter().eq(expected));
    let mut heard = 0;
    let stop = |place, _: &Event| {
        heard += 1;
        if place == 7 { Err(damaged(&child, place, "enough")) } else { Ok(()) }
    };
    assert!(history.for_each(&log, 0, stop).await.is_err());
    assert_eq!(heard, 8);
}

#[tokio::test]
async fn the_state_counts_places_over_the_line_and_numbers_in_the_session() {
    let log = MemoryLog::new();
    let first = root(&log, "first", 5).await;
    let second = fork(&log, "second", &first, 2, 3).await;
    let state = fold::load(&log, &second).await.unwrap();
    assert_eq!((state.next_seq(), state.next_place(), state.inherited_events()), (4, 7, 3));
    assert_eq!(state.transcript.seqs(), [0, 1, 2, 4, 5, 6]);
    assert_eq!((state.totals.prompts, state.own_totals().prompts), (6, 3));
    let part = state.fork.unwrap();
    assert_eq!((part.parent, part.parent_seq), (first, 2));
    assert_eq!(state.workspace, "/fork");
}

#[tokio::test]
async fn what_is_appended_to_the_parent_later_is_not_the_forks() {
    let log = MemoryLog::new();
    let first = root(&log, "first", 3).await;
    let second = fork(&log, "second", &first, 2, 1).await;
    let before = format!("{:?}", fold::load(&log, &second).await.unwrap());
    let mut maker = EventMaker::new(first.clone(), 1);
    let events = maker.prompts(4);
    log.append(&events[3..]).await.unwrap();
    assert_eq!(format!("{:?}", fold::load(&log, &second).await.unwrap()), before);
}

#[tokio::test]
async fn damage_of_an_ancestor_is_found() {
    for seq in 0..3 {
        let log = MemoryLog::new();
        let first = root(&log, "first", 5).await;
        let second = fork(&log, "second", &first, 2, 1).await;
        log.flip_byte(&first, seq);
        let outcome = fold::load(&log, &second).await;
        assert!(matches!(outcome, Err(LogError::Damaged { .. })), "event {seq}: {outcome:?}");
    }
}

#[tokio::test]
async fn another_parent_of_the_same_name_is_not_taken() {
    let log = MemoryLog::new();
    let first = root(&log, "first", 5).await;
    let second = fork(&log, "second", &first, 2, 1).await;
    let other = MemoryLog::new();
    let events = EventMaker::new(first, 2).prompts(5);
    other.append(&events).await.unwrap();
    other.append(&log.read(&second, 0, 9).await.unwrap()).await.unwrap();
    let outcome = fold::load(&other, &second).await;
    assert!(matches!(outcome, Err(LogError::Damaged { .. })), "{outcome:?}");
}

#[tokio::test]
async fn a_parent_that_is_missing_or_too_short_is_said_by_name() {
    let log = MemoryLog::new();
    let first = root(&log, "first", 5).await;
    let second = fork(&log, "second", &first, 4, 1).await;
    for events in [0, 4] {
        let other = MemoryLog::new();
        root(&other, "first", events).await;
        other.append(&log.read(&second, 0, 9).await.unwrap()).await.unwrap();
        let error = History::of(&other, &second).await.unwrap_err();
        let words = "session second was forked from session first, which is not in this log";
        assert_eq!(error.to_string(), words);
    }
}

#[tokio::test]
async fn circles_made_by_hand_are_no_endless_line() {
    let log = MemoryLog::new();
    let (a, b) = (example_stream("a"), example_stream("b"));
    let hash = Hash::of(b"anything");
    for (stream, parent) in [(&a, &b), (&b, &a)] {
        let mut writer = Writer::create(Arc::new(log.clone()), Arc::new(SystemMint), stream.clone(), hash);
        writer.append(vec![(forked(parent, 0, hash).into(), None)]).await.unwrap();
    }
    let outcome = History::of(&log, &a).await;
    assert!(matches!(outcome, Err(LogError::Damaged { .. })), "{outcome:?}");
}

#[tokio::test]
async fn a_first_event_whose_link_is_not_what_it_names_is_damage() {
    let log = MemoryLog::new();
    let first = root(&log, "first", 3).await;
    let hash = log.read(&first, 2, 1).await.unwrap()[0].hash().unwrap();
    let stream = example_stream("second");
    let mut writer = Writer::create(Arc::new(log.clone()), Arc::new(SystemMint), stream.clone(), Hash::of(b"other"));
    writer.append(vec![(forked(&first, 2, hash).into(), None)]).await.unwrap();
    let outcome = History::of(&log, &stream).await;
    assert!(matches!(outcome, Err(LogError::Damaged { seq: 0, .. })), "{outcome:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    /// However long the line, where it was forked and how it is read: the history is the joined prefixes.
    #[test]
    fn a_history_is_the_joined_prefixes(
        lengths in proptest::collection::vec((1_usize..6, 0_usize..6), 1..6),
        page in 1_usize..8,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let log = MemoryLog::new();
            let mut stream = root(&log, "s0", lengths[0].0).await;
            let mut expected: Vec<(String, u64)> = Vec::new();
            let mut own = lengths[0].0 as u64;
            for (generation, (events, cut)) in lengths.iter().enumerate().skip(1) {
                let seq = (own - 1).saturating_sub(*cut as u64);
                expected.extend((0..=seq).map(|seq| (stream.id.to_string(), seq)));
                stream = fork(&log, &format!("s{generation}"), &stream, seq, *events).await;
                own = *events as u64 + 1;
            }
            expected.extend((0..own).map(|seq| (stream.id.to_string(), seq)));
            let history = History::of(&log, &stream).await.unwrap();
            assert_eq!(all(&log, &history, page).await, expected);
            let state = fold::load(&log, &stream).await.unwrap();
            assert_eq!(state.next_place(), expected.len() as u64);
            assert_eq!(state.next_seq(), own);
        });
    }
}

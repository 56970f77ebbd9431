//! Order, fence, idempotence, atomicity: what an append promises.

use super::Backend;
use crate::codec::{BINCODE_2, MAX_PAYLOAD_BYTES};
use crate::envelope::Envelope;
use crate::hash::Hash;
use crate::log::{LogError, MAX_BATCH_EVENTS, Position};
use crate::payload::session;
use crate::testing::{EventMaker, example_settings, example_stream};
use std::sync::Arc;
use tokio::sync::Barrier;

/// Nothing is there, and asking for it is no error.
pub async fn an_empty_log_has_nothing(backend: &dyn Backend) {
    let (log, stream) = (backend.open().await, example_stream("nobody"));
    assert_eq!(log.head(&stream).await.unwrap(), None);
    assert_eq!(log.read(&stream, 0, 10).await.unwrap(), []);
    assert_eq!(log.read_all(Position(0), 10).await.unwrap(), []);
    assert_eq!(log.streams(&Default::default()).await.unwrap(), []);
    log.append(&[]).await.unwrap();
    assert_eq!(log.read_all(Position(0), 10).await.unwrap(), []);
}

/// Every field survives, byte for byte.
pub async fn events_come_back_as_they_were_appended(backend: &dyn Backend) {
    let (log, stream) = (backend.open().await, example_stream("fields"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    let first = maker.prompt("ß\u{0}\u{1F980}\r\n\"'\\");
    let closed = session::SessionClosed { why: String::new() }.into();
    let second = maker.payload(&closed, Some(first.id));
    let third = maker.raw("future.thing", 65_535, (0..=255).collect(), Some(second.id));
    log.append(std::slice::from_ref(&first)).await.unwrap();
    log.append(&[second.clone(), third.clone()]).await.unwrap();
    assert_eq!(log.read(&stream, 0, 10).await.unwrap(), [first, second, third]);
}

/// Sequence numbers start at 0 and have no gaps, however the events came.
pub async fn numbers_are_dense(backend: &dyn Backend) {
    let (log, stream) = (backend.open().await, example_stream("dense"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    for size in [1, 3, 1, 7, 2] {
        log.append(&maker.prompts(size)).await.unwrap();
    }
    let seqs: Vec<u64> = log.read(&stream, 0, 100).await.unwrap().iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (0..14).collect::<Vec<u64>>());
}

/// A gap, a step back and a wrong link are all refused, and leave nothing behind.
pub async fn an_event_has_to_follow_the_last(backend: &dyn Backend) {
    let (log, stream) = (backend.open().await, example_stream("follow"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    let stored = maker.prompts(2);
    let far = EventMaker::behind(stream.clone(), 2, (3, Hash::of(b"x"))).prompt("far");
    assert_fenced(log.append(std::slice::from_ref(&far)).await, 4, 0);
    log.append(&stored).await.unwrap();
    assert_fenced(log.append(&[far]).await, 4, 2);
    let other_first = EventMaker::new(stream.clone(), 3).prompt("another first");
    assert_fenced(log.append(&[other_first]).await, 0, 2);
    let wrong_link = EventMaker::behind(stream.clone(), 4, (1, Hash::of(b"not the last"))).prompt("wrong link");
    assert_fenced(log.append(&[wrong_link]).await, 2, 2);
    assert_eq!(log.read(&stream, 0, 10).await.unwrap(), stored);
    log.append(&maker.prompts(1)).await.unwrap();
}

/// Of two writers the one that comes second is told so, again and again, and the first goes on.
pub async fn the_second_writer_is_fenced(backend: &dyn Backend) {
    let (one, two, stream) = (backend.open().await, backend.open().await, example_stream("fenced"));
    let (mut first, mut second) = (EventMaker::new(stream.clone(), 1), EventMaker::new(stream.clone(), 2));
    one.append(&first.prompts(1)).await.unwrap();
    assert_fenced(two.append(&second.prompts(1)).await, 0, 1);
    // The second handle looks and takes over; now the first is the one that comes too late.
    let head = two.head(&stream).await.unwrap().unwrap();
    let mut second = EventMaker::behind(stream.clone(), 3, (head.seq, head.hash));
    two.append(&second.prompts(2)).await.unwrap();
    let late = first.prompts(1);
    assert_fenced(one.append(&late).await, 1, 3);
    assert_fenced(one.append(&late).await, 1, 3);
    two.append(&second.prompts(1)).await.unwrap();
    assert_eq!(one.head(&stream).await.unwrap().unwrap().seq, 3);
}

/// Eight handles append at the same moment, several rounds: one wins each, the others are fenced, nothing is lost.
pub async fn one_of_eight_writers_wins(backend: &dyn Backend) {
    let stream = example_stream("race");
    let mut logs = Vec::new();
    for _ in 0..8 {
        logs.push(backend.open().await);
    }
    for round in 0..5_u64 {
        let head = logs[0].head(&stream).await.unwrap();
        let barrier = Arc::new(Barrier::new(logs.len()));
        let mut tasks = Vec::new();
        for (writer, log) in logs.iter().enumerate() {
            let seed = 100 * (round + 1) + writer as u64;
            let mut maker = match head {
                None => EventMaker::new(stream.clone(), seed),
                Some(head) => EventMaker::behind(stream.clone(), seed, (head.seq, head.hash)),
            };
            let (log, barrier, batch) = (Arc::clone(log), Arc::clone(&barrier), maker.prompts(1 + writer % 3));
            tasks.push(tokio::spawn(async move {
                barrier.wait().await;
                (log.append(&batch).await, batch)
            }));
        }
        let mut winners = Vec::new();
        for task in tasks {
            let (outcome, batch) = task.await.unwrap();
            match outcome {
                Ok(()) => winners.push(batch),
                Err(e) => assert!(matches!(e, LogError::Fenced { .. }), "round {round}: {e}"),
            }
        }
        assert_eq!(winners.len(), 1, "round {round}");
        let from = winners[0][0].seq;
        assert_eq!(logs[7].read(&stream, from, 100).await.unwrap(), winners[0], "round {round}");
    }
    crate::verify::verify_stream(&*logs[3], &stream).await.unwrap();
}

/// Writers of different streams do not stand in each other's way.
pub async fn many_streams_grow_side_by_side(backend: &dyn Backend) {
    let log = backend.open().await;
    let write = |writer: u64| {
        let log = Arc::clone(&log);
        tokio::spawn(async move {
            let stream = example_stream(&format!("side-{writer}"));
            let mut maker = EventMaker::new(stream.clone(), 1_000 + writer);
            for _ in 0..20 {
                log.append(&[maker.prompt("beside others")]).await.unwrap();
            }
            stream
        })
    };
    let tasks: Vec<_> = (0..16).map(write).collect();
    for task in tasks {
        let stream = task.await.unwrap();
        assert_eq!(crate::verify::verify_stream(&*log, &stream).await.unwrap().events, 20);
    }
    assert_eq!(log.read_all(Position(0), 1_000).await.unwrap().len(), 320);
}

/// A writer whose ack was lost repeats the append, here or from a new process: it is stored once.
pub async fn a_repeated_event_is_stored_once(backend: &dyn Backend) {
    let (log, stream) = (backend.open().await, example_stream("again"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    for round in 0..3 {
        let event = maker.prompts(1);
        log.append(&event).await.unwrap();
        log.append(&event).await.unwrap();
        backend.open().await.append(&event).await.unwrap();
        assert_eq!(log.read(&stream, 0, 10).await.unwrap().len(), round + 1);
    }
}

/// As for a single event.
pub async fn a_repeated_batch_is_stored_once(backend: &dyn Backend) {
    let (log, stream) = (backend.open().await, example_stream("batch-again"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    log.append(&maker.prompts(2)).await.unwrap();
    let batch = maker.prompts(5);
    log.append(&batch).await.unwrap();
    log.append(&batch).await.unwrap();
    backend.open().await.append(&batch).await.unwrap();
    // The last part of it is at the end of the stream too.
    log.append(&batch[3..]).await.unwrap();
    log.append(&maker.prompts(1)).await.unwrap();
    assert_eq!(log.read(&stream, 0, 100).await.unwrap().len(), 8);
}

/// Once others have gone on behind it, a repeated append has lost the stream and must hear it.
pub async fn a_repetition_is_not_one_when_others_have_written(backend: &dyn Backend) {
    let (log, stream) = (backend.open().await, example_stream("overtaken"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    let batch = maker.prompts(2);
    log.append(&batch).await.unwrap();
    backend.open().await.append(&maker.prompts(1)).await.unwrap();
    assert_fenced(log.append(&batch).await, 0, 3);
    // A batch that only begins like what is stored is another batch.
    let mut longer = batch.clone();
    longer.push(EventMaker::behind(stream.clone(), 9, (1, batch[1].hash().unwrap())).prompt("other"));
    assert_fenced(log.append(&longer).await, 0, 3);
    assert_eq!(log.read(&stream, 0, 10).await.unwrap().len(), 3);
}

/// An id that another event has is refused, in this stream and in others, alone and in a batch.
pub async fn an_id_names_one_event(backend: &dyn Backend) {
    let log = backend.open().await;
    let (here, there) = (example_stream("id-here"), example_stream("id-there"));
    let first = EventMaker::new(here.clone(), 1).prompt("mine");
    log.append(std::slice::from_ref(&first)).await.unwrap();
    let mut thief = EventMaker::new(there.clone(), 2).prompt("theirs");
    thief.id = first.id;
    assert_invalid(log.append(&[thief]).await, "was used");
    let mut maker = EventMaker::new(there.clone(), 3);
    let mut batch = maker.prompts(2);
    batch[1].id = first.id;
    assert_invalid(log.append(&batch).await, "was used");
    let mut again = EventMaker::behind(here.clone(), 4, (0, first.hash().unwrap())).prompt("same id, one on");
    again.id = first.id;
    assert_invalid(log.append(&[again]).await, "was used");
    assert_eq!(log.head(&there).await.unwrap(), None);
    assert_eq!(log.head(&here).await.unwrap().unwrap().seq, 0);
}

/// What no log could take is refused before anything is stored.
pub async fn impossible_batches_are_refused(backend: &dyn Backend) {
    let (log, stream) = (backend.open().await, example_stream("impossible"));
    let good = || EventMaker::new(stream.clone(), 1).prompts(3);
    let mut two_streams = good();
    two_streams[2].stream = example_stream("elsewhere");
    assert_invalid(log.append(&two_streams).await, "two streams");
    let gap = [good()[0].clone(), good()[2].clone()];
    assert_invalid(log.append(&gap).await, "does not follow");
    let mut broken = good();
    broken[1].payload.push(0);
    assert_invalid(log.append(&broken).await, "does not follow");
    let mut twins = good();
    twins[2].id = twins[0].id;
    assert_invalid(log.append(&twins).await, "twice");
    let mut orphan = good();
    orphan.truncate(1);
    orphan[0].prev_hash = Hash::of(b"a parent");
    assert_invalid(log.append(&orphan).await, "parent");
    let nameless = EventMaker::new(stream.clone(), 1).raw("", 1, vec![BINCODE_2], None);
    assert_invalid(log.append(&[nameless]).await, "kind");
    let many = EventMaker::new(stream.clone(), 1).prompts(MAX_BATCH_EVENTS + 1);
    assert_invalid(log.append(&many).await, "the most is");
    let huge = EventMaker::new(stream.clone(), 1).raw("x.y", 1, vec![BINCODE_2; MAX_PAYLOAD_BYTES + 1], None);
    let refused = log.append(&[huge]).await.unwrap_err();
    assert!(matches!(refused, LogError::Codec(_)), "{refused}");
    assert_eq!(log.head(&stream).await.unwrap(), None);
    log.append(&good()).await.unwrap();
}

/// A batch of the largest size is stored whole.
pub async fn the_largest_batch_is_taken(backend: &dyn Backend) {
    let (log, stream) = (backend.open().await, example_stream("largest"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    let batch = maker.prompts(MAX_BATCH_EVENTS);
    log.append(&batch).await.unwrap();
    assert_eq!(log.read(&stream, 0, 2_000).await.unwrap(), batch);
    log.append(&maker.prompts(1)).await.unwrap();
    assert_eq!(log.head(&stream).await.unwrap().unwrap().seq, 1_000);
}

/// While batches of ten are appended, no reader of any kind ever sees a part of one.
pub async fn a_batch_is_seen_whole_or_not_at_all(backend: &dyn Backend) {
    const BATCHES: usize = 30;
    let (writer, reader, stream) = (backend.open().await, backend.open().await, example_stream("whole"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    let batches: Vec<Vec<Envelope>> = (0..BATCHES).map(|_| maker.prompts(10)).collect();
    let writing = tokio::spawn(async move {
        for batch in &batches {
            writer.append(batch).await.unwrap();
        }
    });
    let mut seen = 0;
    while seen < BATCHES * 10 {
        let of_stream = reader.read(&stream, 0, 1_000).await.unwrap().len();
        let of_all = reader.read_all(Position(0), 1_000).await.unwrap().len();
        let head = reader.head(&stream).await.unwrap().map_or(0, |head| head.seq + 1);
        assert_eq!((of_stream % 10, of_all % 10, head % 10), (0, 0, 0));
        assert!(seen <= of_stream && of_stream <= of_all, "{seen} {of_stream} {of_all}");
        seen = of_stream;
    }
    writing.await.unwrap();
}

/// A fork's first event is linked to its parent's, and nothing else may be.
pub async fn a_fork_begins_with_its_parents_hash(backend: &dyn Backend) {
    let (log, parent, fork) = (backend.open().await, example_stream("parent"), example_stream("fork"));
    let mut maker = EventMaker::new(parent.clone(), 1);
    let events = maker.prompts(3);
    log.append(&events).await.unwrap();
    let parent_hash = events[1].hash().unwrap();
    let forked = session::SessionForked {
        parent: parent.clone(),
        parent_seq: 1,
        parent_hash,
        reason: session::SessionForkReason::Fork,
        title: "fork".to_owned(),
        workspace: "/tmp/fork".to_owned(),
        retrace_version: "0.1.0".to_owned(),
        settings: example_settings(),
    };
    let mut first = EventMaker::new(fork.clone(), 2).payload(&forked.into(), None);
    first.prev_hash = parent_hash;
    log.append(std::slice::from_ref(&first)).await.unwrap();
    let mut maker = EventMaker::behind(fork.clone(), 3, (0, first.hash().unwrap()));
    log.append(&maker.prompts(2)).await.unwrap();
    assert_eq!(crate::verify::verify_stream(&*log, &fork).await.unwrap().events, 3);
    assert_eq!(crate::verify::verify_stream(&*log, &parent).await.unwrap().events, 3);
}

/// The append was refused because someone else had written.
pub(super) fn assert_fenced(outcome: Result<(), LogError>, expected_tried: u64, expected_next: u64) {
    match outcome {
        Err(LogError::Fenced { tried, actual_next, .. }) => {
            assert_eq!((tried, actual_next), (expected_tried, expected_next))
        }
        other => panic!("not fenced but {other:?}"),
    }
}

fn assert_invalid(outcome: Result<(), LogError>, word: &str) {
    match outcome {
        Err(LogError::InvalidBatch(why)) => assert!(why.contains(word), "{why}"),
        other => panic!("not refused as invalid but {other:?}"),
    }
}

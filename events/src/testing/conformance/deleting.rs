//! Deleting streams: gone for everybody who asks, heard of by everybody who follows, and never begun again by accident.

use super::Backend;
use super::following::take;
use crate::envelope::Envelope;
use crate::hash::Hash;
use crate::id::{Class, StreamId};
use crate::log::{Deletion, EventLog, LogError, Position, StreamFilter};
use crate::mint::{Mint, SystemMint};
use crate::testing::{EventMaker, example_stream};
use crate::verify::verify_stream;

/// The deletion of `stream`, as of now.
fn deletion(stream: &StreamId) -> Deletion {
    Deletion { stream: stream.clone(), id: SystemMint.event_id(), at: SystemMint.now() }
}

/// Nobody finds anything of it, through whichever handle.
async fn assert_gone(backend: &dyn Backend, stream: &StreamId) {
    let log = backend.open().await;
    assert_eq!(log.head(stream).await.unwrap(), None);
    assert_eq!(log.read(stream, 0, 100).await.unwrap(), []);
    assert_eq!(log.read(stream, 3, 100).await.unwrap(), []);
    assert!(log.streams(&StreamFilter::default()).await.unwrap().iter().all(|info| info.stream != *stream));
    assert_eq!(log.deleted(&StreamFilter::only(stream)).await.unwrap().len(), 1);
    assert_eq!(verify_stream(&*log, stream).await.unwrap().events, 0);
}

/// It is gone, what stands between its events is not, and the end of the log moves on.
pub async fn a_deleted_stream_is_gone_and_others_are_not(backend: &dyn Backend) {
    let (log, other) = (backend.open().await, backend.open().await);
    let (gone, kept) = (example_stream("gone"), example_stream("kept"));
    let (mut one, mut two) = (EventMaker::new(gone.clone(), 1), EventMaker::new(kept.clone(), 2));
    let mut sound = Vec::new();
    for _ in 0..7 {
        log.append(&one.prompts(3)).await.unwrap();
        let events = two.prompts(2);
        other.append(&events).await.unwrap();
        sound.extend(events);
    }
    log.append(&one.prompts(1)).await.unwrap();
    let end = log.end().await.unwrap();
    assert_eq!(log.deleted(&StreamFilter::default()).await.unwrap(), []);
    log.delete(&deletion(&gone)).await.unwrap();
    assert_gone(backend, &gone).await;
    assert!(other.end().await.unwrap() > end);
    assert_eq!(other.read(&kept, 0, 100).await.unwrap(), sound);
    assert_eq!(verify_stream(&*log, &kept).await.unwrap().events, 14);
    let all = other.read_all(Position(0), 1_000).await.unwrap();
    let (tombstones, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, event)| Deletion::stands_in(event));
    assert_eq!(rest.into_iter().map(|(_, event)| event).collect::<Vec<_>>(), sound);
    let [(position, tombstone)] = &tombstones[..] else { panic!("{tombstones:?}") };
    assert_eq!((tombstone.stream.clone(), tombstone.seq, tombstone.payload.len()), (gone.clone(), 22, 0));
    assert_eq!(*position, log.end().await.unwrap());
    // Positions that were given before still mean what they meant.
    let after = log.read_all(end, 10).await.unwrap();
    assert_eq!(after, tombstones);
    other.append(&two.prompts(1)).await.unwrap();
    assert_eq!(log.read(&kept, 14, 10).await.unwrap().len(), 1);
}

/// Again, by whomever, and where nothing was: the outcome is the same, and there is one tombstone.
pub async fn a_stream_is_deleted_once(backend: &dyn Backend) {
    let (log, other) = (backend.open().await, backend.open().await);
    let stream = example_stream("twice");
    log.append(&EventMaker::new(stream.clone(), 1).prompts(3)).await.unwrap();
    log.delete(&deletion(&stream)).await.unwrap();
    let end = log.end().await.unwrap();
    for log in [&log, &other] {
        log.delete(&deletion(&stream)).await.unwrap();
        assert_eq!(log.end().await.unwrap(), end);
    }
    // One that was never written can be deleted too, so that nobody begins it.
    let never = stream.sibling(Class::Control);
    other.delete(&deletion(&never)).await.unwrap();
    assert_gone(backend, &stream).await;
    assert_gone(backend, &never).await;
    let refused = log.append(&EventMaker::new(never, 2).prompts(1)).await;
    assert!(matches!(refused, Err(LogError::Deleted { .. })), "{refused:?}");
}

/// A writer that did not know is refused: with the next event, with the first one, and with one that was there.
pub async fn a_stale_writer_cannot_bring_a_stream_back(backend: &dyn Backend) {
    let (log, stale) = (backend.open().await, backend.open().await);
    let stream = example_stream("stale");
    let mut maker = EventMaker::new(stream.clone(), 1);
    let first = maker.prompts(2);
    stale.append(&first).await.unwrap();
    log.delete(&deletion(&stream)).await.unwrap();
    let end = log.end().await.unwrap();
    let behind = log.deleted(&StreamFilter::only(&stream)).await.unwrap()[0].head;
    let tries = [
        maker.prompts(1),
        first,
        EventMaker::new(stream.clone(), 9).prompts(3),
        EventMaker::behind(stream.clone(), 10, (behind.seq, behind.hash)).prompts(1),
    ];
    for batch in &tries {
        for log in [&stale, &log, &backend.open().await] {
            let refused = log.append(batch).await;
            assert!(matches!(&refused, Err(LogError::Deleted { stream: of }) if *of == stream), "{refused:?}");
        }
    }
    assert_eq!(log.end().await.unwrap(), end);
    assert_gone(backend, &stream).await;
}

/// A tombstone is the log's own: nobody can append one, whatever file it was read from.
pub async fn a_tombstone_cannot_be_appended(backend: &dyn Backend) {
    let (log, stream) = (backend.open().await, example_stream("forged"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    let sound = maker.prompts(2);
    log.append(&sound).await.unwrap();
    let forged = maker.raw("stream.deleted", 1, Vec::new(), None);
    for batch in [vec![forged.clone()], [maker.prompts(1), vec![forged]].concat()] {
        assert!(matches!(log.append(&batch).await, Err(LogError::InvalidBatch(_))));
        assert!(matches!(log.begin_again(&batch).await, Err(LogError::InvalidBatch(_))));
    }
    assert_eq!(log.read(&stream, 0, 10).await.unwrap(), sound);
}

/// Whoever follows hears of it in its place: in mid-stream, from the start, and when only that stream is followed.
pub async fn followers_hear_of_a_deletion(backend: &dyn Backend) {
    let (log, other) = (backend.open().await, backend.open().await);
    let (gone, kept) = (example_stream("gone"), example_stream("kept"));
    let (mut one, mut two) = (EventMaker::new(gone.clone(), 1), EventMaker::new(kept.clone(), 2));
    log.append(&one.prompts(5)).await.unwrap();
    log.append(&two.prompts(1)).await.unwrap();
    let mut all = other.follow(StreamFilter::default(), Position(0)).await.unwrap();
    let mut only = other.follow(StreamFilter::only(&gone), Position(0)).await.unwrap();
    take(&mut all, 6).await;
    take(&mut only, 5).await;
    let seen = log.end().await.unwrap();
    log.append(&one.prompts(2)).await.unwrap();
    log.delete(&deletion(&gone)).await.unwrap();
    log.append(&two.prompts(1)).await.unwrap();
    let is_end = |event: &Envelope| Deletion::stands_in(event) && event.stream == gone && event.seq == 7;
    // The last two may have been seen before they went; the tombstone always is.
    for tail in [&mut all, &mut only] {
        while !is_end(&take(tail, 1).await[0].1) {}
    }
    assert_eq!(take(&mut all, 1).await[0].1.stream, kept);
    let mut late = other.follow(StreamFilter::default(), seen).await.unwrap();
    let late: Vec<Envelope> = take(&mut late, 2).await.into_iter().map(|(_, event)| event).collect();
    assert!(is_end(&late[0]) && late[1].stream == kept, "{late:?}");
}

/// Whoever was told to may bring it back, from the first event on; then it is a stream like any other.
pub async fn a_deleted_stream_can_begin_again(backend: &dyn Backend) {
    let (log, other) = (backend.open().await, backend.open().await);
    let (stream, kept) = (example_stream("again"), example_stream("kept"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    let events = maker.prompts(12);
    let mut between = EventMaker::new(kept, 2);
    for part in events.chunks(4) {
        log.append(part).await.unwrap();
        log.append(&between.prompts(1)).await.unwrap();
    }
    let mut tail = other.follow(StreamFilter::only(&stream), Position(0)).await.unwrap();
    take(&mut tail, 12).await;
    log.delete(&deletion(&stream)).await.unwrap();
    let refused = log.begin_again(&events[4..8]).await;
    assert!(matches!(refused, Err(LogError::Deleted { .. })), "{refused:?}");
    let end = log.end().await.unwrap();
    log.begin_again(&events[..5]).await.unwrap();
    // Repeated, as after a lost ack.
    log.begin_again(&events[..5]).await.unwrap();
    log.append(&events[5..]).await.unwrap();
    assert_eq!(other.read(&stream, 0, 100).await.unwrap(), events);
    for from in [1, 4, 5, 11] {
        assert_eq!(other.read(&stream, from, 1).await.unwrap(), events[from as usize..=from as usize]);
    }
    assert_eq!(verify_stream(&*other, &stream).await.unwrap().events, 12);
    assert_eq!(other.deleted(&StreamFilter::default()).await.unwrap(), []);
    assert_eq!(other.streams(&StreamFilter::default()).await.unwrap().len(), 2);
    let again = other.read_all(end, 100).await.unwrap();
    assert_eq!(again.into_iter().map(|(_, event)| event).collect::<Vec<_>>(), events);
    // A follower of the former life sees the new one; the tombstone between them may be gone by then.
    let mut seen = Vec::new();
    while seen.last() != events.last() {
        seen.extend(take(&mut tail, 1).await.into_iter().map(|(_, event)| event));
    }
    seen.retain(|event| !Deletion::stands_in(event));
    assert_eq!(seen, events);
    other.append(&maker.prompts(1)).await.unwrap();
    assert_eq!(log.read(&stream, 12, 1).await.unwrap().len(), 1);
    // And it can be deleted again.
    other.delete(&deletion(&stream)).await.unwrap();
    assert_gone(backend, &stream).await;
}

/// To begin again what was not deleted is to append.
pub async fn a_living_stream_does_not_begin_again(backend: &dyn Backend) {
    let (log, stream) = (backend.open().await, example_stream("alive"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    let events = maker.prompts(3);
    log.begin_again(&events).await.unwrap();
    let fenced = log.begin_again(&EventMaker::new(stream.clone(), 5).prompts(1)).await;
    assert!(matches!(fenced, Err(LogError::Fenced { actual_next: 3, .. })), "{fenced:?}");
    log.begin_again(&maker.prompts(1)).await.unwrap();
    assert_eq!(log.read(&stream, 0, 3).await.unwrap(), events);
}

/// Writers at work while their stream is deleted: what they were told is stored was stored before the tombstone, and
/// afterwards they are all refused.
pub async fn a_deletion_among_writers_is_final(backend: &dyn Backend) {
    let stream = example_stream("busy");
    let log = backend.open().await;
    log.append(&EventMaker::new(stream.clone(), 1).prompts(1)).await.unwrap();
    let writing: Vec<_> = (0..3_u64)
        .map(|writer| {
            let (opening, stream) = (log.clone(), stream.clone());
            tokio::spawn(async move {
                for round in 0_u64.. {
                    let Some(head) = opening.head(&stream).await.unwrap() else { return };
                    let mut maker =
                        EventMaker::behind(stream.clone(), 100 + writer * 100_000 + round, (head.seq, head.hash));
                    match opening.append(&maker.prompts(2)).await {
                        Ok(()) | Err(LogError::Fenced { .. }) => {}
                        Err(LogError::Deleted { .. }) => return,
                        Err(e) => panic!("{e}"),
                    }
                }
            })
        })
        .collect();
    while log.head(&stream).await.unwrap().is_some_and(|head| head.seq < 20) {
        tokio::task::yield_now().await;
    }
    backend.open().await.delete(&deletion(&stream)).await.unwrap();
    for task in writing {
        task.await.unwrap();
    }
    assert_gone(backend, &stream).await;
    let left = log.read_all(Position(0), 1_000).await.unwrap();
    assert_eq!(left.len(), 1, "{left:?}");
}

/// More than a backend removes in one go, with payloads of all sizes.
pub async fn a_long_stream_is_deleted_whole(backend: &dyn Backend) {
    let (log, stream) = (backend.open().await, example_stream("long"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    let large = maker.opaque("dream.large", 2 * 1024 * 1024);
    let blob = Hash::of(&large.payload);
    log.append(&[large]).await.unwrap();
    for _ in 0..2 {
        log.append(&maker.prompts(900)).await.unwrap();
    }
    log.delete(&deletion(&stream)).await.unwrap();
    assert_gone(backend, &stream).await;
    assert_eq!(log.read_all(Position(0), 10).await.unwrap().len(), 1);
    // Blobs are not the log's to remove: others may name them.
    if log.blobs().size(blob).await.unwrap().is_some() {
        assert!(log.blobs().list().await.unwrap().iter().any(|found| found.hash == blob));
    }
}

/// Blobs are listed and removed, unless somebody has put them since.
pub async fn blobs_are_removed_unless_they_were_put_since(backend: &dyn Backend) {
    let log = backend.open().await;
    let (blobs, before) = (log.blobs(), SystemMint.now());
    let kept = blobs.put(b"kept").await.unwrap();
    let gone = blobs.put(b"gone").await.unwrap();
    let mut listed = backend.open().await.blobs().list().await.unwrap();
    listed.sort_by_key(|blob| blob.size_bytes);
    let mut expected = [kept.hash, gone.hash];
    let mut found: Vec<Hash> = listed.iter().map(|blob| blob.hash).collect();
    expected.sort_by_key(Hash::to_string);
    found.sort_by_key(Hash::to_string);
    assert_eq!(found, expected);
    assert!(!blobs.remove(gone.hash, crate::Timestamp(before.0 - 1)).await.unwrap(), "it was put later");
    assert_eq!(blobs.read(gone.hash, 0..10).await.unwrap(), b"gone");
    let later = crate::Timestamp(SystemMint.now().0 + 1_000);
    assert!(blobs.remove(gone.hash, later).await.unwrap());
    assert!(!blobs.remove(gone.hash, later).await.unwrap());
    assert_eq!(blobs.size(gone.hash).await.unwrap(), None);
    assert!(matches!(blobs.read(gone.hash, 0..10).await, Err(LogError::NoSuchBlob(hash)) if hash == gone.hash));
    assert_eq!(blobs.list().await.unwrap().len(), 1);
    // It can be put again.
    assert_eq!(blobs.put(b"gone").await.unwrap(), gone);
    assert_eq!(blobs.read(gone.hash, 0..10).await.unwrap(), b"gone");
    assert_eq!(blobs.read(kept.hash, 0..10).await.unwrap(), b"kept");
}

/// Two logs are never taken for one, and two handles on one log are.
pub async fn a_log_has_a_name_of_its_own(backend: &dyn Backend) {
    let (log, again) = (backend.open().await, backend.open().await);
    assert_eq!(log.identity(), again.identity());
    assert_ne!(log.identity(), crate::log::MemoryLog::new().identity());
    assert!(!log.identity().is_empty());
}

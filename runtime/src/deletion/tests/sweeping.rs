//! Blobs.

use super::{candidates, delete, has, later, none, output, remove, session, sweep};
use crate::deletion::finish_all;
use retrace_events::codec::BINCODE_2;
use retrace_events::log::{Deletion, MemoryLog};
use retrace_events::mint::{Mint, SystemMint};
use retrace_events::testing::{EventMaker, example_stream};
use retrace_events::{Class, EventLog, Timestamp};

#[tokio::test]
async fn what_only_the_deleted_session_names_goes_at_once() {
    let log = MemoryLog::new();
    let (own, shared) = (output(&log, b"own").await, output(&log, b"shared").await);
    let gone = session(&log, "gone", 1, &[own, shared.clone()]).await;
    session(&log, "kept", 2, &[shared]).await;
    // Put by somebody whose event is on its way.
    log.blobs().put(b"coming").await.unwrap();
    // The example's clock is of the past: the blob is newer than any event that names it, unless it is said to be as old.
    let mut found = candidates(&log, std::slice::from_ref(&gone)).await.unwrap();
    found.values_mut().for_each(|at| *at = SystemMint.now());
    remove(&log, &SystemMint, &[gone]).await.unwrap();
    let swept = sweep(&log, None, &found, Timestamp(SystemMint.now().0 + 5_000), &mut |_, _| {}).await.unwrap();
    assert_eq!((swept.blobs, swept.young_blobs), (1, 1), "{swept:?}");
    assert!(!has(&log, b"own").await && has(&log, b"shared").await && has(&log, b"coming").await);
}

#[tokio::test]
async fn what_was_put_again_since_stays_for_its_hour() {
    let log = MemoryLog::new();
    let own = output(&log, b"own").await;
    let gone = session(&log, "gone", 1, &[own]).await;
    // Its event is of last year, and somebody has put the same bytes just now.
    let swept = delete(&log, None, &[gone], SystemMint.now()).await;
    assert_eq!((swept.blobs, swept.young_blobs), (0, 1), "{swept:?}");
    assert!(has(&log, b"own").await);
    let swept = sweep(&log, None, &none(), later(), &mut |_, _| {}).await.unwrap();
    assert_eq!((swept.blobs, swept.young_blobs), (1, 0), "{swept:?}");
    assert!(!has(&log, b"own").await);
}

/// A payload that a log keeps as a blob, and a blob that what was said to a session names.
#[tokio::test]
async fn payloads_and_siblings_are_looked_at() {
    let log = MemoryLog::new();
    let large = EventMaker::new(example_stream("large"), 3).opaque("turn.prompted", 10);
    let session = session(&log, "kept", 1, &[]).await;
    let mut control = EventMaker::new(session.sibling(Class::Control), 2);
    let named = output(&log, b"named").await;
    log.append(&[control.payload(&named, None)]).await.unwrap();
    // As a log keeps the payload of an event that is large.
    let envelope = log.read(&session, 0, 1).await.unwrap().remove(0);
    log.blobs().put(&envelope.payload).await.unwrap();
    log.blobs().put(&large.payload).await.unwrap();
    let swept = sweep(&log, None, &none(), later(), &mut |_, _| {}).await.unwrap();
    assert_eq!(swept.blobs, 1, "{swept:?}");
    assert!(has(&log, b"named").await && has(&log, &envelope.payload).await && !has(&log, &large.payload).await);
}

/// Whoever cannot say what is needed removes nothing.
#[tokio::test]
async fn in_doubt_everything_stays() {
    let newer = || {
        let mut maker = EventMaker::new(example_stream("newer"), 4);
        maker.raw("dream.dreamt", 1, vec![BINCODE_2, 1, 2, 3], None)
    };
    for damage in [false, true] {
        let log = MemoryLog::new();
        log.blobs().put(b"whose?").await.unwrap();
        let kept = session(&log, "kept", 1, &[]).await;
        if damage {
            log.flip_byte(&kept, 0);
        } else {
            log.append(&[newer()]).await.unwrap();
        }
        let gone = session(&log, "gone", 2, &[]).await;
        let swept = delete(&log, None, std::slice::from_ref(&gone), later()).await;
        let doubt = swept.doubt.unwrap();
        assert!(doubt.contains(if damage { "damaged" } else { "newer version" }), "{doubt}");
        assert!(has(&log, b"whose?").await);
        // The session is deleted all the same.
        assert_eq!(log.head(&gone).await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_deletion_that_was_broken_off_is_finished() {
    let log = MemoryLog::new();
    let own = output(&log, b"own").await;
    let gone = session(&log, "gone", 1, &[own]).await;
    let control = gone.sibling(Class::Control);
    log.append(&EventMaker::new(control.clone(), 5).prompts(2)).await.unwrap();
    // Killed behind the session's own stream.
    log.delete(&Deletion { stream: gone.clone(), id: SystemMint.event_id(), at: SystemMint.now() }).await.unwrap();
    assert!(log.head(&control).await.unwrap().is_some());
    assert_eq!(finish_all(&log, &SystemMint).await.unwrap().events, 2);
    assert_eq!(log.head(&control).await.unwrap(), None);
    assert_eq!(finish_all(&log, &SystemMint).await.unwrap().events, 0);
    let swept = sweep(&log, None, &none(), later(), &mut |_, _| {}).await.unwrap();
    assert_eq!(swept.blobs, 1);
    assert_eq!(remove(&log, &SystemMint, &[gone]).await.unwrap().events, 0);
}

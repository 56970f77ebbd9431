//! Listening to a log that breaks, and to senders that write nonsense.

use super::*;
use crate::control::Inbox;
use crate::log::{LogError, SqliteLog};
use crate::mint::Mint as _;
use crate::testing::EventMaker;
use futures::FutureExt;
use std::sync::atomic::Ordering;

#[tokio::test]
async fn a_broken_tail_is_reported_and_begun_anew() {
    let (log, session) = bench();
    let sender = sender(&log, &session, 1);
    // Each tail gives two events and breaks.
    log.tail_events.store(2, Ordering::SeqCst);
    let mut inbox = Inbox::open(log.clone(), &session, 0);
    sender.send(prompt("0")).await.unwrap();
    let (mut heard, mut breaks) = (Vec::new(), 0);
    for number in 1..=30 {
        loop {
            match inbox.next().now_or_never() {
                Some(Ok(event)) => heard.push(text(&event.payload)),
                Some(Err(LogError::Unavailable { .. })) if breaks < 100 => breaks += 1,
                Some(Err(other)) => panic!("after {breaks} breaks: {other}"),
                None => break,
            }
        }
        sender.send(prompt(&number.to_string())).await.unwrap();
    }
    heard.push(text(&inbox.try_next().await.unwrap().unwrap().payload));
    let expected: Vec<String> = (0..=30).map(|number| number.to_string()).collect();
    assert_eq!(heard, expected);
    assert!(breaks >= 10, "{breaks}");
}

#[tokio::test]
async fn a_log_that_is_away_is_reported_until_it_is_back() {
    let (log, session) = bench();
    let sender = sender(&log, &session, 1);
    for number in 0..3 {
        sender.send(prompt(&number.to_string())).await.unwrap();
    }
    let mut inbox = Inbox::open(log.clone(), &session, 0);
    assert_eq!(text(&inbox.next().await.unwrap().payload), "0");
    log.is_away.store(true, Ordering::SeqCst);
    // A page was read already; what is needed beyond it is not there.
    let mut heard = Vec::new();
    let error = loop {
        match inbox.next().await {
            Ok(event) => heard.push(text(&event.payload)),
            Err(e) => break e,
        }
    };
    assert!(matches!(error, LogError::Unavailable { .. }), "{error}");
    for _ in 0..3 {
        assert!(matches!(inbox.next().await, Err(LogError::Unavailable { .. })));
        assert!(matches!(inbox.pending().await, Err(LogError::Unavailable { .. })));
        assert!(matches!(inbox.try_next().await, Err(LogError::Unavailable { .. })));
    }
    log.is_away.store(false, Ordering::SeqCst);
    while heard.len() < 2 {
        heard.push(text(&inbox.next().await.unwrap().payload));
    }
    assert_eq!(heard, ["1", "2"]);
    assert!(inbox.next().now_or_never().is_none());
}

#[tokio::test]
async fn damage_is_reported_and_nothing_is_skipped() {
    let (log, session) = bench();
    let sender = sender(&log, &session, 1);
    for number in 0..5 {
        sender.send(prompt(&number.to_string())).await.unwrap();
    }
    log.inner.flip_byte(sender.stream(), 3);
    let mut inbox = Inbox::open(log.clone(), &session, 0);
    for _ in 0..3 {
        assert!(matches!(inbox.next().await, Err(LogError::Damaged { seq: 3, .. })));
    }
    assert_eq!(inbox.next_seq(), 0);
    // From behind it on the stream can be read.
    assert_eq!(text(&Inbox::open(log, &session, 4).next().await.unwrap().payload), "4");
}

#[tokio::test]
async fn nonsense_does_not_keep_others_from_being_heard() {
    let (dir, session) = (tempfile::tempdir().unwrap(), example_stream("nonsense"));
    let log: Arc<dyn EventLog> = Arc::new(SqliteLog::open(dir.path()).unwrap());
    let mut maker = EventMaker::new(control_stream(&session), 1);
    let nonsense = [
        maker.raw("control.prompt_sent", 1, vec![1, 0xFF, 0xFF, 0xFF], None),
        maker.raw("control.prompt_sent", 1, Vec::new(), None),
        maker.raw("control.approval_given", 1, vec![77, 1, 2, 3], None),
        maker.raw("control.cancel_requested", 0, vec![1], None),
    ];
    log.append(&nonsense).await.unwrap();
    // Something else that has no business here is handed over as it is: the holder refuses it.
    log.append(&[maker.prompt("not for this stream")]).await.unwrap();
    let sender = ControlSender::new(Arc::clone(&log), Arc::new(crate::mint::SystemMint), &session);
    let sent = sender.send(prompt("sense")).await.unwrap();
    let mut inbox = Inbox::open(log, &session, 0);
    for expected in nonsense {
        let event = inbox.next().await.unwrap();
        assert_eq!((event.payload, event.envelope), (Decoded::Newer, expected));
    }
    assert_eq!(inbox.next().await.unwrap().envelope.kind, "turn.prompted");
    assert_eq!(inbox.next().await.unwrap(), sent);
}

#[tokio::test]
async fn an_inbox_and_its_waiting_can_move_between_tasks() {
    let (log, session) = bench();
    let sender = sender(&log, &session, 1);
    let mut inbox = Inbox::open(log, &session, 0);
    assert!(format!("{inbox:?}").contains("next_seq: 0"));
    let waiting = tokio::spawn(async move { (inbox.next().await.unwrap(), inbox) });
    let sent = sender.send(prompt("moved")).await.unwrap();
    let (event, mut inbox) = waiting.await.unwrap();
    assert_eq!(event, sent);
    assert_eq!(inbox.try_next().await.unwrap(), None);
}

#[tokio::test]
async fn whoever_waits_hears_that_the_session_was_deleted_and_nobody_can_send() {
    let (log, session): (Arc<dyn EventLog>, _) = (Arc::new(MemoryLog::new()), example_stream("deleted"));
    let mint = crate::mint::SystemMint;
    let sender = || ControlSender::new(Arc::clone(&log), Arc::new(mint), &session);
    let first = sender();
    let mut inbox = Inbox::open(Arc::clone(&log), &session, 0);
    first.send(prompt("before")).await.unwrap();
    inbox.next().await.unwrap();
    let waiting = tokio::spawn(async move { inbox.next().await });
    let stream = control_stream(&session);
    let deletion = crate::log::Deletion { stream: stream.clone(), id: mint.event_id(), at: mint.now() };
    log.delete(&deletion).await.unwrap();
    let deleted = |error: &LogError| matches!(error, LogError::Deleted { stream: of } if *of == stream);
    let heard = waiting.await.unwrap().unwrap_err();
    assert!(deleted(&heard), "{heard}");
    for sender in [first, sender()] {
        let refused = sender.send(prompt("after")).await.unwrap_err();
        assert!(deleted(&refused), "{refused}");
    }
}

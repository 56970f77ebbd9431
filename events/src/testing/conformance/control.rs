//! The control stream: many senders, one inbox.

use super::Backend;
use crate::codec::Decoded;
use crate::control::{ControlSender, Inbox, control_stream};
use crate::envelope::Event;
use crate::id::{Class, StreamId};
use crate::log::{EventLog, LogError};
use crate::mint::SystemMint;
use crate::payload::{Payload, control, turn};
use crate::testing::{EventMaker, example_stream};
use crate::verify::verify_stream;
use futures::FutureExt;
use futures::future::join_all;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Nobody has to wait this long; whoever does has missed something.
const PATIENCE: Duration = Duration::from_secs(60);

/// A sender with the machine's clock, as every process has one.
fn sender(log: &Arc<dyn EventLog>, session: &StreamId) -> ControlSender {
    ControlSender::new(Arc::clone(log), Arc::new(SystemMint), session)
}

/// Something to send.
fn prompt(text: &str) -> Payload {
    control::ControlPromptSent { text: text.to_owned(), attachments: Vec::new() }.into()
}

/// The words that were sent.
fn text(event: &Event) -> &str {
    match event.payload.known() {
        Some(Payload::Control(control::Control::PromptSent(sent))) => &sent.text,
        other => panic!("not a prompt: {other:?}"),
    }
}

/// The next event, which must not be long in coming.
async fn next(inbox: &mut Inbox) -> Event {
    tokio::time::timeout(PATIENCE, inbox.next()).await.expect("an inbox does not hang").unwrap()
}

/// What is sent stands in the control stream as it was given back, and nowhere else.
pub async fn what_is_sent_stands_in_the_control_stream(backend: &dyn Backend) {
    let (log, session) = (backend.open().await, example_stream("sent"));
    let sender = sender(&log, &session);
    assert_eq!(sender.stream(), &control_stream(&session));
    assert_eq!(control_stream(&session), session.sibling(Class::Control));
    let mut sent = Vec::new();
    for number in 0..5 {
        sent.push(sender.send(prompt(&format!("prompt {number}"))).await.unwrap());
    }
    let stored = log.read(sender.stream(), 0, 10).await.unwrap();
    let stored: Vec<Event> = stored.into_iter().map(|envelope| Event::decode(envelope).unwrap()).collect();
    assert_eq!(stored, sent);
    assert_eq!(stored.iter().map(|event| event.envelope.seq).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert_eq!(log.head(&session).await.unwrap(), None);
    // The session's own events are its holder's.
    let prompted =
        turn::TurnPrompted { text: "no".to_owned(), source: turn::PromptSource::Local, attachments: Vec::new() };
    let refused = sender.send(prompted.into()).await;
    assert!(matches!(refused, Err(LogError::InvalidBatch(_))), "{refused:?}");
    assert_eq!(verify_stream(&*log, sender.stream()).await.unwrap().events, 5);
}

/// Two senders of two processes: everything arrives once, each one's own in the order it was sent in.
pub async fn two_senders_interleave_and_keep_their_order(backend: &dyn Backend) {
    send_from(backend, 2, 250).await;
}

/// Many senders at a time, of which each append lets only one go on.
pub async fn many_senders_are_all_heard(backend: &dyn Backend) {
    send_from(backend, 12, 12).await;
}

/// Sends `each` prompts from each of `senders` tasks, with a handle of their own, to an inbox that listens meanwhile.
async fn send_from(backend: &dyn Backend, senders: usize, each: usize) {
    let (log, session) = (backend.open().await, example_stream("busy"));
    let mut inbox = Inbox::open(Arc::clone(&log), &session, 0);
    let logs = join_all((0..senders).map(|_| backend.open())).await;
    let sending = (0..senders).zip(logs).map(|(sender_number, log)| {
        let session = session.clone();
        tokio::spawn(async move {
            let sender = sender(&log, &session);
            for number in 0..each {
                let event = sender.send(prompt(&format!("{sender_number} {number}"))).await.unwrap();
                assert_eq!(text(&event), format!("{sender_number} {number}"));
            }
        })
    });
    let sending: Vec<_> = sending.collect();
    let mut heard: HashMap<usize, usize> = HashMap::new();
    for seq in 0..senders * each {
        let event = next(&mut inbox).await;
        assert_eq!(event.envelope.seq, seq as u64);
        let (sender_number, number) = text(&event).split_once(' ').unwrap();
        let expected = heard.entry(sender_number.parse().unwrap()).or_default();
        assert_eq!(number, expected.to_string(), "sender {sender_number}");
        *expected += 1;
    }
    for task in sending {
        task.await.unwrap();
    }
    assert!(heard.len() == senders && heard.values().all(|count| *count == each), "{heard:?}");
    assert!(!inbox.pending().await.unwrap());
    let verified = verify_stream(&*log, &control_stream(&session)).await.unwrap();
    assert_eq!(verified.events, (senders * each) as u64);
}

/// First what is there, from any place on, then what comes; more than one page of it.
pub async fn an_inbox_gives_the_past_and_the_future(backend: &dyn Backend) {
    let (log, other, session) = (backend.open().await, backend.open().await, example_stream("inbox"));
    let sender = sender(&other, &session);
    for number in 0..40 {
        sender.send(prompt(&format!("past {number}"))).await.unwrap();
    }
    // What others say is not for this one.
    let others = [session.clone(), control_stream(&example_stream("inbox-2")), session.sibling(Class::Job)];
    for (seed, stream) in (1..).zip(others) {
        log.append(&EventMaker::new(stream, seed).prompts(3)).await.unwrap();
    }
    let mut whole = Inbox::open(Arc::clone(&log), &session, 0);
    let mut part = Inbox::open(Arc::clone(&log), &session, 37);
    let mut late = Inbox::open(Arc::clone(&log), &session, 40);
    for seq in 0..40 {
        assert_eq!(whole.next_seq(), seq);
        assert_eq!(text(&next(&mut whole).await), format!("past {seq}"));
    }
    for seq in 37..40 {
        assert_eq!(text(&next(&mut part).await), format!("past {seq}"));
    }
    assert_eq!(late.try_next().await.unwrap(), None);
    for number in 0..20 {
        let sent = sender.send(prompt(&format!("future {number}"))).await.unwrap();
        for inbox in [&mut whole, &mut part, &mut late] {
            assert_eq!(next(inbox).await, sent);
        }
    }
    assert_eq!(late.next_seq(), 60);
}

/// What was acknowledged is seen without waiting, whatever the live tail has heard by then.
pub async fn an_inbox_sees_what_was_acknowledged(backend: &dyn Backend) {
    let (log, other, session) = (backend.open().await, backend.open().await, example_stream("acknowledged"));
    let sender = sender(&other, &session);
    let mut inbox = Inbox::open(log, &session, 0);
    assert!(!inbox.pending().await.unwrap());
    for number in 0..60_u64 {
        // Sometimes it listens already.
        if number % 3 == 0 {
            assert!(inbox.next().now_or_never().is_none());
        }
        let sent = sender.send(prompt("now")).await.unwrap();
        assert!(inbox.pending().await.unwrap(), "{number}");
        assert_eq!(inbox.next_seq(), number);
        let event = match number % 4 {
            0 => inbox.next().now_or_never().expect("it is at hand").unwrap(),
            1 => next(&mut inbox).await,
            _ => inbox.try_next().await.unwrap().expect("it is there"),
        };
        assert_eq!(event, sent);
        assert_eq!(inbox.try_next().await.unwrap(), None);
    }
}

/// A reader that does other things between any two looks, and drops its waiting each time, gets every event once and is
/// not kept from getting there.
pub async fn an_inbox_dropped_in_mid_wait_loses_nothing(backend: &dyn Backend) {
    const EVENTS: u64 = 120;
    let (log, other, session) = (backend.open().await, backend.open().await, example_stream("impatient"));
    let first = sender(&other, &session);
    for _ in 0..30 {
        first.send(prompt("before")).await.unwrap();
    }
    let mut inbox = Inbox::open(log, &session, 0);
    let sending = tokio::spawn(async move {
        for _ in 30..EVENTS {
            first.send(prompt("meanwhile")).await.unwrap();
        }
    });
    let reading = async {
        for seq in 0..EVENTS {
            let event = loop {
                // As `select!` does when another branch is ready every time.
                match inbox.next().now_or_never() {
                    Some(event) => break event.unwrap(),
                    None => tokio::task::yield_now().await,
                }
            };
            assert_eq!(event.envelope.seq, seq);
        }
    };
    tokio::time::timeout(PATIENCE, reading).await.expect("it gets there");
    sending.await.unwrap();
    assert_eq!(inbox.try_next().await.unwrap(), None);
}

/// An event that this version does not know is handed over, and the order goes on behind it.
pub async fn a_newer_control_event_is_handed_over(backend: &dyn Backend) {
    let (log, session) = (backend.open().await, example_stream("newer"));
    let mut maker = EventMaker::new(control_stream(&session), 1);
    let newer = [maker.opaque("control.steered", 40), maker.raw("control.prompt_sent", 99, vec![1, 2, 3], None)];
    log.append(&newer).await.unwrap();
    let mut inbox = Inbox::open(Arc::clone(&log), &session, 0);
    for expected in newer {
        let event = next(&mut inbox).await;
        assert_eq!(event.payload, Decoded::Newer);
        assert_eq!(event.hash, expected.hash().unwrap());
        assert_eq!(event.envelope, expected);
    }
    // A sender with an older clock than the newest event's does not turn time back.
    let sent = sender(&log, &session).send(prompt("behind it")).await.unwrap();
    assert_eq!(next(&mut inbox).await, sent);
    assert_eq!(verify_stream(&*log, &control_stream(&session)).await.unwrap().events, 3);
}

/// A holder that has taken more than there is has noticed a loss: it is told, rather than kept waiting for ever.
pub async fn an_inbox_beyond_the_end_is_refused(backend: &dyn Backend) {
    let (log, session) = (backend.open().await, example_stream("lost"));
    let sender = sender(&log, &session);
    for from_seq in [1, 5] {
        let error = Inbox::open(Arc::clone(&log), &session, from_seq).next().await.unwrap_err();
        assert!(matches!(&error, LogError::Damaged { seq, .. } if *seq == from_seq - 1), "{error}");
    }
    sender.send(prompt("one")).await.unwrap();
    assert!(Inbox::open(Arc::clone(&log), &session, 2).next().await.is_err());
    let mut inbox = Inbox::open(Arc::clone(&log), &session, 1);
    assert!(inbox.next().now_or_never().is_none());
    sender.send(prompt("two")).await.unwrap();
    assert_eq!(text(&next(&mut inbox).await), "two");
}

/// One sender serves many tasks.
pub async fn a_sender_serves_several_tasks(backend: &dyn Backend) {
    let (log, session) = (backend.open().await, example_stream("shared"));
    let sender = Arc::new(sender(&log, &session));
    let tasks = (0..20).map(|number| {
        let sender = Arc::clone(&sender);
        tokio::spawn(async move { sender.send(prompt(&number.to_string())).await.unwrap() })
    });
    let mut sent: Vec<Event> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
    sent.sort_by_key(|event| event.envelope.seq);
    let mut inbox = Inbox::open(log, &session, 0);
    for expected in sent {
        assert_eq!(next(&mut inbox).await, expected);
    }
    assert!(!inbox.pending().await.unwrap());
}

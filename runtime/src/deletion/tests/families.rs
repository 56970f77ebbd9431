//! Which forks go with a session, and in which order.

use crate::deletion::{Family, ancestors};
use retrace_events::hash::Hash;
use retrace_events::log::MemoryLog;
use retrace_events::payload::session::{SessionForkReason, SessionForked};
use retrace_events::testing::{EventMaker, example_payloads, example_stream};
use retrace_events::{Envelope, EventLog, Payload, StreamId};

/// The example of a fork's first event, with another parent.
fn forked(parent: &StreamId) -> Payload {
    let example = example_payloads().into_iter().find(|payload| payload.kind() == "session.forked").unwrap();
    let Payload::Session(retrace_events::payload::Session::Forked(forked)) = example else { panic!() };
    SessionForked { parent: parent.clone(), parent_seq: 0, reason: SessionForkReason::Fork, ..forked }.into()
}

async fn begin(log: &MemoryLog, id: &str, parent: Option<&str>) -> StreamId {
    let stream = example_stream(id);
    let seed = id.bytes().fold(7, |seed, byte| seed * 31 + u64::from(byte));
    let mut maker = EventMaker::new(stream.clone(), seed);
    let first = match parent {
        None => maker.prompt("begin"),
        Some(parent) => {
            let first = maker.payload(&forked(&example_stream(parent)), None);
            Envelope { prev_hash: Hash::of(parent.as_bytes()), ..first }
        }
    };
    log.append(&[first]).await.unwrap();
    stream
}

fn ids(streams: &[StreamId]) -> Vec<&str> {
    streams.iter().map(|stream| stream.id.as_str()).collect()
}

#[tokio::test]
async fn forks_of_forks_go_too_and_go_first() {
    let log = MemoryLog::new();
    for (id, parent) in
        [("root", None), ("a", Some("root")), ("b", Some("root")), ("aa", Some("a")), ("aaa", Some("aa")), ("x", None)]
    {
        begin(&log, id, parent).await;
    }
    let family = Family::of(&log).await.unwrap();
    assert!(family.unreadable.is_empty());
    let descendants = |id: &str| family.descendants(&[example_stream(id)]);
    assert_eq!(ids(&descendants("root")), ["a", "aa", "aaa", "b"]);
    assert_eq!(ids(&descendants("a")), ["aa", "aaa"]);
    assert_eq!(ids(&descendants("aaa")), Vec::<&str>::new());
    assert_eq!(ids(&descendants("x")), Vec::<&str>::new());
    // Of what is deleted anyhow nothing is told.
    assert_eq!(ids(&family.descendants(&[example_stream("a"), example_stream("aa")])), ["aaa"]);
    let mut all = descendants("root");
    all.push(example_stream("root"));
    let ordered = family.forks_first(&all);
    let place = |id: &str| ids(&ordered).iter().position(|other| *other == id).unwrap();
    assert!(place("aaa") < place("aa") && place("aa") < place("a") && place("a") < place("root"));
    assert!(place("b") < place("root"));
    assert_eq!(ordered.len(), 5);
}

#[tokio::test]
async fn ancestors_are_found_as_far_as_they_are_there() {
    let log = MemoryLog::new();
    for (id, parent) in [("root", None), ("a", Some("root")), ("aa", Some("a")), ("lost", Some("gone"))] {
        begin(&log, id, parent).await;
    }
    let found = async |id: &str| {
        let (found, complete) = ancestors(&log, &example_stream(id)).await.unwrap();
        (ids(&found).join(" "), complete)
    };
    assert_eq!(found("aa").await, ("root a".to_owned(), true));
    assert_eq!(found("root").await, (String::new(), true));
    assert_eq!(found("lost").await, (String::new(), false));
}

/// No log should hold one, and a hostile import may have brought one.
#[tokio::test]
async fn a_loop_of_forks_ends() {
    let log = MemoryLog::new();
    begin(&log, "a", Some("b")).await;
    begin(&log, "b", Some("a")).await;
    begin(&log, "self", Some("self")).await;
    let family = Family::of(&log).await.unwrap();
    assert_eq!(ids(&family.descendants(&[example_stream("a")])), ["b"]);
    assert_eq!(family.forks_first(&[example_stream("a"), example_stream("b")]).len(), 2);
    assert!(!ancestors(&log, &example_stream("a")).await.unwrap().1);
    assert!(!ancestors(&log, &example_stream("self")).await.unwrap().1);
}

#[tokio::test]
async fn a_session_that_cannot_be_read_is_told() {
    let log = MemoryLog::new();
    let damaged = begin(&log, "damaged", None).await;
    begin(&log, "sound", None).await;
    log.flip_byte(&damaged, 0);
    let family = Family::of(&log).await.unwrap();
    assert_eq!(family.unreadable, [damaged]);
}

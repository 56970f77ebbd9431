//! Where forks come from, on a log.

use super::super::lineage::lineage;
use super::*;
use retrace_events::hash::Hash;
use retrace_events::log::{EventLog, MemoryLog};
use retrace_events::mint::SeededMint;
use retrace_events::payload::session::{SessionForkReason, SessionForked};
use retrace_events::{StreamId, Writer};
use std::sync::Arc;

fn forked(parent: &StreamId, parent_seq: u64, parent_hash: Hash) -> Payload {
    SessionForked {
        parent: parent.clone(),
        parent_seq,
        parent_hash,
        reason: SessionForkReason::Fork,
        title: "a fork".into(),
        workspace: "/work/fork".into(),
        retrace_version: "0".into(),
        settings: example_settings(),
    }
    .into()
}

/// A session of three events; a fork begins at the last of `parent`.
async fn session(log: &Arc<MemoryLog>, id: &str, parent: Option<&str>) {
    let (first, prev) = match parent {
        None => (started("/work/x"), Hash::GENESIS),
        Some(parent) => {
            let parent = example_stream(parent);
            let head = log.head(&parent).await.unwrap().unwrap();
            (forked(&parent, head.seq, head.hash), head.hash)
        }
    };
    let log: Arc<dyn EventLog> = log.clone();
    let seed = id.bytes().fold(7, |seed, byte| seed * 31 + u64::from(byte));
    let mut writer = Writer::create(log, Arc::new(SeededMint::new(seed)), example_stream(id), prev);
    let batch = [first, prompt(&format!("of {id}")), prompt("more")];
    writer.append(batch.into_iter().map(|payload| (payload, None)).collect()).await.unwrap();
}

#[tokio::test]
async fn parents_come_nearest_first() {
    let log = Arc::new(MemoryLog::new());
    session(&log, "a", None).await;
    session(&log, "b", Some("a")).await;
    session(&log, "c", Some("b")).await;
    let of = async |id: &str| lineage(log.as_ref(), &example_stream(id)).await.unwrap();
    assert_eq!(of("c").await, [(example_stream("b"), 2), (example_stream("a"), 2)]);
    assert_eq!(of("b").await, [(example_stream("a"), 2)]);
    assert_eq!(of("a").await, []);
    assert_eq!(of("nobody").await, []);
}

#[tokio::test]
async fn a_forks_documents_are_its_own() {
    let log = Arc::new(MemoryLog::new());
    session(&log, "a", None).await;
    session(&log, "b", Some("a")).await;
    let mut cursor = SessionCursor::new(&example_stream("b"));
    let mut documents = Vec::new();
    for envelope in log.read(&example_stream("b"), 0, 10).await.unwrap() {
        documents.extend(cursor.apply(Position(9), &Event::decode(envelope).unwrap(), &redactor()).documents);
    }
    assert_eq!(picture(&documents), "1.0 o0 s1 prompt \"of b\"\n2.0 o1 s2 prompt \"more\"\n");
    assert_eq!(cursor.workspace(), "/work/fork");
}

#[tokio::test]
async fn a_circle_and_a_missing_parent_end_the_search() {
    let log = Arc::new(MemoryLog::new());
    for (id, parent) in [("x", "y"), ("y", "x"), ("orphan", "gone"), ("self", "self")] {
        let shared: Arc<dyn EventLog> = log.clone();
        let prev = Hash::of(id.as_bytes());
        let mint = Arc::new(SeededMint::new(id.len() as u64 * 1_000 + u64::from(id.as_bytes()[0])));
        let mut writer = Writer::create(shared, mint, example_stream(id), prev);
        writer.append(vec![(forked(&example_stream(parent), 5, prev), None)]).await.unwrap();
    }
    let of = async |id: &str| lineage(log.as_ref(), &example_stream(id)).await.unwrap();
    assert_eq!(of("x").await, [(example_stream("y"), 5), (example_stream("x"), 5)]);
    assert_eq!(of("orphan").await, [(example_stream("gone"), 5)]);
    assert_eq!(of("self").await, [(example_stream("self"), 5)]);
}

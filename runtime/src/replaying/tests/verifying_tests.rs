//! Verifying a fork: its history is read, and must be what it was forked from.

use super::recorder::Recorder;
use crate::replaying::{ReplayError, verify_session};
use retrace_events::mint::SystemMint;
use retrace_events::payload::session::{SessionForkReason, SessionForked};
use retrace_events::payload::settings::Settings;
use retrace_events::testing::{example_settings, example_stream};
use retrace_events::{EventLog, LogError, Payload, StreamId, Writer};
use std::sync::Arc;

/// A fork of `parent` at its event `seq`.
async fn fork(session: &Recorder, parent: &StreamId, seq: u64, name: &str) -> StreamId {
    let envelope = session.log.read(parent, seq, 1).await.unwrap().remove(0);
    let parent_hash = envelope.hash().unwrap();
    let stream = example_stream(name);
    let forked = SessionForked {
        parent: parent.clone(),
        parent_seq: seq,
        parent_hash,
        reason: SessionForkReason::Fork,
        title: "f".to_owned(),
        workspace: session.workspace().display().to_string(),
        retrace_version: "0".to_owned(),
        settings: Settings { sandbox: "process".to_owned(), ..example_settings() },
    };
    let log = Arc::new(session.log.clone());
    let mut writer = Writer::create(log, Arc::new(SystemMint), stream.clone(), parent_hash);
    let forked: Payload = forked.into();
    writer.append(vec![(forked, None)]).await.unwrap();
    stream
}

#[tokio::test]
async fn a_fork_of_a_fork_counts_its_own_events_and_those_before() {
    let mut session = Recorder::new().await;
    session.bash("true").await;
    let one = fork(&session, &session.stream(), 3, "one").await;
    let two = fork(&session, &one, 0, "two").await;
    let report = verify_session(&session.log, &one).await.unwrap();
    assert_eq!((report.events, report.inherited_events, report.agrees()), (1, 4, true));
    let report = verify_session(&session.log, &two).await.unwrap();
    assert_eq!((report.events, report.inherited_events), (1, 5));
    let report = verify_session(&session.log, &session.stream()).await.unwrap();
    assert_eq!(report.inherited_events, 0);
}

#[tokio::test]
async fn damage_in_an_ancestor_is_the_forks_damage_up_to_where_it_parted() {
    for (flipped, is_damaged) in [(2, true), (4, false)] {
        let mut session = Recorder::new().await;
        session.bash("true").await;
        let stream = fork(&session, &session.stream(), 3, "one").await;
        session.log.flip_byte(&session.stream(), flipped);
        let verified = verify_session(&session.log, &stream).await;
        assert_eq!(matches!(verified, Err(ReplayError::Log(_))), is_damaged, "{flipped}: {verified:?}");
    }
}

#[tokio::test]
async fn without_its_parent_a_fork_cannot_be_verified() {
    let mut session = Recorder::new().await;
    session.bash("true").await;
    let stream = fork(&session, &session.stream(), 3, "one").await;
    // The fork alone, in another log.
    let other = retrace_events::log::MemoryLog::new();
    other.append(&session.log.read(&stream, 0, 10).await.unwrap()).await.unwrap();
    let verified = verify_session(&other, &stream).await;
    assert!(matches!(verified, Err(ReplayError::Log(LogError::NoParent { .. }))), "{verified:?}");
    let none = verify_session(&other, &example_stream("none")).await;
    assert!(matches!(none, Err(ReplayError::NoSuchSession(_))));
}

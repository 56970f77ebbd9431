//! `delete`: asked for, refused, finished, and undone from an export.

use super::{LOOKS, Machine};
use crate::cli::Exit;
use retrace_events::hash::Hash;
use retrace_events::log::{Deletion, Holder};
use retrace_events::mint::{Mint, SystemMint};
use retrace_events::payload::session::SessionForked;
use retrace_events::payload::{Payload, Session};
use retrace_events::testing::{EventMaker, example_payloads};
use retrace_events::{Envelope, StreamId};

/// A machine with one session.
async fn machine() -> (Machine, StreamId) {
    let mut machine = Machine::with(LOOKS).await;
    // Nobody follows the log but who is asked to.
    machine.set("RETRACE_INDEX", "false");
    machine.run(&["run", "the task"]).await;
    let stream = machine.sessions().await.remove(0);
    (machine, stream)
}

/// A fork of `parent`, as far as the log is concerned.
async fn fork(machine: &Machine, parent: &StreamId, id: &str) -> StreamId {
    let example = example_payloads().into_iter().find(|payload| payload.kind() == "session.forked").unwrap();
    let Payload::Session(Session::Forked(forked)) = example else { panic!() };
    let log = machine.log().await;
    let at = log.read(parent, 0, 1).await.unwrap().remove(0).hash().unwrap();
    let stream = StreamId { id: retrace_events::Token::slug(id), ..parent.clone() };
    let forked = SessionForked { parent: parent.clone(), parent_seq: 0, parent_hash: at, ..forked };
    let seed = id.bytes().fold(1, |seed, byte| seed * 31 + u64::from(byte));
    let first = EventMaker::new(stream.clone(), seed).payload(&forked.into(), None);
    log.append(&[Envelope { prev_hash: at, ..first }]).await.unwrap();
    stream
}

#[tokio::test]
async fn a_session_is_deleted_when_it_is_meant() {
    let (machine, stream) = machine().await;
    let id = stream.id.as_str();
    machine.out(&["index", "update"]).await;
    let ran = machine.run(&["delete", id]).await;
    assert_eq!(ran.exit, Exit::Usage);
    assert!(ran.err.contains("1 session would be deleted for good") && ran.err.contains("hint: --yes"), "{ran:?}");
    assert_eq!(machine.sessions().await.len(), 1);
    let said = machine.out(&["delete", id, "--yes"]).await;
    assert!(said.starts_with("1 session deleted, ") && said.contains(" events, 0 blobs, "), "{said}");
    assert!(machine.sessions().await.is_empty());
    for args in [&["show", id][..], &["export", id], &["resume", id, "go on"], &["send", id, "more"]] {
        assert_eq!(machine.run(args).await.exit, Exit::NotFound, "{args:?}");
    }
    assert!(machine.out(&["log", "verify"]).await.contains("0 streams sound"));
    assert!(machine.out(&["log", "info"]).await.contains("0 sessions, 0 streams, 0 events"));
    // Nobody followed: the indexes hear of it with the next look.
    assert_eq!(machine.run(&["search", "task"]).await.out, "");
    assert!(machine.out(&["index", "verify"]).await.contains("0 missing, 0 too many, 0 different"));
    // Again, by its whole name, there is nothing left to do.
    assert!(machine.out(&["delete", id, "-y"]).await.contains(", 0 events, 0 blobs"));
    assert_eq!(machine.run(&["delete", "nothing", "-y"]).await.exit, Exit::NotFound);
    assert_eq!(machine.out(&["delete", "--leftovers"]).await.split(',').next(), Some("cleaned up"));
}

#[tokio::test]
async fn who_sits_at_a_terminal_is_asked() {
    let (mut machine, stream) = machine().await;
    for (answer, exit, left) in [("n\n", Exit::Failed, 1), ("\n", Exit::Failed, 1), ("yes\n", Exit::Done, 0)] {
        machine.types(answer);
        let ran = machine.run(&["delete", stream.id.as_str()]).await;
        assert_eq!(ran.exit, exit, "{ran:?}");
        assert!(ran.err.contains(&format!("  {}  ", stream.id)), "{ran:?}");
        assert!(ran.err.contains("delete 1 session for good? [y/N] "), "{ran:?}");
        assert_eq!(machine.sessions().await.len(), left, "{answer:?}");
    }
}

#[tokio::test]
async fn forks_go_only_when_they_are_meant_too() {
    let (machine, root) = machine().await;
    let child = fork(&machine, &root, "child").await;
    fork(&machine, &child, "grandchild").await;
    fork(&machine, &root, "other").await;
    let ran = machine.run(&["delete", root.id.as_str(), "-y"]).await;
    assert_eq!(ran.exit, Exit::Failed);
    assert!(ran.err.contains("3 sessions were forked from it: child, grandchild, other"), "{ran:?}");
    assert!(ran.err.contains("--with-forks"), "{ran:?}");
    assert_eq!(machine.sessions().await.len(), 4);
    let ran = machine.run(&["delete", "child", "-y"]).await;
    assert!(ran.err.contains("a session was forked from it: grandchild"), "{ran:?}");
    // A fork alone can go, and what it was forked from stays.
    machine.out(&["delete", "other", "-y"]).await;
    let said = machine.out(&["delete", "child", "grandchild", "-y", "--json"]).await;
    assert!(said.contains(r#""deleted":["grandchild","child"]"#), "{said}");
    fork(&machine, &root, "again").await;
    assert!(machine.out(&["delete", root.id.as_str(), "--with-forks", "-y"]).await.starts_with("2 sessions deleted"));
    assert!(machine.sessions().await.is_empty());
}

#[tokio::test]
async fn what_somebody_runs_is_not_deleted_nor_anything_with_it() {
    let (machine, root) = machine().await;
    let child = fork(&machine, &root, "child").await;
    let log = machine.log().await;
    let holder = Holder::this_process("retrace chat", SystemMint.now());
    let claim = log.claim(&child, &holder).await.unwrap();
    let ran = machine.run(&["delete", root.id.as_str(), "--with-forks", "-y"]).await;
    assert_eq!(ran.exit, Exit::Log);
    assert!(ran.err.contains("session child is held by `retrace chat`") && ran.err.contains("hint: "), "{ran:?}");
    assert_eq!(machine.sessions().await.len(), 2);
    drop(claim);
    machine.out(&["delete", root.id.as_str(), "--with-forks", "-y"]).await;
    assert!(machine.sessions().await.is_empty());
}

#[tokio::test]
async fn an_export_brings_it_back() {
    let (machine, stream) = machine().await;
    let id = stream.id.as_str();
    machine.out(&["index", "update"]).await;
    let file = machine.workspace.with_file_name("kept.jsonl");
    let path = file.to_str().unwrap();
    machine.out(&["export", id, "--output", path]).await;
    let lines = machine.out(&["export", id]).await;
    machine.out(&["delete", id, "-y"]).await;
    assert!(machine.out(&["import", path]).await.contains("(0 already there)"));
    assert_eq!(machine.out(&["export", id]).await, lines);
    assert!(machine.out(&["replay", id, "--verify"]).await.contains("all 2 requests render"));
    machine.out(&["index", "update"]).await;
    assert!(machine.out(&["index", "verify"]).await.contains("0 missing, 0 too many, 0 different"));
    assert!(machine.out(&["import", path]).await.starts_with("0 events imported"));
    // And it can be deleted again.
    machine.out(&["delete", id, "-y"]).await;
    assert!(machine.sessions().await.is_empty());
}

/// Killed behind the session's own stream: it is not there any more, and its whole name finishes it.
#[tokio::test]
async fn what_was_broken_off_is_finished_by_name() {
    let (machine, stream) = machine().await;
    machine.out(&["send", stream.id.as_str(), "more"]).await;
    let log = machine.log().await;
    log.delete(&Deletion { stream: stream.clone(), id: SystemMint.event_id(), at: SystemMint.now() }).await.unwrap();
    assert_eq!(log.streams(&Default::default()).await.unwrap().len(), 1, "what was said to it");
    assert_eq!(machine.run(&["delete", &stream.id.as_str()[..5], "-y"]).await.exit, Exit::NotFound);
    assert!(machine.out(&["delete", stream.id.as_str(), "-y"]).await.contains(", 1 event, "));
    assert!(log.streams(&Default::default()).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_blob_that_nobody_else_names_goes_with_its_session() {
    let (machine, kept) = machine().await;
    let log = machine.log().await;
    let stream = StreamId { id: retrace_events::Token::slug("with-blobs"), ..kept };
    let prompted = example_payloads().into_iter().find(|payload| payload.kind() == "turn.prompted").unwrap();
    let Payload::Turn(retrace_events::payload::Turn::Prompted(mut prompted)) = prompted else { panic!() };
    let blob = log.blobs().put(b"a picture").await.unwrap();
    prompted.attachments.iter_mut().for_each(|attachment| attachment.blob = blob);
    assert!(!prompted.attachments.is_empty());
    let event = EventMaker::new(stream, 8).payload(&prompted.into(), None);
    let now = Envelope { at: SystemMint.now(), ..event };
    log.append(&[now]).await.unwrap();
    let said = machine.out(&["delete", "with-blobs", "-y"]).await;
    assert!(said.contains(", 1 blob, "), "{said}");
    assert_eq!(log.blobs().size(Hash::of(b"a picture")).await.unwrap(), None);
}

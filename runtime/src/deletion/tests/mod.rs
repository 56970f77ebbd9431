//! Deleting and cleaning up: what nothing needs goes, everything else stays, whatever happens in between.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod families;
mod sweeping;
mod sweeping_snapshots;

use super::{Candidates, Swept, candidates, remove, sweep};
use retrace_events::hash::Hash;
use retrace_events::log::MemoryLog;
use retrace_events::mint::{Mint, SystemMint};
use retrace_events::payload::tool::ToolFinished;
use retrace_events::payload::workspace::WorkspaceSnapshotted;
use retrace_events::testing::{EventMaker, example_stream};
use retrace_events::{CallId, EventLog, Payload, StreamId, Timestamp};
use retrace_sandbox::snapshot::{SnapshotStore, TreeId};

/// An hour and a bit later.
fn later() -> Timestamp {
    Timestamp(SystemMint.now().0 + 61 * 60 * 1_000)
}

/// The end of a call whose output is the blob of these bytes, which is stored.
async fn output(log: &MemoryLog, bytes: &[u8]) -> Payload {
    let blob = log.blobs().put(bytes).await.unwrap();
    ToolFinished {
        call: CallId("toolu_1".to_owned()),
        is_error: false,
        content: "long".to_owned(),
        exit: None,
        output: Some(blob),
        changed: Vec::new(),
        duration_ms: 1,
    }
    .into()
}

fn snapshotted(tree: &TreeId, previous: Option<&TreeId>) -> Payload {
    WorkspaceSnapshotted {
        tree: tree.to_string(),
        previous: previous.map(ToString::to_string),
        git_state: None,
        after: None,
        changed_files: 1,
        new_bytes: 1,
    }
    .into()
}

/// A session with these events.
async fn session(log: &MemoryLog, id: &str, seed: u64, payloads: &[Payload]) -> StreamId {
    let stream = example_stream(id);
    let mut maker = EventMaker::new(stream.clone(), seed);
    let mut events = vec![maker.prompt("begin")];
    events.extend(payloads.iter().map(|payload| maker.payload(payload, None)));
    log.append(&events).await.unwrap();
    stream
}

/// Deletes sessions and cleans up behind them, as of `now`.
async fn delete(log: &MemoryLog, store: Option<SnapshotStore>, sessions: &[StreamId], now: Timestamp) -> Swept {
    let candidates = candidates(log, sessions).await.unwrap();
    remove(log, &SystemMint, sessions).await.unwrap();
    sweep(log, store, &candidates, now, &mut |_, _| {}).await.unwrap()
}

async fn has(log: &MemoryLog, bytes: &[u8]) -> bool {
    log.blobs().size(Hash::of(bytes)).await.unwrap().is_some()
}

fn none() -> Candidates {
    Candidates::new()
}

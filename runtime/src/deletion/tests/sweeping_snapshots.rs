//! Snapshots: in the store, which logs share, and beside a shared log, where they build upon each other.

use super::{delete, later, none, session, snapshotted, sweep};
use crate::travelling::{ensure, publish, store_of};
use retrace_events::EventLog;
use retrace_events::log::MemoryLog;
use retrace_events::mint::{Mint, SystemMint};
use retrace_sandbox::snapshot::{RestoreOptions, SnapshotStore, TreeId};
use std::path::PathBuf;

struct Host {
    dir: tempfile::TempDir,
}

impl Host {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("work")).unwrap();
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn store(&self, log: &MemoryLog) -> SnapshotStore {
        store_of(&self.path("state"), log).unwrap()
    }

    fn take(&self, log: &MemoryLog, contents: &str) -> TreeId {
        std::fs::write(self.path("work").join("file"), contents).unwrap();
        self.store(log).take(&self.path("work"), &Default::default(), None).unwrap().tree
    }
}

#[tokio::test]
async fn snapshots_go_when_their_hour_is_over_and_those_of_other_logs_stay() {
    let host = Host::new();
    let (log, other) = (MemoryLog::new(), MemoryLog::new());
    let (own, shared, kept) = (host.take(&log, "own"), host.take(&log, "shared"), host.take(&log, "kept"));
    assert_eq!(host.take(&other, "shared"), shared);
    let foreign = host.take(&other, "foreign");
    let gone = session(&log, "gone", 1, &[snapshotted(&own, None), snapshotted(&shared, Some(&own))]).await;
    session(&log, "kept", 2, &[snapshotted(&kept, None)]).await;
    session(&other, "theirs", 3, &[snapshotted(&shared, None), snapshotted(&foreign, None)]).await;
    let store = host.store(&log);
    let swept = delete(&log, Some(store.clone()), &[gone], SystemMint.now()).await;
    assert_eq!(swept.objects, 0, "all of them are young");
    assert!(store.has(&own).unwrap());
    let swept = sweep(&log, Some(store.clone()), &none(), later(), &mut |_, _| {}).await.unwrap();
    assert!(swept.objects > 0 && swept.object_bytes > 0, "{swept:?}");
    let has = |tree: &TreeId| store.has(tree).unwrap();
    assert!(!has(&own) && has(&shared) && has(&kept) && has(&foreign));
    for tree in [&shared, &kept, &foreign] {
        store.restore(tree, &host.path(&tree.to_string()), &RestoreOptions::default()).unwrap();
    }
}

#[tokio::test]
async fn what_a_kept_snapshot_builds_upon_stays_beside_the_log() {
    let host = Host::new();
    let log = MemoryLog::new();
    let trees: Vec<TreeId> = (0..4).map(|n| host.take(&log, &format!("{n}"))).collect();
    let alone = host.take(&log, "alone");
    let store = host.store(&log);
    for n in 0..4 {
        publish(&log, &store, &trees[n], n.checked_sub(1).map(|before| &trees[before])).await.unwrap();
    }
    publish(&log, &store, &alone, None).await.unwrap();
    // One session has all of it; another one began with the files as they were at its third snapshot.
    let mut all: Vec<_> = trees.iter().map(|tree| snapshotted(tree, None)).collect();
    all.push(snapshotted(&alone, None));
    let gone = session(&log, "gone", 1, &all).await;
    session(&log, "kept", 2, &[snapshotted(&trees[2], None)]).await;
    let swept = delete(&log, None, &[gone], SystemMint.now()).await;
    assert_eq!(swept.shared, 0, "all of them are young");
    let swept = sweep(&log, None, &none(), later(), &mut |_, _| {}).await.unwrap();
    assert_eq!(swept.shared, 2, "{swept:?}");
    let left = log.objects().unwrap().list_objects("").await.unwrap();
    assert_eq!(left.len(), 3, "{left:?}");
    // Another host can have it still.
    let elsewhere = store_of(&host.path("elsewhere"), &log).unwrap();
    ensure(&log, &elsewhere, &trees[2]).await.unwrap();
    elsewhere.restore(&trees[2], &host.path("restored"), &RestoreOptions::default()).unwrap();
    assert_eq!(std::fs::read_to_string(host.path("restored/file")).unwrap(), "2");
    assert!(ensure(&log, &elsewhere, &trees[3]).await.is_err());
}

#[tokio::test]
async fn the_snapshot_before_a_named_one_stays_too() {
    let host = Host::new();
    let log = MemoryLog::new();
    let (before, after) = (host.take(&log, "before"), host.take(&log, "after"));
    let store = host.store(&log);
    publish(&log, &store, &before, None).await.unwrap();
    // The event is there, and its object is on its way.
    session(&log, "kept", 1, &[snapshotted(&after, Some(&before))]).await;
    assert_eq!(sweep(&log, None, &none(), later(), &mut |_, _| {}).await.unwrap().shared, 0);
    publish(&log, &store, &after, Some(&before)).await.unwrap();
    ensure(&log, &store_of(&host.path("elsewhere"), &log).unwrap(), &after).await.unwrap();
}

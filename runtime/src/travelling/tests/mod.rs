//! Snapshots between hosts that share a log, and in files: all of a snapshot arrives, or nothing and a plain line.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod between_hosts;
mod damaged;
mod files;

use super::{LoggedTree, store_of};
use retrace_events::EventLog;
use retrace_events::log::MemoryLog;
use retrace_sandbox::snapshot::{RestoreOptions, SnapshotOptions, SnapshotStore, TreeId};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Two hosts that share a log, and a workspace on the first one.
struct Hosts {
    log: MemoryLog,
    dir: tempfile::TempDir,
}

impl Hosts {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["here", "there", "work"] {
            std::fs::create_dir(dir.path().join(folder)).unwrap();
        }
        Self { log: MemoryLog::new(), dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The store of a host.
    fn store(&self, host: &str) -> SnapshotStore {
        store_of(&self.path(host), &self.log as &dyn EventLog).unwrap()
    }

    /// Writes a file of the workspace, and takes a snapshot on the first host.
    fn take(&self, name: &str, contents: &[u8]) -> TreeId {
        let path = self.path("work").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, contents).unwrap();
        self.store("here").take(&self.path("work"), &SnapshotOptions::default(), None).unwrap().tree
    }

    /// Snapshots of a workspace that grows, each named with the one before it.
    fn chain(&self, length: usize) -> Vec<LoggedTree> {
        let mut chain: Vec<LoggedTree> = Vec::new();
        for n in 0..length {
            let tree = self.take(&format!("dir{n}/file"), noise(n as u64 + 1, 40_000).as_slice());
            chain.push(LoggedTree { tree, previous: chain.last().map(|last| last.tree) });
        }
        chain
    }

    /// The files of a snapshot, as a host gives them back.
    fn files(&self, host: &str, tree: &TreeId) -> BTreeMap<PathBuf, Vec<u8>> {
        let into = tempfile::tempdir_in(self.dir.path()).unwrap();
        let folder = into.path().join("restored");
        self.store(host).restore(tree, &folder, &RestoreOptions::default()).unwrap();
        files_in(&folder)
    }
}

fn files_in(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(at) = todo.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                todo.push(path);
            } else {
                files.insert(path.strip_prefix(folder).unwrap().to_owned(), std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// Bytes that do not compress, the same for the same seed.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..length).map(|_| next()).collect()
}

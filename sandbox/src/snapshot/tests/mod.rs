//! Tests of snapshots: real files, a real store, a real git.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod at_once;
mod bringing;
mod collecting;
mod forged_streams;
mod forging;
mod full_disks;
mod hostile;
mod ignoring;
mod killing;
mod larger;
mod model;
mod models;
mod operations;
mod owning;
mod parts;
mod properties;
mod replacing;
mod restoring;
mod streams;
mod taking;

use super::*;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A store and a workspace, in a folder that goes away.
struct Bench {
    dir: TempDir,
    store: SnapshotStore,
    options: SnapshotOptions,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        let store = SnapshotStore::open(&dir.path().join("store")).unwrap();
        Self { dir, store, options: SnapshotOptions::default() }
    }

    fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, path: &str, contents: impl AsRef<[u8]>) {
        let path = self.work().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    fn take(&self) -> Snapshot {
        self.store.take(&self.work(), &self.options, None).unwrap()
    }

    fn restore(&self, tree: &TreeId, name: &str) -> PathBuf {
        let into = self.path(name);
        self.store.restore(tree, &into, &RestoreOptions::default()).unwrap();
        into
    }

    /// What was left out, in a form to compare.
    fn left_out(&self) -> Vec<(String, WhyLeftOut)> {
        let items = self.take().left_out.items.into_iter();
        items.map(|item| (item.path.to_string_lossy().into_owned(), item.why)).collect()
    }

    fn database(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path("store/objects.db")).unwrap()
    }
}

/// One path, as another pair of eyes sees it: type and permission bits, and contents or target.
type Seen = (u32, Vec<u8>);

/// All that is in a folder, seen with the standard library alone. What must not be read is not in it, as in a snapshot.
fn survey(dir: &Path) -> BTreeMap<Vec<u8>, Seen> {
    let mut all = BTreeMap::new();
    let mut todo = vec![dir.to_path_buf()];
    while let Some(path) = todo.pop() {
        let Ok(meta) = path.symlink_metadata() else { continue };
        let contents = if meta.is_symlink() {
            Some(fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec())
        } else if meta.is_dir() {
            fs::read_dir(&path).ok().map(|listing| {
                todo.extend(listing.map(|entry| entry.unwrap().path()));
                Vec::new()
            })
        } else if meta.is_file() {
            fs::read(&path).ok()
        } else {
            None
        };
        let mode = if meta.is_symlink() { 0o120_000 } else { meta.mode() };
        let relative = path.strip_prefix(dir).unwrap().as_os_str().as_bytes().to_vec();
        all.extend(contents.map(|contents| (relative, (mode, contents))));
    }
    all
}

/// Compares two surveys and names the paths that differ.
fn assert_same(left: &BTreeMap<Vec<u8>, Seen>, right: &BTreeMap<Vec<u8>, Seen>, what: &str) {
    let differing = differing(left, right);
    assert!(
        differing.is_empty(),
        "{what}: {:?}",
        differing.iter().map(|path| String::from_utf8_lossy(path)).collect::<Vec<_>>()
    );
}

/// The paths that are not the same in both.
fn differing(left: &BTreeMap<Vec<u8>, Seen>, right: &BTreeMap<Vec<u8>, Seen>) -> Vec<Vec<u8>> {
    let all: std::collections::BTreeSet<_> = left.keys().chain(right.keys()).collect();
    all.into_iter().filter(|path| left.get(*path) != right.get(*path)).cloned().collect()
}

/// What is in a folder, in order.
fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Runs git with nothing of this machine's configuration.
fn git(dir: &Path, arguments: &[&str]) -> bool {
    let home = dir.parent().unwrap();
    let mut command = std::process::Command::new("git");
    command.current_dir(dir).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("HOME", home).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CEILING_DIRECTORIES", home);
    for (name, value) in [("NAME", "somebody"), ("EMAIL", "somebody@example.org"), ("DATE", "2026-01-02T03:04:05Z")] {
        command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
    }
    command.args(["-c", "safe.directory=*", "-c", "gc.auto=0", "-c", "init.defaultBranch=main"]).args(arguments);
    command.output().expect("git is there").status.success()
}

fn git_says(dir: &Path, arguments: &[&str]) -> String {
    let output = std::process::Command::new("git")
        .current_dir(dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", dir.parent().unwrap())
        .args(["-c", "safe.directory=*"])
        .args(arguments)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

//! What a snapshot of a workspace costs at 1,000, 20,000 and 50,000 files, the last with a gigabyte, beside what people
//! use today: `git add -A && git write-tree` with a git folder of its own, and `rsync -a` into a copy. And restoring
//! 20,000 files beside `git worktree add` and `cp -a`.
//!
//! `cargo bench -p retrace-sandbox --bench snapshot`, optionally with a folder to work in as an argument, and with one number
//! of files only (`SNAPSHOT_FILES=20000`). Every number is the median of several runs of the same machine and disk; the first snapshots are one run each, with warm caches.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use retrace_sandbox::snapshot::{BringOptions, RestoreOptions, SnapshotOptions, SnapshotStore, TreeId};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Files, and bytes in each.
const SIZES: [(usize, usize); 3] = [(1_000, 8_000), (20_000, 8_000), (50_000, 20_000)];
/// What is restored.
const RESTORED: usize = 20_000;
const RUNS: usize = 9;
const FILES_A_FOLDER: usize = 20;

struct Bench {
    dir: PathBuf,
    work: PathBuf,
    store: SnapshotStore,
    options: SnapshotOptions,
}

fn main() {
    let argument = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let base = argument.map_or_else(std::env::temp_dir, PathBuf::from);
    println!("| files | MB | what | first, ms | one file changed, ms | nothing changed, ms | on disk, MB |");
    println!("|---|---|---|---|---|---|---|");
    let only = std::env::var("SNAPSHOT_FILES").ok().and_then(|files| files.parse().ok());
    for (files, bytes) in SIZES.into_iter().filter(|(files, _)| only.is_none_or(|only: usize| only == *files)) {
        let dir = tempfile::tempdir_in(&base).unwrap();
        let bench = Bench::new(dir.path(), files, bytes);
        let tree = bench.ours(files, bytes);
        bench.git(files, bytes);
        bench.rsync(files, bytes);
        if files == RESTORED {
            bench.restored(tree);
        }
    }
}

impl Bench {
    fn new(dir: &Path, files: usize, bytes: usize) -> Self {
        let work = dir.join("work");
        for n in 0..files {
            let path = path_of(&work, n);
            if n % FILES_A_FOLDER == 0 {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
            }
            fs::write(path, text(n, bytes)).unwrap();
        }
        rustix::fs::sync();
        let store = SnapshotStore::open(&dir.join("store")).unwrap();
        Self { dir: dir.to_path_buf(), work, store, options: SnapshotOptions::default() }
    }

    fn ours(&self, files: usize, bytes: usize) -> TreeId {
        let begun = Instant::now();
        let mut last = self.store.take(&self.work, &self.options, None).unwrap();
        let first = ms(begun);
        let mut changed = Vec::new();
        for run in 0..RUNS {
            self.change(run, files);
            let begun = Instant::now();
            let next = self.store.take(&self.work, &self.options, Some(&last.tree)).unwrap();
            changed.push(ms(begun));
            assert_eq!(next.changed_files, 1);
            last = next;
        }
        let unchanged = timed(|| {
            let next = self.store.take(&self.work, &self.options, Some(&last.tree)).unwrap();
            assert_eq!((next.tree, next.new_bytes), (last.tree, 0));
        });
        row(files, bytes, "retrace", [first, median(changed), unchanged], &self.dir.join("store"));
        last.tree
    }

    fn git(&self, files: usize, bytes: usize) {
        let folder = self.dir.join("git");
        self.run_git(&folder, &["init", "-q"]);
        let snapshot = || {
            self.run_git(&folder, &["add", "-A"]);
            self.run_git(&folder, &["write-tree"]);
        };
        let begun = Instant::now();
        snapshot();
        let first = ms(begun);
        let changed = self.one_changed(files, snapshot);
        row(files, bytes, "git add -A && git write-tree", [first, changed, timed(snapshot)], &folder);
    }

    fn rsync(&self, files: usize, bytes: usize) {
        let (from, to) = (format!("{}/", self.work.display()), self.dir.join("copy"));
        if Command::new("rsync").arg("--version").output().is_err() {
            println!("| {files} | | rsync -a: not installed | | | | |");
            return;
        }
        let copy = || run(Command::new("rsync").args(["-a", "--delete", &from]).arg(&to));
        let begun = Instant::now();
        copy();
        let first = ms(begun);
        let changed = self.one_changed(files, copy);
        row(files, bytes, "rsync -a", [first, changed, timed(copy)], &to);
    }

    /// Restoring into a new folder, and the first snapshot there; going back and forth in place; and what others need.
    fn restored(&self, tree: TreeId) {
        let mut times = [const { Vec::new() }; 5];
        self.run_git(&self.dir.join("git"), &["commit", "-q", "-m", "all"]);
        for n in 0..3 {
            let into = self.dir.join(format!("restored{n}"));
            let begun = Instant::now();
            self.store.restore(&tree, &into, &RestoreOptions::default()).unwrap();
            times[0].push(ms(begun));
            let begun = Instant::now();
            assert_eq!(self.store.take(&into, &self.options, None).unwrap().tree, tree);
            times[1].push(ms(begun));
            fs::write(path_of(&into, n), "changed").unwrap();
            let begun = Instant::now();
            self.store.bring(&tree, &into, &self.options, BringOptions::default()).unwrap();
            times[2].push(ms(begun));
            fs::remove_dir_all(&into).unwrap();
            let into = into.to_str().unwrap();
            let begun = Instant::now();
            self.run_git(&self.dir.join("git"), &["worktree", "add", "-q", "--detach", into]);
            times[3].push(ms(begun));
            self.run_git(&self.dir.join("git"), &["worktree", "remove", "--force", into]);
            let begun = Instant::now();
            run(Command::new("cp").arg("-a").arg(&self.work).arg(into));
            times[4].push(ms(begun));
            fs::remove_dir_all(into).unwrap();
        }
        println!("\n| {RESTORED} files | ms |\n|---|---|");
        let names =
            ["restore", "first snapshot after restore", "bring back one file in place", "git worktree add", "cp -a"];
        for (name, times) in names.into_iter().zip(times) {
            println!("| {name} | {:.0} |", median(times));
        }
        println!("\n| files | MB | what | first, ms | one file changed, ms | nothing changed, ms | on disk, MB |");
        println!("|---|---|---|---|---|---|---|");
    }

    fn change(&self, run: usize, files: usize) {
        fs::write(path_of(&self.work, run * 7_919 % files), format!("run {run} {:?}", Instant::now())).unwrap();
    }

    fn one_changed(&self, files: usize, snapshot: impl Fn()) -> f64 {
        let times = (0..RUNS).map(|run| {
            self.change(run, files);
            let begun = Instant::now();
            snapshot();
            ms(begun)
        });
        median(times.collect())
    }

    fn run_git(&self, folder: &Path, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.env("HOME", &self.dir)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_DIR", folder)
            .env("GIT_WORK_TREE", &self.work);
        git.args(["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "gc.auto=0"]).args(arguments);
        run(&mut git);
    }
}

/// Where the file of this number stands: twenty in a folder, three levels of folders.
fn path_of(work: &Path, n: usize) -> PathBuf {
    let folder = n / FILES_A_FOLDER;
    work.join(format!("module{}/part{}/group{folder}/file{n}.rs", folder / 100, folder / 10))
}

/// Something that compresses as code does, different in every file.
fn text(n: usize, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 100);
    let mut state = n as u64 + 1;
    while text.len() < bytes {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (one, other) = (state >> 52, state >> 33 & 0xffff);
        writeln!(text, "    let value_{one} = compute(&self.field_{other:x}, index + {one})?; // step {}", state >> 60)
            .unwrap();
    }
    text.truncate(bytes);
    text
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn timed(work: impl Fn()) -> f64 {
    let times = (0..RUNS).map(|_| {
        let begun = Instant::now();
        work();
        ms(begun)
    });
    median(times.collect())
}

fn ms(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1_000.0
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn row(files: usize, bytes: usize, what: &str, [first, changed, unchanged]: [f64; 3], folder: &Path) {
    let output = Command::new("du").arg("-sk").arg(folder).output().unwrap();
    let kilobytes: f64 = String::from_utf8_lossy(&output.stdout).split_whitespace().next().unwrap().parse().unwrap();
    let megabytes = files * bytes / 1_000_000;
    println!(
        "| {files} | {megabytes} | {what} | {first:.0} | {changed:.1} | {unchanged:.1} | {:.0} |",
        kilobytes / 1_000.0
    );
}

//! What a snapshot of a workspace costs at 1,000, 20,000 and 50,000 files, the last with a gigabyte, beside what people
//! use today: `git add -A && git write-tree` with a git folder of its own, and `rsync -a` into a copy. And restoring
//! as many files beside `git worktree add` and `cp -a`.
//!
//! `cargo bench -p retrace-sandbox --bench snapshot`, optionally with a folder to work in as an argument, with one number
//! of files only (`SNAPSHOT_FILES=20000`), and without the snapshots of others (`SNAPSHOT_PART=restore`). Every number is
//! the median of several runs of the same machine and disk, restores each begun when nothing was left to be written to the
//! disk; the first snapshots are one run each, with warm caches. It needs about eight gigabytes.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use retrace_sandbox::snapshot::{BringOptions, RestoreOptions, SnapshotOptions, SnapshotStore, TreeId};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Files, and bytes in each.
const SIZES: [(usize, usize); 3] = [(1_000, 8_000), (20_000, 8_000), (50_000, 20_000)];
/// How often all is restored, of up to so many bytes; more than that once, for the room it takes.
const RESTORED: usize = 3;
const RESTORED_BYTES: usize = 200_000_000;
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
    let only = std::env::var("SNAPSHOT_FILES").ok().and_then(|files| files.parse().ok());
    let restores_only = std::env::var("SNAPSHOT_PART").is_ok_and(|part| part == "restore");
    let sizes = || SIZES.into_iter().filter(|(files, _)| only.is_none_or(|only: usize| only == *files));
    let mut restored = String::new();
    println!("| files | MB | what | first, ms | one file changed, ms | nothing changed, ms | on disk, MB |");
    println!("|---|---|---|---|---|---|---|");
    let mut dirs = Vec::new();
    for (files, bytes) in sizes() {
        let dir = tempfile::tempdir_in(&base).unwrap();
        let bench = Bench::new(dir.path(), files, bytes);
        let tree = bench.ours(files, bytes);
        if !restores_only {
            bench.git(files, bytes);
            bench.rsync(files, bytes);
        }
        restored += &bench.restored(tree, files, bytes);
        dirs.push(dir);
    }
    println!(
        "\n| files | MB | what | median, ms | quickest, ms | slowest, ms |\n|---|---|---|---|---|---|\n{restored}"
    );
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
    fn restored(&self, tree: TreeId, files: usize, bytes: usize) -> String {
        let git = self.dir.join("git-for-worktrees");
        self.run_git(&git, &["init", "-q"]);
        self.run_git(&git, &["add", "-A"]);
        self.run_git(&git, &["commit", "-q", "-m", "all"]);
        let mut times = [const { Vec::new() }; 5];
        // Nothing is removed before all is measured: for minutes afterwards ext4 looks through what was removed, file by file.
        for n in 0..if files * bytes > RESTORED_BYTES { 1 } else { RESTORED } {
            let place = |what: &str| self.dir.join(format!("{what}{n}"));
            let into = place("restored");
            times[0].push(once(|| {
                self.store.restore(&tree, &into, &RestoreOptions::default()).unwrap();
            }));
            times[1].push(once(|| assert_eq!(self.store.take(&into, &self.options, None).unwrap().tree, tree)));
            fs::write(path_of(&into, n), "changed").unwrap();
            times[2].push(once(|| {
                self.store.bring(&tree, &into, &self.options, BringOptions::default()).unwrap();
            }));
            let (worktree, copy) = (place("worktree"), place("copy"));
            let worktree = worktree.to_str().unwrap();
            times[3].push(once(|| self.run_git(&git, &["worktree", "add", "-q", "--detach", worktree])));
            times[4].push(once(|| run(Command::new("cp").arg("-a").arg(&self.work).arg(copy))));
        }
        let names =
            ["restore", "first snapshot after restore", "bring back one file in place", "git worktree add", "cp -a"];
        let megabytes = files * bytes / 1_000_000;
        let mut rows = String::new();
        for (name, mut times) in names.into_iter().zip(times) {
            let middle = median(times.clone());
            times.sort_by(f64::total_cmp);
            let (least, most) = (times[0], times[times.len() - 1]);
            writeln!(rows, "| {files} | {megabytes} | {name} | {middle:.0} | {least:.0} | {most:.0} |").unwrap();
        }
        rows
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

/// How long it takes once, in milliseconds, with an idle disk to begin with.
fn once(work: impl FnOnce()) -> f64 {
    rustix::fs::sync();
    let begun = Instant::now();
    work();
    ms(begun)
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

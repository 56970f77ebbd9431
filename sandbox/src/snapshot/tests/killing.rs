//! Killed in the middle: another process takes and restores snapshots until it is killed.

use super::{Bench, RestoreOptions, SnapshotOptions, SnapshotStore, survey};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Where the other process works; it is this test program, told so.
const PLACE: &str = "RETRACE_TEST_SNAPSHOT_PLACE";

/// Not a test by itself: what the other process does.
#[test]
fn the_other_process() {
    let Some(dir) = std::env::var_os(PLACE).map(PathBuf::from) else { return };
    let store = SnapshotStore::open(&dir.join("store")).unwrap();
    let work = dir.join("work");
    for round in 0_u32.. {
        for n in 0..30 {
            fs::create_dir_all(work.join(format!("d{n}"))).unwrap();
            let text = format!("{round} {n}").repeat(1 + (n as usize * 311) % 3_000);
            fs::write(work.join(format!("d{n}/f")), text).unwrap();
        }
        let taken = store.take(&work, &SnapshotOptions::default(), None).unwrap();
        // Not `println!`: the test program may keep that to itself.
        writeln!(std::io::stdout(), "\ntook {round} {}", taken.tree).unwrap();
        let _ = fs::rename(dir.join("restored"), dir.join("old"));
        let _ = fs::remove_dir_all(dir.join("old"));
        store.restore(&taken.tree, &dir.join("restored"), &RestoreOptions::default()).unwrap();
    }
}

fn start(bench: &Bench) -> Child {
    let name = "snapshot::tests::killing::the_other_process";
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(PLACE, bench.dir.path());
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Whatever was said to be taken is whole, wherever the process was when it died.
#[test]
fn what_was_said_to_be_taken_is_whole_after_a_kill() {
    let bench = Bench::new();
    let mut said = Vec::new();
    for kill in 0..12_usize {
        let mut child = start(&bench);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for _ in 0..=kill % 3 {
            let took = lines.by_ref().map(Result::unwrap).find(|line| line.starts_with("took ")).unwrap();
            said.push(took.rsplit(' ').next().unwrap().parse().unwrap());
        }
        // Somewhere in the round that follows; how far it gets is different every time, and of no importance.
        for _ in 0..kill * 3_000 {
            std::hint::black_box(blake3::hash(b"a little later"));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let restored = bench.path("restored");
        if restored.exists() {
            assert_eq!(survey(&restored).len(), 61, "whole or not at all");
        }
        let now = bench.take();
        assert_eq!(survey(&bench.restore(&now.tree, &format!("now{kill}"))), survey(&bench.work()));
    }
    for (n, tree) in said.iter().enumerate() {
        assert_eq!(survey(&bench.restore(tree, &format!("said{n}"))).len(), 61);
    }
    let leftovers = |bench: &Bench| {
        let names =
            fs::read_dir(bench.dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.contains(".partial-")).count()
    };
    let _ = fs::remove_dir_all(bench.path("restored"));
    bench.restore(&said[0], "restored");
    assert_eq!(leftovers(&bench), 0);
}

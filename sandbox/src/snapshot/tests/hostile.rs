//! A workspace that is being changed while it is looked at, by something that means harm.

use super::{Bench, BringOptions, SnapshotError, WhyLeftOut, git};
use rustix::fs::{CWD, Mode, OFlags, RenameFlags, mkdirat, openat, renameat_with};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Lets `harm` run again and again while `work` runs, and no longer, also when that panics.
fn meanwhile<T>(harm: impl Fn() + Sync, work: impl FnOnce() -> T) -> T {
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                harm();
            }
        });
        let _stop = Stop(&stop);
        work()
    })
}

fn swap(one: &Path, other: &Path) {
    let _ = renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE);
}

/// Every path that a store holds bytes of is one of the workspace: a word that stands only outside is never found.
fn assert_holds_no(bench: &Bench, word: &[u8]) {
    let database = bench.database();
    let mut query = database.prepare("SELECT data FROM objects WHERE compressed = 0").unwrap();
    let rows = query.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    for data in rows {
        assert!(!data.unwrap().windows(word.len()).any(|window| window == word));
    }
}

#[test]
fn folders_swapped_for_links_never_lead_out() {
    let bench = Bench::new();
    fs::create_dir_all(bench.path("outside/in")).unwrap();
    fs::write(bench.path("outside/in/file"), "HOST SECRET").unwrap();
    bench.write("dir/in/file", "mine");
    let link = bench.work().join("link");
    symlink(bench.path("outside"), &link).unwrap();
    meanwhile(
        || swap(&bench.work().join("dir"), &link),
        || {
            for n in 0..200 {
                let snapshot = bench.take();
                bench.restore(&snapshot.tree, &format!("r{n}"));
                fs::remove_dir_all(bench.path(&format!("r{n}"))).unwrap();
            }
        },
    );
    assert_holds_no(&bench, b"HOST SECRET");
}

#[test]
fn files_swapped_for_links_and_fifos_never_lead_out_nor_block() {
    let bench = Bench::new();
    fs::write(bench.path("outside"), "HOST SECRET").unwrap();
    bench.write("a", "mine");
    symlink(bench.path("outside"), bench.work().join("b")).unwrap();
    let fifo = bench.work().join("c");
    rustix::fs::mknodat(CWD, &fifo, rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let work = bench.work();
    meanwhile(
        || {
            swap(&work.join("a"), &work.join("b"));
            swap(&work.join("b"), &work.join("c"));
        },
        || (0..300).for_each(|_| drop(bench.take())),
    );
    assert_holds_no(&bench, b"HOST SECRET");
}

#[test]
fn bringing_a_folder_whose_parts_are_swapped_writes_nothing_outside() {
    let bench = Bench::new();
    fs::create_dir(bench.path("outside")).unwrap();
    bench.write("dir/file", "one");
    let one = bench.take().tree;
    bench.write("dir/file", "two");
    bench.write("dir/more", "two");
    let two = bench.take().tree;
    symlink(bench.path("outside"), bench.path("trap")).unwrap();
    let work = bench.work();
    meanwhile(
        || swap(&work.join("dir"), &bench.path("trap")),
        || {
            for n in 0..100 {
                // It may well fail; what counts is what it does not do.
                let to = if n % 2 == 0 { &one } else { &two };
                let _ =
                    bench.store.bring(to, &work, &bench.options, BringOptions { force: true, ..Default::default() });
            }
        },
    );
    assert_eq!(fs::read_dir(bench.path("outside")).unwrap().count(), 0);
}

/// The file is written over from its beginning to its end, again and again, with a number that grows: at every moment it
/// is some of one number, and then only the number before. Whatever is otherwise is a mixture, and has to be said to be.
#[test]
fn a_file_that_is_written_all_the_time_is_of_one_moment_or_said_to_be_changing() {
    const BLOCK: usize = 64 << 10;
    const BLOCKS: usize = 48;
    let bench = Bench::new();
    let path = bench.work().join("file");
    fs::write(&path, vec![0; BLOCK * BLOCKS]).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    let turn = std::sync::atomic::AtomicU8::new(1);
    meanwhile(
        || {
            use std::os::unix::fs::FileExt as _;
            let block = vec![turn.fetch_add(1, Ordering::Relaxed); BLOCK];
            (0..BLOCKS).for_each(|n| file.write_all_at(&block, (n * BLOCK) as u64).unwrap());
        },
        || {
            for _ in 0..30 {
                let snapshot = bench.take();
                let is_said = snapshot.left_out.items.iter().any(|item| item.why == WhyLeftOut::Changing);
                let bytes = bench.store.read(&snapshot.tree, Path::new("file"), 1 << 30).unwrap().unwrap();
                let steps =
                    bytes.windows(2).filter(|pair| pair[0] != pair[1]).map(|pair| pair[0].wrapping_sub(pair[1]));
                let steps: Vec<u8> = steps.collect();
                assert!(is_said || matches!(steps[..], [] | [1]), "{steps:?}");
            }
        },
    );
    // When it is over, the last word is what counts.
    let snapshot = bench.take();
    assert!(snapshot.left_out.items.is_empty());
    let read = bench.store.read(&snapshot.tree, Path::new("file"), 1 << 30).unwrap().unwrap();
    assert!(read == fs::read(&path).unwrap());
}

#[test]
fn a_file_that_grows_without_end_is_cut_off() {
    let mut bench = Bench::new();
    bench.options.max_file_bytes = 1 << 20;
    bench.write("log", "x");
    let path = bench.work().join("log");
    meanwhile(
        || {
            use std::io::Write as _;
            fs::File::options().append(true).open(&path).unwrap().write_all(&[b'x'; 100_000]).unwrap();
        },
        || {
            for _ in 0..30 {
                let snapshot = bench.take();
                let changes = bench.store.changes(None, &snapshot.tree).unwrap();
                assert!(changes.iter().filter_map(|change| change.after.as_ref()).all(|item| item.size <= 1 << 20));
            }
        },
    );
}

/// Deeper than any path that the system takes at once.
#[test]
fn a_tree_too_deep_to_be_named_is_cut_off_and_said() {
    let bench = Bench::new();
    bench.write("file", "x");
    let name = "d".repeat(250);
    let mut dir = openat(CWD, bench.work(), OFlags::RDONLY, Mode::empty()).unwrap();
    for _ in 0..30 {
        mkdirat(&dir, &name, Mode::RWXU).unwrap();
        dir = openat(&dir, &name, OFlags::RDONLY, Mode::empty()).unwrap();
    }
    let snapshot = bench.take();
    assert_eq!(snapshot.left_out.items.iter().map(|item| &item.why).collect::<Vec<_>>(), [&WhyLeftOut::PathTooLong]);
    let restored = bench.restore(&snapshot.tree, "again");
    assert_eq!(fs::read(restored.join("file")).unwrap(), b"x");
}

#[test]
fn thousands_of_folders_deep_is_no_matter() {
    let bench = Bench::new();
    let deep = vec!["d"; 2_000].join("/");
    bench.write(&format!("{deep}/file"), "x");
    let snapshot = bench.take();
    let restored = bench.restore(&snapshot.tree, "again");
    assert_eq!(fs::read(restored.join(&deep).join("file")).unwrap(), b"x");
    bench.write("empty/x", "");
    fs::remove_file(bench.work().join("empty/x")).unwrap();
    let empty = bench.store.take(&bench.work().join("empty"), &bench.options, None).unwrap().tree;
    bench.store.bring(&empty, &restored, &bench.options, BringOptions::default()).unwrap();
    assert_eq!(fs::read_dir(&restored).unwrap().count(), 0);
}

/// What git would run if it ran here: nothing of it is run.
#[test]
fn an_agents_git_configuration_executes_nothing() {
    let bench = Bench::new();
    let work = bench.work();
    assert!(git(&work, &["init", "-q"]));
    let bait = bench.path("executed");
    let program = bench.path("program");
    fs::write(&program, format!("#!/bin/sh\ntouch {}\n", bait.display())).unwrap();
    super::chmod(&program, 0o755);
    let run = program.display();
    let config = format!(
        "[core]\nfsmonitor={run}\nhooksPath={}\npager={run}\n[filter \"x\"]\nclean={run}\nsmudge={run}\nprocess={run}\n\
         [diff]\nexternal={run}\n[alias]\nstatus=!{run}\n",
        bench.dir.path().display()
    );
    fs::OpenOptions::new()
        .append(true)
        .open(work.join(".git/config"))
        .and_then(|mut file| {
            use std::io::Write as _;
            file.write_all(config.as_bytes())
        })
        .unwrap();
    bench.write(".gitattributes", "* filter=x diff=x\n");
    bench.write("file", "x");
    fs::create_dir_all(work.join(".git/hooks")).unwrap();
    for hook in ["post-checkout", "post-index-change", "pre-commit", "reference-transaction"] {
        fs::copy(&program, work.join(".git/hooks").join(hook)).unwrap();
    }
    let first = bench.take();
    bench.write("file", "y");
    let second = bench.take();
    bench.store.changes(Some(&first.tree), &second.tree).unwrap();
    bench.store.bring(&first.tree, &work, &bench.options, BringOptions::default()).unwrap();
    bench.restore(&first.tree, "again");
    assert!(!bait.exists());
    // The bait is good: git itself takes it.
    git(&work, &["add", "-A"]);
    assert!(bait.exists());
}

#[test]
fn hostile_rules_and_indexes_stop_nothing() {
    let bench = Bench::new();
    for (n, text) in
        ["[", "\\", "{a,{b,{c", "***/**/***", "!", "a\0b", &"(".repeat(10_000), &"**/".repeat(5_000), "[!-a"]
            .iter()
            .enumerate()
    {
        bench.write(&format!("{n}/.gitignore"), text);
        bench.write(&format!("{n}/file"), "x");
    }
    bench.write("binary/.gitignore", [0xff, 0xfe]);
    bench.write("large/.gitignore", "x\n".repeat(1 << 20));
    bench.write("repo/.gitignore", "*.o\n");
    bench.write("repo/x.o", "");
    fs::create_dir(bench.work().join("repo/.git")).unwrap();
    fs::write(bench.work().join("repo/.git/index"), b"DIRC\0\0\0\x02\xff\xff\xff\xff").unwrap();
    let mut left_out = bench.left_out();
    left_out.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [
        ("binary/.gitignore", WhyLeftOut::RulesUnread),
        ("large/.gitignore", WhyLeftOut::RulesUnread),
        ("repo/.git/index", WhyLeftOut::IndexUnread),
        ("repo/x.o", WhyLeftOut::Ignored),
    ];
    let left_out: Vec<_> = left_out.iter().map(|(path, why)| (path.as_str(), why.clone())).collect();
    assert_eq!(left_out, expected);
    // All that is stored, though its rules are not obeyed.
    assert!(bench.store.read(&bench.take().tree, Path::new("large/.gitignore"), 1 << 30).unwrap().is_some());
}

#[test]
fn a_mount_in_the_workspace_is_not_entered() {
    if !super::is_root() {
        return;
    }
    let bench = Bench::new();
    bench.write("file", "x");
    let mounted = bench.work().join("mounted");
    fs::create_dir(&mounted).unwrap();
    let mount = |program: &str, arguments: &[&str]| {
        let done = std::process::Command::new(program).args(arguments).arg(&mounted).output();
        done.is_ok_and(|output| output.status.success())
    };
    if !mount("mount", &["-t", "tmpfs", "tmpfs"]) {
        return;
    }
    fs::write(mounted.join("elsewhere"), "x").unwrap();
    let left_out = bench.left_out();
    let tree = bench.take().tree;
    let brought = bench.store.bring(&tree, &bench.work(), &bench.options, BringOptions::default());
    let is_untouched = mounted.join("elsewhere").exists();
    assert!(mount("umount", &["-l"]));
    assert_eq!(left_out, [("mounted".to_owned(), WhyLeftOut::Mounted)]);
    assert!(is_untouched && brought.is_ok());
}

#[test]
fn a_workspace_that_is_no_folder_is_an_error() {
    let bench = Bench::new();
    bench.write("file", "x");
    for path in [bench.work().join("file"), bench.path("nowhere")] {
        let error = bench.store.take(&path, &bench.options, None).unwrap_err();
        assert!(matches!(error, SnapshotError::Io { action: "open the folder", .. }), "{error}");
    }
}

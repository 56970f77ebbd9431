//! What a snapshot holds, what it leaves out, and what it costs.

use super::{Bench, WhyLeftOut, chmod, git, git_says, is_root, survey};
use crate::snapshot::{BringOptions, ChangeKind, Ignored, SnapshotError};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

#[test]
fn what_did_not_change_is_neither_read_nor_written_again() {
    let bench = Bench::new();
    for n in 0..200 {
        bench.write(&format!("d{}/f{n}", n % 20), format!("contents {n}"));
    }
    // Long ago, as most files are.
    let first = bench.take();
    assert_eq!((first.files, first.changed_files), (200, 200));
    assert!(first.new_bytes > 0);
    bench.write("d3/f3", "other contents");
    let second = bench.store.take(&bench.work(), &bench.options, Some(&first.tree)).unwrap();
    // The file, its folder, the root folder, the snapshot.
    let count = |bench: &Bench| bench.database().query_row("SELECT count(*) FROM objects", [], |row| row.get(0));
    let objects: i64 = count(&bench).unwrap();
    assert_eq!((second.changed_files, objects), (1, 200 + 20 + 1 + 1 + 4));
    let third = bench.store.take(&bench.work(), &bench.options, Some(&second.tree)).unwrap();
    assert_eq!((third.tree, third.changed_files, third.new_bytes), (second.tree, 0, 0));
    assert_eq!(count(&bench).unwrap(), objects);
}

#[test]
fn a_change_of_the_same_length_and_time_is_seen() {
    let bench = Bench::new();
    bench.write("file", "one");
    let path = bench.work().join("file");
    let modified = path.metadata().unwrap().modified().unwrap();
    let mut trees = std::collections::BTreeSet::new();
    for contents in ["one", "two", "six", "ten"] {
        fs::write(&path, contents).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        let snapshot = bench.take();
        assert_eq!(bench.store.read(&snapshot.tree, Path::new("file"), 10).unwrap().unwrap(), contents.as_bytes());
        trees.insert(snapshot.tree);
    }
    assert_eq!(trees.len(), 4);
}

/// Also when the file was the same for so long that its stamp alone was relied upon.
#[test]
fn a_disguised_change_of_a_file_that_was_relied_upon_is_seen() {
    let bench = Bench::new();
    bench.write("file", "one");
    let path = bench.work().join("file");
    let modified = path.metadata().unwrap().modified().unwrap();
    let is_relied_upon = || {
        bench.take();
        let sql = "SELECT length(stamps) > 0 FROM seen";
        bench.database().query_row(sql, [], |row| row.get::<_, bool>(0)).unwrap()
    };
    while !is_relied_upon() {
        std::thread::yield_now();
    }
    fs::write(&path, "two").unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    assert_eq!(bench.store.read(&bench.take().tree, Path::new("file"), 10).unwrap().unwrap(), b"two");
}

/// The kernel's clock for files ticks every few milliseconds: many changes fall into one tick.
#[test]
fn changes_within_one_tick_of_the_clock_are_seen() {
    let bench = Bench::new();
    for n in 0_u8..100 {
        fs::write(bench.work().join("file"), [n]).unwrap();
        let snapshot = bench.take();
        assert_eq!(bench.store.read(&snapshot.tree, Path::new("file"), 10).unwrap().unwrap(), [n]);
    }
}

#[test]
fn links_are_kept_as_they_are_and_never_followed() {
    let bench = Bench::new();
    fs::create_dir(bench.path("outside")).unwrap();
    fs::write(bench.path("outside/secret"), "host").unwrap();
    symlink(bench.path("outside"), bench.work().join("folder")).unwrap();
    symlink("../outside/secret", bench.work().join("file")).unwrap();
    symlink("nowhere", bench.work().join("dangling")).unwrap();
    let snapshot = bench.take();
    assert_eq!(snapshot.files, 3);
    assert_eq!(bench.store.read(&snapshot.tree, Path::new("file"), 100).unwrap().unwrap(), b"../outside/secret");
    assert!(bench.store.read(&snapshot.tree, Path::new("folder/secret"), 100).unwrap().is_none());
    assert_eq!(survey(&bench.work()), survey(&bench.restore(&snapshot.tree, "again")));
}

#[test]
fn what_git_ignores_is_left_out_and_what_it_tracks_is_not() {
    let bench = Bench::new();
    for (path, contents) in [
        (".gitignore", "*.log\nbuild/\n!keep.log\n"),
        ("a.log", ""),
        ("keep.log", ""),
        ("tracked.log", "tracked"),
        ("build/out", ""),
        ("build/tracked/x", ""),
        ("sub/.gitignore", "/here\n"),
        ("sub/here", ""),
        ("sub/deep/here", ""),
        ("sub/deep/b.log", ""),
    ] {
        bench.write(path, contents);
    }
    assert!(git(&bench.work(), &["init", "-q"]));
    fs::write(bench.work().join(".git/info/exclude"), "/excluded\n").unwrap();
    bench.write("excluded", "");
    assert!(git(&bench.work(), &["add", "-f", "tracked.log", "build/tracked/x"]));
    let mut left_out = bench.left_out();
    left_out.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = ["a.log", "build/out", "excluded", "sub/deep/b.log", "sub/here"];
    assert_eq!(left_out, expected.map(|path| (path.to_owned(), WhyLeftOut::Ignored)));
    // Git's own opinion is the same.
    let others = git_says(&bench.work(), &["ls-files", "--others", "--ignored", "--exclude-standard"]);
    assert_eq!(others.lines().collect::<Vec<_>>(), expected);
    let restored = bench.restore(&bench.take().tree, "again");
    assert_eq!(git_says(&restored, &["status", "--porcelain"]), git_says(&bench.work(), &["status", "--porcelain"]));
}

#[test]
fn ignored_files_are_put_in_when_asked_for_as_far_as_they_fit() {
    let mut bench = Bench::new();
    bench.write(".gitignore", "out/\n");
    for (name, size) in [("a", 600), ("b", 600), ("c", 300), ("huge", 5_000)] {
        bench.write(&format!("out/{name}"), vec![0; size]);
    }
    assert_eq!(bench.left_out(), [("out".to_owned(), WhyLeftOut::Ignored)]);
    bench.options.ignored = Ignored::Include { max_file_bytes: 1_000, max_total_bytes: 1_000 };
    assert_eq!(
        bench.left_out(),
        [
            ("out/b".to_owned(), WhyLeftOut::IgnoredBudget),
            ("out/huge".to_owned(), WhyLeftOut::TooLarge { bytes: 5_000 })
        ]
    );
}

#[test]
fn secrets_are_left_out_unless_git_tracks_them() {
    let bench = Bench::new();
    for path in [".env", "deep/.env.local", ".env.example", "id_ed25519", "server.pem", "test/fixture.pem", "key"] {
        bench.write(path, "x");
    }
    assert!(git(&bench.work(), &["init", "-q"]) && git(&bench.work(), &["add", "test/fixture.pem"]));
    let mut paths: Vec<String> = bench.left_out().into_iter().map(|(path, _)| path).collect();
    paths.sort();
    assert_eq!(paths, [".env", "deep/.env.local", "id_ed25519", "server.pem"]);
    let kept = bench
        .database()
        .query_row("SELECT count(*) FROM objects WHERE kind = 1 AND data = X'78'", [], |row| row.get(0));
    assert_eq!(kept, Ok(1), "one piece for all the files that hold an x");
}

#[test]
fn special_files_and_large_ones_are_left_out_and_said() {
    let mut bench = Bench::new();
    bench.options.max_file_bytes = 1 << 20;
    let fifo = bench.work().join("fifo");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(bench.work().join("socket")).unwrap();
    // A terabyte of nothing.
    fs::File::create(bench.work().join("sparse")).unwrap().set_len(1 << 40).unwrap();
    bench.write("small", "x");
    let expected = [
        ("fifo".to_owned(), WhyLeftOut::Special),
        ("socket".to_owned(), WhyLeftOut::Special),
        ("sparse".to_owned(), WhyLeftOut::TooLarge { bytes: 1 << 40 }),
    ];
    assert_eq!(bench.left_out(), expected);
    assert_eq!(bench.take().files, 1);
}

#[test]
fn what_must_not_be_read_is_left_out_and_said() {
    let bench = Bench::new();
    bench.write("closed", "x");
    bench.write("shut/inner", "x");
    chmod(&bench.work().join("closed"), 0);
    chmod(&bench.work().join("shut"), 0);
    let expected = if is_root() { Vec::new() } else { vec!["shut", "closed"] };
    let left_out = bench.left_out();
    assert_eq!(left_out.iter().map(|(path, _)| path).collect::<Vec<_>>(), expected);
    assert!(left_out.iter().all(|(_, why)| *why == WhyLeftOut::Unreadable));
    assert_eq!(survey(&bench.work()), survey(&bench.restore(&bench.take().tree, "again")));
    for dir in ["work", "again"] {
        let _ = fs::set_permissions(bench.path(dir).join("shut"), std::os::unix::fs::PermissionsExt::from_mode(0o700));
    }
}

#[test]
fn a_repository_comes_back_with_branches_head_index_and_commits() {
    let bench = Bench::new();
    let work = bench.work();
    bench.write("file", "one");
    for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "one"], &["checkout", "-qb", "other"]] {
        assert!(git(&work, arguments));
    }
    bench.write("file", "two");
    assert!(git(&work, &["commit", "-qam", "two"]));
    bench.write("staged", "x");
    assert!(git(&work, &["add", "staged"]));
    let snapshot = bench.take();
    let state = snapshot.git_state.clone().unwrap();
    let (log, status) =
        (git_says(&work, &["log", "--all", "--oneline"]), git_says(&work, &["status", "--porcelain", "-b"]));
    bench.write("untracked", "no change to the repository");
    assert_eq!(bench.take().git_state, Some(state.clone()));
    assert!(git(&work, &["checkout", "-qf", "main"]) && git(&work, &["branch", "-D", "other"]));
    assert!(git(&work, &["reflog", "expire", "--expire=now", "--all"]) && git(&work, &["gc", "-q", "--prune=now"]));
    assert_ne!(bench.take().git_state, Some(state));
    let restored = bench.restore(&snapshot.tree, "again");
    assert_eq!(git_says(&restored, &["log", "--all", "--oneline"]), log);
    assert_eq!(git_says(&restored, &["status", "--porcelain", "-b"]), status);
    assert!(git(&restored, &["fsck", "--strict"]));
    bench.store.bring(&snapshot.tree, &work, &bench.options, BringOptions::default()).unwrap();
    assert_eq!(git_says(&work, &["log", "--all", "--oneline"]), log);
}

/// A copy of such a `.git` would change the original's branches and index.
#[test]
fn a_git_file_that_leads_out_of_the_workspace_is_left_out() {
    let bench = Bench::new();
    for (path, led) in [("one", "/elsewhere/.git"), ("two", "../../outside"), ("three", "../real")] {
        bench.write(&format!("{path}/.git"), format!("gitdir: {led}\n"));
    }
    symlink("/elsewhere/.git", bench.work().join(".git")).unwrap();
    let mut paths: Vec<_> = bench.left_out();
    paths.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(paths, [".git", "one/.git", "two/.git"].map(|path| (path.to_owned(), WhyLeftOut::GitElsewhere)));
}

#[test]
fn changes_are_named_with_their_kind() {
    let bench = Bench::new();
    for path in ["gone", "same", "mode", "text", "kind"] {
        bench.write(path, "x");
    }
    let before = bench.take();
    fs::remove_file(bench.work().join("gone")).unwrap();
    fs::remove_file(bench.work().join("kind")).unwrap();
    fs::create_dir(bench.work().join("kind")).unwrap();
    chmod(&bench.work().join("mode"), 0o755);
    bench.write("text", "y");
    bench.write("new/file", "x");
    let after = bench.take();
    let changes = bench.store.changes(Some(&before.tree), &after.tree).unwrap();
    let named: Vec<_> = changes.iter().map(|change| (change.path.to_str().unwrap(), change.kind())).collect();
    let expected = [
        ("gone", ChangeKind::Deleted),
        ("kind", ChangeKind::Replaced),
        ("mode", ChangeKind::Mode),
        ("new", ChangeKind::Added),
        ("new/file", ChangeKind::Added),
        ("text", ChangeKind::Modified),
    ];
    assert_eq!(named, expected);
}

#[test]
fn limits_are_errors_that_say_what_to_do() {
    let mut bench = Bench::new();
    for n in 0..20 {
        bench.write(&format!("f{n}"), [0; 100]);
    }
    bench.options.max_entries = 19;
    let error = bench.store.take(&bench.work(), &bench.options, None).unwrap_err();
    assert!(
        error.to_string().contains("more than 19 files and folders") && error.to_string().contains("hint:"),
        "{error}"
    );
    bench.options = crate::snapshot::SnapshotOptions { max_total_bytes: 1_999, ..Default::default() };
    let error = bench.store.take(&bench.work(), &bench.options, None).unwrap_err();
    assert!(matches!(error, SnapshotError::TooLarge { limit: 1_999, .. }), "{error}");
}

#[test]
fn a_store_inside_of_the_workspace_is_refused() {
    let bench = Bench::new();
    let error = bench.store.take(bench.dir.path(), &bench.options, None).unwrap_err();
    assert!(matches!(error, SnapshotError::Inside { .. }), "{error}");
}

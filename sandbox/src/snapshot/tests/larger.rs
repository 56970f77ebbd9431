//! Large files, many files, repositories in repositories, and what is remembered.

use super::{Bench, BringOptions, ChangeKind, SnapshotError, WhyLeftOut, git, survey};
use crate::snapshot::RestoreOptions;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

const PIECE: usize = 1 << 20;

fn noise(bytes: usize) -> Vec<u8> {
    (0..bytes as u32).step_by(32).flat_map(|n| *blake3::hash(&n.to_le_bytes()).as_bytes()).take(bytes).collect()
}

#[test]
fn files_of_every_length_around_a_piece_come_back() {
    let bench = Bench::new();
    let bytes = noise(3 * PIECE + 1);
    let lengths =
        [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE - 1, 2 * PIECE, 2 * PIECE + 1, 3 * PIECE, 3 * PIECE + 1];
    for length in lengths {
        bench.write(&format!("f{length}"), &bytes[..length]);
    }
    let tree = bench.take().tree;
    for length in lengths {
        let read = bench.store.read(&tree, Path::new(&format!("f{length}")), u64::MAX).unwrap().unwrap();
        assert!(read == bytes[..length], "{length}");
    }
    assert_eq!(survey(&bench.restore(&tree, "again")), survey(&bench.work()));
}

/// A log that grows, a database that is changed in the middle: what is new is stored, and no more.
#[test]
fn a_large_file_costs_what_changed_of_it() {
    let bench = Bench::new();
    let mut bytes = noise(8 * PIECE);
    bench.write("large", &bytes);
    let first = bench.take().new_bytes;
    assert!(first > 8 * PIECE as u64);
    bytes.extend(b"one more line");
    bench.write("large", &bytes);
    assert!(bench.take().new_bytes < 2_000);
    bytes[3 * PIECE + 5] ^= 1;
    bench.write("large", &bytes);
    let changed = bench.take().new_bytes;
    assert!((PIECE as u64..PIECE as u64 + 3_000).contains(&changed), "{changed}");
    bench.write("copy of it", &bytes);
    assert!(bench.take().new_bytes < 1_000);
}

#[test]
fn the_list_of_what_is_left_out_is_bounded_and_its_count_is_not() {
    let bench = Bench::new();
    bench.write(".gitignore", "*.o\n");
    for n in 0..1_200 {
        bench.write(&format!("{n}.o"), "");
    }
    let left_out = bench.take().left_out;
    assert_eq!((left_out.items.len(), left_out.total), (1_000, 1_200));
}

#[test]
fn a_folder_with_thousands_of_files_comes_back() {
    let bench = Bench::new();
    for n in 0..3_000 {
        bench.write(&format!("many/{n}"), n.to_string());
    }
    let first = bench.take();
    bench.write("many/1500", "changed");
    fs::remove_file(bench.work().join("many/7")).unwrap();
    let second = bench.store.take(&bench.work(), &bench.options, Some(&first.tree)).unwrap();
    assert_eq!((second.files, second.changed_files), (2_999, 2));
    assert_eq!(survey(&bench.restore(&second.tree, "again")), survey(&bench.work()));
    let brought = bench.store.bring(&first.tree, &bench.work(), &bench.options, BringOptions::default()).unwrap();
    assert_eq!((brought.changed, brought.after, brought.before), (2, first.tree, second.tree));
}

/// In a repository of its own the outer one's rules do not count, and its own index does.
#[test]
fn a_repository_in_a_repository_has_its_own_rules() {
    let bench = Bench::new();
    let inner = bench.work().join("vendor/lib");
    fs::create_dir_all(&inner).unwrap();
    assert!(git(&bench.work(), &["init", "-q"]) && git(&inner, &["init", "-q"]));
    bench.write(".gitignore", "*.log\n*.o\n");
    bench.write("vendor/lib/.gitignore", "*.o\n");
    for path in ["a.log", "vendor/a.log", "vendor/lib/a.log", "vendor/lib/a.o", "vendor/lib/kept.o"] {
        bench.write(path, "x");
    }
    assert!(git(&inner, &["add", "-f", "kept.o"]));
    let mut paths: Vec<_> = bench.left_out().into_iter().map(|(path, _)| path).collect();
    paths.sort();
    assert_eq!(paths, ["a.log", "vendor/a.log", "vendor/lib/a.o"]);
}

/// A submodule's `.git` is a file that leads into the outer repository's: copied together they fit.
#[test]
fn a_submodule_comes_back_working() {
    let bench = Bench::new();
    let origin = bench.path("origin");
    fs::create_dir(&origin).unwrap();
    fs::write(origin.join("file"), "x").unwrap();
    for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "x"]] {
        assert!(git(&origin, arguments));
    }
    let work = bench.work();
    assert!(git(&work, &["init", "-q"]));
    let url = origin.to_str().unwrap();
    assert!(git(&work, &["-c", "protocol.file.allow=always", "submodule", "-q", "add", url, "sub"]));
    bench.write(".gitignore", "sub\n");
    let snapshot = bench.take();
    assert_eq!(snapshot.left_out.total, 0, "{:?}", snapshot.left_out);
    let restored = bench.restore(&snapshot.tree, "again");
    assert!(git(&restored.join("sub"), &["status"]) && git(&restored, &["submodule", "status"]));
    // Cloned with a path to objects elsewhere: said, since they are not part of it.
    fs::write(work.join(".git/modules/sub/objects/info/alternates"), "/elsewhere/objects\n").unwrap();
    let left_out = bench.left_out();
    assert_eq!(left_out[0], (".git/modules/sub/objects/info/alternates".to_owned(), WhyLeftOut::ObjectsElsewhere));
}

#[test]
fn a_workspace_is_the_same_through_a_link() {
    let bench = Bench::new();
    bench.write("file", "x");
    std::os::unix::fs::symlink("work", bench.path("link")).unwrap();
    let tree = bench.take().tree;
    assert_eq!(bench.store.take(&bench.path("link"), &bench.options, None).unwrap().tree, tree);
    let workspaces: i64 = bench.database().query_row("SELECT count(*) FROM workspaces", [], |row| row.get(0)).unwrap();
    assert_eq!(workspaces, 1);
}

/// What is remembered can be lost, cut or be of another workspace in the same place: the snapshot is right all the same.
#[test]
fn what_is_remembered_is_never_needed() {
    let bench = Bench::new();
    for n in 0..50 {
        bench.write(&format!("d{}/f{n}", n % 5), n.to_string());
    }
    let tree = bench.take().tree;
    for sql in [
        "UPDATE seen SET stamps = coalesce(substr(stamps, 1, 50), X'')",
        "UPDATE seen SET stamps = X''",
        "DELETE FROM seen",
        "DELETE FROM workspaces",
    ] {
        bench.database().execute(sql, []).unwrap();
        assert_eq!(bench.take().tree, tree, "{sql}");
    }
    // Another workspace at the same place, with files of the same names and lengths.
    fs::rename(bench.work(), bench.path("moved")).unwrap();
    for n in 0..50 {
        bench.write(&format!("d{}/f{n}", n % 5), "?".repeat(n.to_string().len()));
    }
    let other = bench.take();
    assert_eq!(survey(&bench.restore(&other.tree, "again")), survey(&bench.work()));
}

/// A restored folder is known already, and a change right afterwards is still seen.
#[test]
fn what_was_restored_is_remembered_and_a_change_is_seen() {
    let bench = Bench::new();
    for n in 0..50 {
        bench.write(&format!("d{}/f{n}", n % 5), n.to_string());
    }
    let tree = bench.take().tree;
    let restored = bench.restore(&tree, "again");
    let sql = "SELECT count(*) FROM seen JOIN workspaces ON number = workspace WHERE path = ?1";
    let rows: i64 = bench
        .database()
        .query_row(sql, [restored.canonicalize().unwrap().as_os_str().as_bytes()], |row| row.get(0))
        .unwrap();
    assert_eq!(rows, 6);
    fs::write(restored.join("d3/f8"), "9").unwrap();
    let changed = bench.store.take(&restored, &bench.options, Some(&tree)).unwrap();
    assert_eq!(changed.changed_files, 1);
    fs::write(restored.join("d3/f8"), "8").unwrap();
    assert_eq!(bench.store.take(&restored, &bench.options, None).unwrap().tree, tree);
}

#[test]
fn paths_of_a_snapshot_are_read() {
    let bench = Bench::new();
    bench.write("a/b/file", "contents");
    let tree = bench.take().tree;
    let read = |path: &str, max| bench.store.read(&tree, Path::new(path), max);
    for path in ["a/b/file", "./a//b/./file", "/a/b/file"] {
        assert_eq!(read(path, 8).unwrap().as_deref(), Some(&b"contents"[..]), "{path}");
    }
    for path in ["a/b/none", "a/b/file/more", "a/../a/b/file", "none/x"] {
        assert_eq!(read(path, 8).unwrap(), None, "{path}");
    }
    for (path, max, expected) in
        [("a/b", 8, "is a folder"), ("", 8, "is a folder"), ("a/b/file", 7, "has 8 bytes, more than the 7")]
    {
        let error = read(path, max).unwrap_err();
        assert!(matches!(&error, SnapshotError::NotReadable { reason, .. } if reason.contains(expected)), "{error}");
    }
}

#[test]
fn all_of_a_snapshot_can_be_listed() {
    let bench = Bench::new();
    bench.write("a/file", "1234");
    std::os::unix::fs::symlink("a", bench.work().join("link")).unwrap();
    let tree = bench.take().tree;
    let all = bench.store.changes(None, &tree).unwrap();
    let named: Vec<_> = all
        .iter()
        .map(|change| (change.path.to_str().unwrap(), change.kind(), change.after.as_ref().map(|item| item.size)))
        .collect();
    let added = |path, size| (path, ChangeKind::Added, Some(size));
    assert_eq!(named, [added(".", 0), added("a", 0), added("a/file", 4), added("link", 1)]);
    assert!(bench.store.changes(Some(&tree), &tree).unwrap().is_empty());
    let unknown = "00".repeat(32).parse().unwrap();
    let error = bench.store.changes(Some(&unknown), &tree).unwrap_err();
    assert!(error.to_string().starts_with(&format!("snapshot {unknown} lacks snapshot of `.`")), "{error}");
}

/// Restoring and removing at once: a restore never finds that half of its snapshot has gone.
#[test]
fn nothing_is_removed_under_a_restore() {
    let bench = Bench::new();
    for n in 0..200 {
        bench.write(&format!("d{}/f{n}", n % 20), n.to_string());
    }
    let tree = bench.take().tree;
    let expected = survey(&bench.work());
    let restored = std::thread::scope(|scope| {
        let restoring = scope.spawn(|| bench.store.restore(&tree, &bench.path("again"), &RestoreOptions::default()));
        let removing = scope.spawn(|| bench.store.collect(&[], std::time::Duration::ZERO));
        assert!(removing.join().unwrap().unwrap().objects > 200);
        restoring.join().unwrap()
    });
    match restored {
        Ok(restored) => assert_eq!(survey(&restored.folder), expected),
        Err(error) => {
            assert!(matches!(error, SnapshotError::Missing { what: "snapshot", .. }), "{error}");
            assert!(!bench.path("again").exists());
        }
    }
}

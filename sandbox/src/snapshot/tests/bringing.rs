//! Bringing a folder to a snapshot: nothing is lost that nobody asked to lose.

use super::{Bench, BringOptions, SnapshotError, survey};
use std::fs;
use std::os::unix::fs::MetadataExt as _;

#[test]
fn a_folder_changed_by_hand_is_shown_and_not_touched() {
    let bench = Bench::new();
    bench.write("file", "one");
    let one = bench.take().tree;
    bench.write("file", "two");
    let two = bench.take().tree;
    bench.write("file", "by hand");
    bench.write("note", "by hand");
    let before = survey(&bench.work());
    let how = BringOptions { expected: Some(two), force: false };
    let error = bench.store.bring(&one, &bench.work(), &bench.options, how).unwrap_err();
    assert!(error.to_string().contains("was changed since: \"file\", \"note\"\nhint:"), "{error}");
    assert_eq!(survey(&bench.work()), before);
    let SnapshotError::Changed { now, more: 0, .. } = error else { panic!("{error}") };
    let brought = bench.store.bring(&one, &bench.work(), &bench.options, BringOptions { force: true, ..how }).unwrap();
    assert_eq!((brought.before, brought.after), (now, one));
    assert_eq!(survey(&bench.work()).len(), 2);
    // What was done by hand is in the store.
    assert_eq!(survey(&bench.restore(&now, "again")), before);
}

#[test]
fn only_what_differs_is_touched() {
    let bench = Bench::new();
    for path in ["same", "dir/same", "dir/other"] {
        bench.write(path, "x");
    }
    let one = bench.take().tree;
    bench.write("dir/other", "y");
    let inode = |path: &str| bench.work().join(path).metadata().unwrap().ino();
    let before = ["same", "dir", "dir/same"].map(inode);
    let brought = bench.store.bring(&one, &bench.work(), &bench.options, BringOptions::default()).unwrap();
    assert_eq!((brought.changed, brought.after), (1, one));
    assert_eq!(["same", "dir", "dir/same"].map(inode), before);
}

#[test]
fn what_snapshots_leave_out_survives() {
    let bench = Bench::new();
    bench.write("file", "one");
    let one = bench.take().tree;
    bench.write(".gitignore", "cache/\n*.o\n");
    bench.write("dir/cache/big", "ignored");
    bench.write("dir/file", "x");
    bench.write("x.o", "ignored");
    bench.write(".env", "KEY=secret");
    let brought = bench.store.bring(&one, &bench.work(), &bench.options, BringOptions::default()).unwrap();
    let left: Vec<_> = survey(&bench.work()).into_keys().map(|path| String::from_utf8(path).unwrap()).collect();
    assert_eq!(left, ["", ".env", "dir", "dir/cache", "dir/cache/big", "file", "x.o"]);
    assert!(brought.put_aside.is_empty());
    assert_eq!(fs::read(bench.work().join(".env")).unwrap(), b"KEY=secret");
}

/// The snapshot wants a name under which there is something now that no snapshot holds.
#[test]
fn what_is_in_the_way_and_in_no_snapshot_is_put_aside() {
    let bench = Bench::new();
    bench.write("place", "wanted");
    bench.write("folder/file", "wanted");
    bench.write("kind", "wanted");
    let one = bench.take();
    for path in ["place", "kind"] {
        fs::remove_file(bench.work().join(path)).unwrap();
    }
    fs::remove_dir_all(bench.work().join("folder")).unwrap();
    bench.write(".gitignore", "place\nfolder\nhidden\n");
    bench.write("place", "precious");
    bench.write("folder", "precious");
    bench.write("kind/hidden", "precious");
    let brought = bench.store.bring(&one.tree, &bench.work(), &bench.options, BringOptions::default()).unwrap();
    for path in ["place", "folder/file", "kind"] {
        assert_eq!(fs::read(bench.work().join(path)).unwrap(), b"wanted", "{path}");
    }
    assert_eq!(brought.put_aside.len(), 3);
    for path in &brought.put_aside {
        let path = bench.work().join(path);
        let path = if path.is_dir() { path.join("hidden") } else { path };
        assert_eq!(fs::read(path).unwrap(), b"precious");
    }
}

/// After an error everything can be tried again; the folder for what is being written does not stay.
#[test]
fn an_error_before_the_first_change_changes_nothing() {
    let bench = Bench::new();
    bench.write("a", "to be lost");
    bench.write("b", "x");
    let one = bench.take().tree;
    fs::remove_file(bench.work().join("a")).unwrap();
    bench.write("b", "now");
    let before = survey(&bench.work());
    bench.database().execute("DELETE FROM objects WHERE length = 10 AND kind = 1", []).unwrap();
    let error = bench.store.bring(&one, &bench.work(), &bench.options, BringOptions::default()).unwrap_err();
    assert!(matches!(error, SnapshotError::Missing { .. }), "{error}");
    assert_eq!(survey(&bench.work()), before);
}

//! Restoring: whole or not at all, and what is wrong is named.

use super::{Bench, RestoreOptions, SnapshotError, chmod, survey};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn only_a_new_or_empty_folder_is_filled() {
    let bench = Bench::new();
    bench.write("file", "x");
    let tree = bench.take().tree;
    fs::create_dir(bench.path("empty")).unwrap();
    bench.restore(&tree, "empty");
    bench.restore(&tree, "new/deeper");
    fs::write(bench.path("plain"), "").unwrap();
    std::os::unix::fs::symlink("empty", bench.path("link")).unwrap();
    for name in ["empty", "plain", "link", "work"] {
        let error = bench.store.restore(&tree, &bench.path(name), &RestoreOptions::default()).unwrap_err();
        assert!(matches!(error, SnapshotError::NotEmpty { .. }), "{name}: {error}");
    }
    assert_eq!(names(bench.dir.path()), ["empty", "link", "new", "plain", "store", "work"]);
}

#[test]
fn the_workspace_itself_gets_its_permission_bits() {
    let bench = Bench::new();
    bench.write("file", "x");
    chmod(&bench.work(), 0o751);
    let restored = bench.restore(&bench.take().tree, "again");
    assert_eq!(restored.metadata().unwrap().permissions().mode() & 0o7777, 0o751);
}

#[test]
fn set_user_bits_come_back_only_where_that_is_wanted() {
    let bench = Bench::new();
    bench.write("program", "x");
    chmod(&bench.work().join("program"), 0o4755);
    let tree = bench.take().tree;
    let mode = |name: &str| bench.path(name).join("program").metadata().unwrap().permissions().mode() & 0o7777;
    bench.restore(&tree, "with");
    let options = RestoreOptions { keeps_set_id: false, ..RestoreOptions::default() };
    bench.store.restore(&tree, &bench.path("without"), &options).unwrap();
    assert_eq!((mode("with"), mode("without")), (0o4755, 0o755));
}

/// As root a file of somebody else that runs as them must not come back as one that runs as root.
#[test]
fn set_user_bits_of_somebody_else_are_not_kept() {
    if !super::is_root() {
        return;
    }
    let bench = Bench::new();
    bench.write("program", "x");
    std::os::unix::fs::chown(bench.work().join("program"), Some(12_345), None).unwrap();
    chmod(&bench.work().join("program"), 0o4755);
    let snapshot = bench.take();
    assert_eq!(snapshot.left_out.items[0].why, super::WhyLeftOut::SetIdOfAnother);
    let restored = bench.restore(&snapshot.tree, "again");
    assert_eq!(restored.join("program").metadata().unwrap().permissions().mode() & 0o7777, 0o755);
}

#[test]
fn a_missing_object_is_named_with_snapshot_and_path_and_nothing_is_left_behind() {
    let bench = Bench::new();
    bench.write("deep/er/file", "to be lost");
    bench.write("other", "x");
    let tree = bench.take().tree;
    bench.database().execute("DELETE FROM objects WHERE kind = 1 AND length = 10", []).unwrap();
    let error = bench.store.restore(&tree, &bench.path("again"), &RestoreOptions::default()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains(&format!("snapshot {tree} lacks file contents of `deep/er/file`")), "{text}");
    assert!(text.contains("hint:"), "{text}");
    assert_eq!(names(bench.dir.path()), ["store", "work"]);
}

#[test]
fn a_damaged_object_is_named_with_snapshot_and_path() {
    let bench = Bench::new();
    bench.write("deep/file", "short");
    bench.write("deep/long", "compressible ".repeat(100));
    let tree = bench.take().tree;
    for (sql, expected) in [
        (
            "UPDATE objects SET data = X'73686f727400' WHERE length = 5",
            "`deep/file`: the file contents has other contents",
        ),
        (
            "UPDATE objects SET data = X'7368303074' WHERE length = 5",
            "`deep/file`: the file contents has other contents",
        ),
        ("UPDATE objects SET data = X'0011' WHERE length = 1300", "`deep/long`: the file contents cannot be unpacked"),
        ("UPDATE objects SET length = 1 << 40 WHERE length = 1300", "`deep/long`: the file contents says that it has"),
        ("UPDATE objects SET kind = 3 WHERE length = 5", "`deep/file`: the file contents is kept as a folder"),
        ("UPDATE objects SET kind = 77 WHERE length = 5", "`deep/file`: the file contents has impossible fields"),
    ] {
        let database = bench.database();
        database.execute_batch("CREATE TABLE copy AS SELECT * FROM objects").unwrap();
        assert_eq!(database.execute(sql, []).unwrap(), 1, "{sql}");
        drop(database);
        let error = bench.store.restore(&tree, &bench.path("again"), &RestoreOptions::default()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.to_string().contains(&tree.to_string()), "{error}");
        let database = bench.database();
        database.execute_batch("DELETE FROM objects; INSERT INTO objects SELECT * FROM copy; DROP TABLE copy").unwrap();
    }
    bench.restore(&tree, "again");
    assert_eq!(names(bench.dir.path()), ["again", "store", "work"]);
}

#[test]
fn an_unknown_snapshot_is_said() {
    let bench = Bench::new();
    let tree = "ab".repeat(32).parse().unwrap();
    assert!(!bench.store.has(&tree).unwrap());
    let error = bench.store.restore(&tree, &bench.path("again"), &RestoreOptions::default()).unwrap_err();
    assert!(matches!(error, SnapshotError::Missing { what: "snapshot", .. }), "{error}");
    assert!("xyz".parse::<super::TreeId>().is_err());
}

/// What a killed restore leaves behind is no half workspace under the right name, and goes away with the next one; a
/// restore that is still at work is left alone.
#[test]
fn what_a_killed_restore_left_behind_is_removed() {
    let bench = Bench::new();
    bench.write("file", "x");
    let tree = bench.take().tree;
    for name in [".again.partial-1", ".again.partial-2", ".another.partial-1"] {
        fs::create_dir_all(bench.path(name).join("half/written")).unwrap();
        fs::write(bench.path(name).join("half/file"), "").unwrap();
        chmod(&bench.path(name).join("half"), 0o500);
    }
    let busy = fs::File::open(bench.path(".again.partial-2")).unwrap();
    busy.lock().unwrap();
    let restored = bench.restore(&tree, "again");
    assert_eq!(survey(&restored), survey(&bench.work()));
    assert_eq!(names(bench.dir.path()), [".again.partial-2", ".another.partial-1", "again", "store", "work"]);
    super::operations::open_up(bench.dir.path());
}

#[test]
fn a_full_disk_in_the_middle_leaves_nothing_behind() {
    if !super::is_root() {
        return;
    }
    // A file system of a megabyte; where none may be mounted, as in some containers, there is nothing to see here.
    let bench = Bench::new();
    let small = bench.path("small");
    fs::create_dir(&small).unwrap();
    let mount = |program: &str, arguments: &[&str]| {
        let done = std::process::Command::new(program).args(arguments).arg(&small).output();
        done.is_ok_and(|output| output.status.success())
    };
    if !mount("mount", &["-t", "tmpfs", "-o", "size=1m", "tmpfs"]) {
        return;
    }
    let noise = |n: u32| blake3::hash(&n.to_le_bytes());
    for file in 0..40_u32 {
        let bytes: Vec<u8> = (0..2_000).flat_map(|n| *noise(file * 10_000 + n).as_bytes()).collect();
        bench.write(&format!("f{file}"), bytes);
    }
    let tree = bench.take().tree;
    let error = bench.store.restore(&tree, &small.join("again"), &RestoreOptions::default()).unwrap_err();
    let left = names(&small);
    fs::create_dir(small.join("work")).unwrap();
    fs::write(small.join("work/precious"), "as it was").unwrap();
    let brought = bench.store.bring(&tree, &small.join("work"), &bench.options, super::BringOptions::default());
    let precious = fs::read(small.join("work/precious")).unwrap();
    let after = names(&small.join("work"));
    assert!(mount("umount", &["-l"]));
    assert!(error.is_no_space(), "{error}");
    assert!(left.is_empty(), "{left:?}");
    assert!(brought.unwrap_err().is_no_space());
    assert_eq!((precious.as_slice(), after), (&b"as it was"[..], vec!["precious".to_owned()]));
}

//! Restoring: whole or not at all, and what is wrong is named.

use super::{Bench, RestoreOptions, SnapshotError, chmod, names, survey};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

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

/// Also where nobody, or everybody, may do everything, and whatever a new file gets by default.
#[test]
fn permission_bits_of_every_kind_come_back() {
    let bench = Bench::new();
    let modes = [0o000, 0o400, 0o444, 0o600, 0o640, 0o644, 0o666, 0o755, 0o777, 0o1644, 0o2755, 0o4711, 0o6777];
    for mode in modes {
        bench.write(&format!("d{mode:o}/e/f{mode:o}"), mode.to_string());
        chmod(&bench.work().join(format!("d{mode:o}/e/f{mode:o}")), mode);
        // Whoever is not the superuser cannot look into all of them.
        if mode & 0o500 == 0o500 || super::is_root() {
            chmod(&bench.work().join(format!("d{mode:o}/e")), mode);
            chmod(&bench.work().join(format!("d{mode:o}")), mode);
        }
    }
    let restored = bench.restore(&bench.take().tree, "again");
    super::assert_same(&survey(&bench.work()), &survey(&restored), "restored");
    super::operations::open_up(bench.dir.path());
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

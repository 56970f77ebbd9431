//! Removing what nobody needs, and many at once.

use super::{Bench, SnapshotError, SnapshotStore, git, survey};
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

#[test]
fn only_what_no_wanted_snapshot_needs_is_removed() {
    let bench = Bench::new();
    let mut kept: Vec<(super::TreeId, BTreeMap<_, _>)> = Vec::new();
    for n in 0..6 {
        bench.write("same", vec![7; 3 << 20]);
        bench.write(&format!("dir{}/file", n % 2), format!("{n}"));
        bench.write("large", format!("{n}").repeat(1 << 20));
        kept.push((bench.take().tree, survey(&bench.work())));
    }
    let all: Vec<_> = kept.iter().map(|(tree, _)| *tree).collect();
    assert_eq!(bench.store.collect(&all, Duration::ZERO).unwrap().objects, 0);
    assert_eq!(bench.store.collect(&[], Duration::from_secs(3_600)).unwrap().objects, 0, "all of them are young");
    let size = || fs::metadata(bench.path("store/objects.db")).unwrap().len();
    let collected = bench.store.collect(&[all[1], all[4]], Duration::ZERO).unwrap();
    assert!(collected.objects > 10 && collected.bytes > 0 && collected.incomplete == 0, "{collected:?}");
    for (n, (tree, before)) in kept.iter().enumerate() {
        assert_eq!(bench.store.has(tree).unwrap(), n == 1 || n == 4);
        if n == 1 || n == 4 {
            assert_eq!(&survey(&bench.restore(tree, &format!("r{n}"))), before);
        }
    }
    let before = size();
    bench.store.collect(&[], Duration::ZERO).unwrap();
    let objects: i64 = bench.database().query_row("SELECT count(*) FROM objects", [], |row| row.get(0)).unwrap();
    assert_eq!(objects, 0);
    assert!(size() <= before);
    // What is remembered of files whose contents are gone is not relied upon.
    let again = bench.take();
    assert_eq!((again.tree, survey(&bench.restore(&again.tree, "again"))), (all[5], survey(&bench.work())));
}

#[test]
fn a_wanted_snapshot_that_is_not_here_or_damaged_hinders_nothing() {
    let bench = Bench::new();
    bench.write("a/file", "1");
    bench.write("b/file", "2");
    let tree = bench.take().tree;
    let foreign = "cd".repeat(32).parse().unwrap();
    bench.write("a/file", "3");
    bench.take();
    let collected = bench.store.collect(&[tree, foreign], Duration::ZERO).unwrap();
    assert_eq!((collected.incomplete, collected.objects), (1, 4), "{collected:?}");
    bench.restore(&tree, "again");
}

#[test]
fn many_writers_share_a_store() {
    let bench = Bench::new();
    let work: Vec<_> = (0..4).map(|n| bench.path(&format!("work{n}"))).collect();
    std::thread::scope(|scope| {
        for (n, work) in work.iter().enumerate() {
            let bench = &bench;
            scope.spawn(move || {
                let store = SnapshotStore::open(&bench.path("store")).unwrap();
                let mut kept = Vec::new();
                for round in 0..8 {
                    for file in 0..20 {
                        fs::create_dir_all(work.join(format!("d{file}"))).unwrap();
                        // Half of it is the same for all.
                        let own = if file % 2 == 0 { n } else { 0 };
                        fs::write(work.join(format!("d{file}/f")), format!("{round} {file} {own}").repeat(50)).unwrap();
                    }
                    let previous = kept.last().map(|(tree, _)| *tree);
                    let snapshot = store.take(work, &bench.options, previous.as_ref()).unwrap();
                    assert!(round == 0 || snapshot.changed_files == 20);
                    kept.push((snapshot.tree, survey(work)));
                    store.collect(&[], Duration::from_secs(3_600)).unwrap();
                }
                for (round, (tree, before)) in kept.iter().enumerate() {
                    assert_eq!(&survey(&bench.restore(tree, &format!("r{n}-{round}"))), before);
                }
            });
        }
    });
}

/// The same folder from two sides at once: both snapshots are whole.
#[test]
fn two_snapshots_of_one_folder_at_once() {
    let bench = Bench::new();
    for n in 0..300 {
        bench.write(&format!("d{}/f{n}", n % 10), format!("{n}").repeat(100));
    }
    assert!(git(&bench.work(), &["init", "-q"]) && git(&bench.work(), &["add", "-A"]));
    let trees: Vec<_> = std::thread::scope(|scope| {
        let takers: Vec<_> = (0..4).map(|_| scope.spawn(|| bench.take().tree)).collect();
        takers.into_iter().map(|taker| taker.join().unwrap()).collect()
    });
    assert!(trees.iter().all(|tree| *tree == trees[0]));
    assert_eq!(survey(&bench.restore(&trees[0], "again")), survey(&bench.work()));
}

#[test]
fn a_folder_that_holds_something_else_is_no_store() {
    let bench = Bench::new();
    let dir = bench.path("other");
    fs::create_dir(&dir).unwrap();
    let database = rusqlite::Connection::open(dir.join("objects.db")).unwrap();
    database.execute_batch("CREATE TABLE x (y); PRAGMA application_id = 5").unwrap();
    assert!(matches!(SnapshotStore::open(&dir).unwrap_err(), SnapshotError::Foreign { .. }));
    drop(database);
    fs::write(dir.join("objects.db"), "no database at all, but long enough to be looked at as one".repeat(100))
        .unwrap();
    assert!(matches!(SnapshotStore::open(&dir).unwrap_err(), SnapshotError::Store { .. }));
    bench.database().pragma_update(None, "user_version", 2).unwrap();
    let error = SnapshotStore::open(&bench.path("store")).unwrap_err();
    assert!(error.to_string().contains("layout 2"), "{error}");
}

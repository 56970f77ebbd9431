//! Snapshots on their way to another store.

use super::{Bench, SnapshotError, SnapshotStore, git, survey};
use crate::snapshot::TreeId;
use std::fs;

fn other(bench: &Bench, name: &str) -> SnapshotStore {
    SnapshotStore::open(&bench.path(name)).unwrap()
}

/// Three snapshots with small and large files, links, empty folders and a repository.
fn some() -> (Bench, Vec<TreeId>) {
    let bench = Bench::new();
    let mut trees = Vec::new();
    assert!(git(&bench.work(), &["init", "-q"]));
    for n in 0..3 {
        bench.write("dir/file", format!("{n}"));
        bench.write(&format!("large{n}"), format!("{n} line\n").repeat(200_000));
        fs::create_dir(bench.work().join(format!("empty{n}"))).unwrap();
        std::os::unix::fs::symlink("dir", bench.work().join(format!("link{n}"))).unwrap();
        assert!(git(&bench.work(), &["add", "-A"]) && git(&bench.work(), &["commit", "-qm", "x"]));
        trees.push(bench.take().tree);
    }
    (bench, trees)
}

#[test]
fn snapshots_arrive_whole_in_another_store() {
    let (bench, trees) = some();
    let mut stream = Vec::new();
    let sent = bench.store.export(&trees, &[], &mut stream).unwrap();
    let there = other(&bench, "there");
    let received = there.import(stream.as_slice()).unwrap();
    assert_eq!(received, sent);
    for (n, tree) in trees.iter().enumerate() {
        let into = bench.path(&format!("there{n}"));
        there.restore(tree, &into, &Default::default()).unwrap();
        assert_eq!(survey(&into), survey(&bench.restore(tree, &format!("here{n}"))));
    }
    let again = there.import(stream.as_slice()).unwrap();
    assert_eq!((again.objects, again.bytes), (sent.objects, 0), "nothing of it is new");
    // What has just arrived is as young as what was just taken.
    assert_eq!(there.collect(&[], std::time::Duration::from_secs(3_600)).unwrap().objects, 0);
}

#[test]
fn what_the_other_side_has_is_not_sent() {
    let (bench, trees) = some();
    let there = other(&bench, "there");
    let mut all = Vec::new();
    for n in 0..trees.len() {
        let mut stream = Vec::new();
        bench.store.export(&trees[n..=n], &trees[..n], &mut stream).unwrap();
        all.push(stream);
    }
    assert!(all[1].len() < all[0].len() + all[2].len());
    let error = there.import(all[1].as_slice()).unwrap_err();
    assert!(matches!(error, SnapshotError::Missing { .. }), "{error}");
    assert!(!there.has(&trees[1]).unwrap() || there.restore(&trees[1], &bench.path("x"), &Default::default()).is_err());
    for stream in &all {
        there.import(stream.as_slice()).unwrap();
    }
    there.restore(&trees[2], &bench.path("there2"), &Default::default()).unwrap();
    assert_eq!(survey(&bench.path("there2")), survey(&bench.restore(&trees[2], "here2")));
}

#[test]
fn a_stream_that_is_cut_or_changed_is_refused() {
    let bench = Bench::new();
    bench.write("dir/file", "contents that are worth it ".repeat(10));
    bench.write("other", "x");
    let tree = bench.take().tree;
    let mut stream = Vec::new();
    bench.store.export(&[tree], &[], &mut stream).unwrap();
    let there = other(&bench, "there");
    for cut in 0..stream.len() {
        let error = there.import(&stream[..cut]).unwrap_err();
        assert!(matches!(error, SnapshotError::Stream { .. }), "{cut}: {error}");
    }
    for at in 0..stream.len() {
        let mut changed = stream.clone();
        changed[at] ^= 0x10;
        assert!(there.import(changed.as_slice()).is_err(), "byte {at} does not matter");
    }
    let roots = |name: &str| {
        let database = rusqlite::Connection::open(bench.path(name).join("objects.db")).unwrap();
        database.query_row("SELECT count(*) FROM roots", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(roots("there"), 0, "nothing of it counts as a snapshot");
    there.import(stream.as_slice()).unwrap();
    assert_eq!(roots("there"), 1);
}

#[test]
fn damage_is_not_sent_on() {
    let (bench, trees) = some();
    bench
        .database()
        .execute("UPDATE objects SET data = zeroblob(length(data)) WHERE length = 1 AND kind = 1", [])
        .unwrap();
    let error = bench.store.export(&trees, &[], std::io::sink()).unwrap_err();
    assert!(error.to_string().contains("is damaged at `dir/file`"), "{error}");
}

#[test]
fn a_reader_that_fails_is_an_error() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (bench, trees) = some();
    assert!(bench.store.export(&trees, &[], Full).unwrap_err().is_no_space());
}

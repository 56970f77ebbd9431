//! Several at once: restores into many places and into one, beside snapshots that are taken, and what others may see meanwhile.

use super::{Bench, BringOptions, RestoreOptions, SnapshotError, SnapshotStore, TreeId, assert_same, names, survey};
use crate::snapshot::ids::{Kind, ObjectId};
use crate::snapshot::objects::{Fault, Objects};
use std::fs;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

/// Folders of files, some of them larger than a piece.
fn fill(bench: &Bench, round: usize) {
    for n in 0..120 {
        let contents = format!("{round} {n} ").repeat(if n % 40 == 0 { 200_000 } else { n * 7 + 1 });
        bench.write(&format!("d{}/e{}/f{n}", n % 3, n % 11), contents);
    }
}

#[test]
fn many_restores_at_once_are_each_whole() {
    let bench = Bench::new();
    let kept: Vec<_> = (0..4)
        .map(|round| {
            fill(&bench, round);
            (bench.take().tree, survey(&bench.work()))
        })
        .collect();
    std::thread::scope(|scope| {
        for (n, (tree, expected)) in kept.iter().enumerate() {
            for again in 0..2 {
                let bench = &bench;
                scope.spawn(move || {
                    // Each as another process would.
                    let store = SnapshotStore::open(&bench.path("store")).unwrap();
                    let into = bench.path(&format!("restored{n}-{again}"));
                    store.restore(tree, &into, &RestoreOptions::default()).unwrap();
                    assert_same(&survey(&into), expected, &format!("restore {n}-{again}"));
                    // And it is known there what was restored.
                    let taken = store.take(&into, &bench.options, Some(tree)).unwrap();
                    assert_eq!((taken.tree, taken.changed_files, taken.new_bytes), (*tree, 0, 0));
                });
            }
        }
        scope.spawn(|| {
            for round in 10..14 {
                fill(&bench, round);
                bench.take();
            }
        });
    });
}

#[test]
fn of_many_restores_into_one_place_one_is_there() {
    let bench = Bench::new();
    let kept: Vec<(TreeId, _)> = (0..4)
        .map(|round| {
            fill(&bench, round);
            (bench.take().tree, survey(&bench.work()))
        })
        .collect();
    for exists in [false, true] {
        let into = bench.path(&format!("place{exists}"));
        if exists {
            fs::create_dir(&into).unwrap();
        }
        let results: Vec<_> = std::thread::scope(|scope| {
            let restore = |tree| bench.store.restore(tree, &into, &RestoreOptions::default());
            let restoring: Vec<_> = kept.iter().map(|(tree, _)| scope.spawn(move || restore(tree))).collect();
            restoring.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let done: Vec<usize> = (0..results.len()).filter(|n| results[*n].is_ok()).collect();
        let [winner] = done[..] else { panic!("{done:?} of them are there") };
        assert_same(&survey(&into), &kept[winner].1, "the place");
        for error in results.into_iter().filter_map(Result::err) {
            assert!(matches!(error, SnapshotError::NotEmpty { .. }), "{error}");
        }
    }
    assert_eq!(names(bench.dir.path()), ["placefalse", "placetrue", "store", "work"], "nothing is left behind");
}

/// Whoever watches the folder sees nothing of a restore but a folder that is closed to others, and then all of it.
#[test]
fn others_see_nothing_before_all_is_there() {
    let bench = Bench::new();
    fill(&bench, 0);
    fs::set_permissions(bench.work(), fs::Permissions::from_mode(0o777)).unwrap();
    let (tree, expected) = (bench.take().tree, survey(&bench.work()));
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = || {
            while !done.load(std::sync::atomic::Ordering::Acquire) {
                for name in names(bench.dir.path()).into_iter().filter(|name| name.contains(".partial-")) {
                    // It may have been put in its place since it was listed; opened, it is the same folder all the time.
                    let Ok(folder) = fs::File::open(bench.path(&name)) else { continue };
                    let mode = folder.metadata().unwrap().permissions().mode() & 0o7777;
                    let inside = PathBuf::from(format!("/proc/self/fd/{}/.", folder.as_raw_fd()));
                    assert!(mode == 0o700 || survey(&inside).len() == expected.len(), "{mode:o}");
                }
                if bench.path("again").exists() {
                    assert!(survey(&bench.path("again")).len() == expected.len(), "half of it is there");
                }
            }
        };
        scope.spawn(watch);
        let restored = bench.store.restore(&tree, &bench.path("again"), &RestoreOptions::default());
        done.store(true, std::sync::atomic::Ordering::Release);
        restored.unwrap();
    });
    assert_same(&survey(&bench.path("again")), &expected, "restored");
}

/// A reader that has begun keeps nobody from writing, and sees what was there when it began.
#[test]
fn reading_holds_up_nobody_and_sees_one_moment() {
    let bench = Bench::new();
    let mut writer = Objects::open(&bench.path("store")).unwrap();
    let mut put = |text: &str| {
        let id = ObjectId::of(Kind::Piece, text.as_bytes());
        let packed = writer.pack(id, Kind::Piece, text.as_bytes());
        writer.put(&packed).unwrap();
        writer.commit().unwrap();
        id
    };
    let early = put("early");
    let objects = Objects::open(&bench.path("store")).unwrap();
    let reader = objects.again().unwrap();
    let reading = reader.reading().unwrap();
    assert_eq!(reader.get(&early, Kind::Piece).unwrap(), b"early");
    let late = put("late");
    assert!(matches!(reader.get(&late, Kind::Piece), Err(Fault::Missing)));
    drop(reading);
    assert_eq!(reader.get(&late, Kind::Piece).unwrap(), b"late");
    assert_eq!(reader.with(&early, Kind::Piece, <[u8]>::len).unwrap(), 5);
    assert!(matches!(reader.get(&early, Kind::Tree), Err(Fault::Damaged(reason)) if reason.contains("is kept as")));
    // One that ends in an error is over, too.
    let reading = reader.reading().unwrap();
    assert!(reader.reading().is_err(), "one in another");
    drop(reading);
    drop(reader.reading().unwrap());
}

/// Two folders brought to and fro at once share one store, and a folder brought by two at once ends as one of them says.
#[test]
fn folders_are_brought_at_once() {
    let bench = Bench::new();
    let kept: Vec<_> = (0..2)
        .map(|round| {
            fill(&bench, round);
            bench.write(&format!("only{round}/x"), "x");
            let kept = (bench.take().tree, survey(&bench.work()));
            fs::remove_dir_all(bench.work().join(format!("only{round}"))).unwrap();
            kept
        })
        .collect();
    std::thread::scope(|scope| {
        for n in 0..3 {
            let (bench, kept) = (&bench, &kept);
            scope.spawn(move || {
                let into = bench.restore(&kept[0].0, &format!("brought{n}"));
                for round in 1..6 {
                    let (tree, expected) = &kept[round % 2];
                    let how = BringOptions { expected: Some(kept[(round + 1) % 2].0), force: false };
                    let brought = bench.store.bring(tree, &into, &bench.options, how).unwrap();
                    assert_eq!((brought.after, brought.before), (*tree, kept[(round + 1) % 2].0));
                    assert_same(&survey(&into), expected, &format!("{n} in round {round}"));
                }
            });
        }
    });
}

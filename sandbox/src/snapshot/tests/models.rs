//! Whatever trees there are: what differs between them, what they need, and what is read of them, each beside the plainest
//! way there is to find that out.

use super::model::{Model, Thing, models};
use super::{Bench, Change, ChangeKind, ItemKind, RestoreOptions, SnapshotStore, TreeId, survey};
use crate::snapshot::closure::walk;
use crate::snapshot::ids::{Kind, ObjectId};
use crate::snapshot::objects::Objects;
use crate::snapshot::reader::Reader;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// The same cases every time; more of them with `PROPTEST_CASES`.
fn run<S: Strategy>(seed: u8, cases: u32, strategy: &S, test: impl Fn(S::Value)) {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(cases);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]));
    let result = runner.run(strategy, |value| {
        test(value);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// A thing as a change shows it.
fn item(thing: &Thing) -> (ItemKind, u32, u64) {
    match thing {
        Thing::File { mode, contents } => (ItemKind::File, u32::from(*mode), contents.len() as u64),
        Thing::Link { target } => (ItemKind::Link, 0, target.len() as u64),
        Thing::Folder { mode } => (ItemKind::Folder, u32::from(*mode), 0),
    }
}

type Shown = (Vec<u8>, ChangeKind, Option<(ItemKind, u32, u64)>, Option<(ItemKind, u32, u64)>);

fn shown(change: &Change) -> Shown {
    let item = |item: &super::Item| (item.kind, item.mode, item.size);
    let path = change.path.as_os_str().as_bytes().to_vec();
    (path, change.kind(), change.before.as_ref().map(item), change.after.as_ref().map(item))
}

/// All paths of both, one by one.
fn expected(before: &Model, after: &Model) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    let root = |model: &Model| Some((ItemKind::Folder, u32::from(model.mode), 0));
    if before.mode != after.mode {
        all.push((b".".to_vec(), ChangeKind::Mode, root(before), root(after)));
    }
    let paths: BTreeSet<_> = before.things.keys().chain(after.things.keys()).collect();
    for path in paths {
        let (was, is) = (before.things.get(path), after.things.get(path));
        let kind = match (was, is) {
            (was, is) if was == is => continue,
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Deleted,
            (Some(Thing::File { contents: was, .. }), Some(Thing::File { contents: is, .. })) if was == is => {
                ChangeKind::Mode
            }
            (Some(Thing::Folder { .. }), Some(Thing::Folder { .. })) => ChangeKind::Mode,
            (Some(was), Some(is)) if item(was).0 == item(is).0 => ChangeKind::Modified,
            _ => ChangeKind::Replaced,
        };
        all.push((path.clone(), kind, was.map(item), is.map(item)));
    }
    all
}

#[test]
fn what_differs_is_what_a_comparison_of_all_paths_finds() {
    let bench = Bench::new();
    run(11, 200, &models(3), |models| {
        let trees: Vec<TreeId> = models.iter().map(|model| model.store(&bench).0).collect();
        for (was, before) in models.iter().zip(&trees) {
            for (is, after) in models.iter().zip(&trees) {
                let changes = bench.store.changes(Some(before), after).unwrap();
                assert_eq!(changes.iter().map(shown).collect::<Vec<_>>(), expected(was, is));
                // Equal things have equal hashes, others have others.
                for Change { before, after, path } in &changes {
                    let [before, after] = [before, after].map(|item| item.as_ref().map(|item| &item.contents));
                    assert!(before.is_none() || before != after || path_mode_only(was, is, path), "{path:?}");
                }
                assert_eq!(before == after, was == is, "one name for one tree");
            }
        }
        let nothing = Model { mode: models[0].mode, things: BTreeMap::new() };
        let added = bench.store.changes(None, &trees[0]).unwrap();
        assert_eq!(added.iter().skip(1).map(shown).collect::<Vec<_>>(), expected(&nothing, &models[0]));
    });
}

fn path_mode_only(was: &Model, is: &Model, path: &Path) -> bool {
    let at = |model: &Model| model.things.get(path.as_os_str().as_bytes()).map(|thing| item(thing).0);
    path == Path::new(".") || at(was) == at(is)
}

#[test]
fn every_object_that_is_needed_is_visited_once() {
    let bench = Bench::new();
    run(12, 150, &models(2), |models| {
        let (one, needed) = models[0].store(&bench);
        let (other, needed_by_other) = models[1].store(&bench);
        let objects = Objects::open(&bench.path("store")).unwrap();
        let visits = |tree: TreeId, visited: &mut HashSet<ObjectId>| {
            let mut visits: Vec<(ObjectId, Kind)> = Vec::new();
            let visit = |id: &ObjectId, kind: Kind, path: &[u8]| {
                assert!(path.is_empty() || models.iter().any(|model| model.things.contains_key(path)));
                visits.push((*id, kind));
                Ok(true)
            };
            walk(&Reader::new(&objects, tree), visited, visit, Err).unwrap();
            let found: BTreeMap<ObjectId, Kind> = visits.iter().copied().collect();
            assert_eq!(found.len(), visits.len(), "visited twice");
            found
        };
        let mut visited = HashSet::new();
        assert_eq!(visits(one, &mut visited), needed);
        // What the first one needs is not visited for the second one again.
        let more: BTreeMap<_, _> = needed_by_other.into_iter().filter(|(id, _)| !needed.contains_key(id)).collect();
        assert_eq!(visits(other, &mut visited), more);
    });
}

/// Each object that is missing is found, whichever it is, and what does not need it is found all the same.
#[test]
fn whatever_is_missing_is_named_and_the_rest_is_still_found() {
    let bench = Bench::new();
    run(13, 40, &models(1), |models| {
        let (tree, needed) = models[0].store(&bench);
        for (id, kind) in &needed {
            let database = bench.database();
            database.execute_batch("SAVEPOINT whole").unwrap();
            database.execute("DELETE FROM objects WHERE id = ?1", [id.as_bytes()]).unwrap();
            database.execute_batch("RELEASE whole").unwrap();
            let objects = Objects::open(&bench.path("store")).unwrap();
            let (mut found, mut faults) = (HashSet::new(), 0);
            let mut visited = HashSet::new();
            let visit = |id: &ObjectId, _: Kind, _: &[u8]| {
                found.insert(*id);
                Ok(true)
            };
            let on_fault = |error: super::SnapshotError| {
                let named = format!("snapshot {tree} lacks {} of ", kind.name());
                assert!(error.to_string().starts_with(&named), "{error}: {named}");
                faults += 1;
                Ok(())
            };
            walk(&Reader::new(&objects, tree), &mut visited, visit, on_fault).unwrap();
            // A piece is named by what needs it; whoever walks needs not read it.
            assert_eq!(faults > 0, *kind != Kind::Piece, "{kind:?}");
            assert!(found.contains(id) && found.iter().all(|id| needed.contains_key(id)));
            let restored = bench.store.restore(&tree, &bench.path("again"), &RestoreOptions::default());
            assert!(restored.is_err() && !bench.path("again").exists());
            models[0].store(&bench);
        }
        assert!(bench.store.changes(None, &tree).is_ok());
    });
}

#[test]
fn what_is_restored_and_read_is_the_tree() {
    let bench = Bench::new();
    run(14, 40, &models(2), |models| {
        let there = SnapshotStore::open(&bench.path("there")).unwrap();
        for model in &models {
            let (tree, needed) = model.store(&bench);
            // From another store, where nothing of it was before.
            let mut stream = Vec::new();
            let sent = bench.store.export(&[tree], &[], &mut stream).unwrap();
            assert_eq!(sent.objects, needed.len() as u64);
            there.import(stream.as_slice()).unwrap();
            let into = bench.path("again");
            let restored = there.restore(&tree, &into, &RestoreOptions::default()).unwrap();
            let files = model.things.values().filter(|thing| !matches!(thing, Thing::Folder { .. })).count();
            assert_eq!(restored.files, files as u64);
            let mut found = survey(&into);
            assert_eq!(found.remove(&b""[..]).map(|(mode, _)| mode & 0o7777), Some(u32::from(model.mode)));
            let seen: Vec<_> = found.iter().map(|(path, (mode, bytes))| (path, mode & 0o7777, bytes)).collect();
            let nothing = Vec::new();
            let should: Vec<_> = model
                .things
                .iter()
                .map(|(path, thing)| match thing {
                    Thing::File { mode, contents } => (path, u32::from(*mode), contents),
                    Thing::Link { target } => (path, 0, target),
                    Thing::Folder { mode } => (path, u32::from(*mode), &nothing),
                })
                .collect();
            assert!(seen == should, "{:?}\n{:?}", found.keys(), model.things.keys());
            for (path, thing) in &model.things {
                let path = Path::new(std::ffi::OsStr::from_bytes(path));
                match (thing, there.read(&tree, path, u64::MAX)) {
                    (Thing::File { contents: bytes, .. } | Thing::Link { target: bytes }, Ok(Some(read))) => {
                        assert!(read == *bytes, "{path:?}");
                    }
                    (Thing::Folder { .. }, Err(super::SnapshotError::NotReadable { .. })) => {}
                    (thing, read) => panic!("{path:?}: {thing:?} is read as {read:?}"),
                }
            }
            std::fs::remove_dir_all(into).unwrap();
        }
    });
}

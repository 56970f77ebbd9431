//! Several logs share a store: what one of them does not want any more stays as long as another one does.

use super::{Bench, SnapshotStore, TreeId, survey};
use std::time::Duration;

/// A snapshot of the workspace with one file of these contents, on behalf of `owner`.
fn taken(bench: &Bench, owner: &str, contents: &str) -> TreeId {
    bench.write("file", contents);
    store(bench, owner).take(&bench.work(), &bench.options, None).unwrap().tree
}

fn store(bench: &Bench, owner: &str) -> SnapshotStore {
    SnapshotStore::open(&bench.path("store")).unwrap().owned_by(owner)
}

#[test]
fn what_another_log_wants_is_kept() {
    let bench = Bench::new();
    let (ours, shared) = (taken(&bench, "a", "ours"), taken(&bench, "a", "shared"));
    assert_eq!(taken(&bench, "b", "shared"), shared);
    let theirs = taken(&bench, "b", "theirs");
    let nobodys = taken(&bench, "", "nobody's");
    let has = |tree: &TreeId| bench.store.has(tree).unwrap();
    // The first log was emptied.
    let collected = store(&bench, "a").collect_owned(&[], Duration::ZERO).unwrap();
    assert!(collected.objects > 0 && collected.incomplete == 0, "{collected:?}");
    assert!(!has(&ours) && has(&shared) && has(&theirs) && has(&nobodys));
    bench.restore(&shared, "shared");
    bench.restore(&nobodys, "nobodys");
    // And the other one has one session left.
    store(&bench, "b").collect_owned(&[shared], Duration::ZERO).unwrap();
    assert!(has(&shared) && !has(&theirs) && has(&nobodys));
    store(&bench, "b").collect_owned(&[], Duration::ZERO).unwrap();
    assert!(!has(&shared) && has(&nobodys), "what was taken on nobody's behalf stays");
}

#[test]
fn what_is_on_its_way_into_a_log_is_kept() {
    let bench = Bench::new();
    let tree = taken(&bench, "a", "new");
    let before = survey(&bench.work());
    assert_eq!(store(&bench, "a").collect_owned(&[], Duration::from_secs(3_600)).unwrap().objects, 0);
    assert_eq!(store(&bench, "b").collect_owned(&[], Duration::ZERO).unwrap().objects, 0);
    assert_eq!(survey(&bench.restore(&tree, "again")), before);
}

#[test]
fn a_log_may_want_what_another_one_took() {
    let bench = Bench::new();
    let tree = taken(&bench, "a", "copied");
    let foreign: TreeId = "cd".repeat(32).parse().unwrap();
    store(&bench, "b").own(&[tree, foreign]).unwrap();
    store(&bench, "a").collect_owned(&[], Duration::ZERO).unwrap();
    assert!(bench.store.has(&tree).unwrap());
    assert_eq!(store(&bench, "b").collect_owned(&[tree, foreign], Duration::ZERO).unwrap().incomplete, 0);
    // A stream that is taken in is wanted by whoever takes it in.
    let mut stream = Vec::new();
    bench.store.export(&[tree], &[], &mut stream).unwrap();
    store(&bench, "c").import(stream.as_slice()).unwrap();
    store(&bench, "b").collect_owned(&[], Duration::ZERO).unwrap();
    assert!(bench.store.has(&tree).unwrap());
    store(&bench, "c").collect_owned(&[], Duration::ZERO).unwrap();
    assert!(!bench.store.has(&tree).unwrap());
}

/// A store from before there were owners: what is in it is nobody's, and so it stays.
#[test]
fn an_older_store_is_opened() {
    let bench = Bench::new();
    let (old, older) = (taken(&bench, "a", "old"), taken(&bench, "a", "older"));
    bench.database().execute_batch("DROP TABLE owners").unwrap();
    let new = taken(&bench, "a", "new");
    store(&bench, "a").own(&[old]).unwrap();
    store(&bench, "a").collect_owned(&[], Duration::ZERO).unwrap();
    let has = |tree: &TreeId| bench.store.has(tree).unwrap();
    assert!(has(&old) && has(&older) && !has(&new));
}

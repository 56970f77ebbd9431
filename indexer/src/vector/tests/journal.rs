//! The journal: which positions are done, in whatever order batches are written and whenever it is read again.

use crate::vector::vector_journal::VectorJournal;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;

/// Everything up to `until` that a journal still wants, in the order in which it wants it.
fn wanted(journal: &VectorJournal, folder: &Path, until: u64, width: u64) -> Vec<u64> {
    let mut journal = journal.clone();
    let mut wanted = Vec::new();
    while let Some((first, last)) = journal.next(until, width) {
        assert!(first <= last && last - first < width && last <= until);
        wanted.extend((first..=last).rev());
        journal.begin((first, last)).unwrap();
        journal.finish(1).unwrap();
    }
    std::fs::remove_file(folder.join("journal.json")).ok();
    wanted
}

#[test]
fn an_empty_journal_wants_everything_newest_first() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(VectorJournal::open(folder.path()).unwrap(), None);
    let journal = VectorJournal::create(folder.path()).unwrap();
    assert_eq!(VectorJournal::open(folder.path()).unwrap(), Some(journal.clone()));
    assert_eq!(journal.next(9, 4), Some((6, 9)));
    assert_eq!(journal.missing(9), 10);
    assert_eq!(wanted(&journal, folder.path(), 9, 4), (0..=9).rev().collect::<Vec<_>>());
}

#[test]
fn what_came_since_is_done_before_what_is_old() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = VectorJournal::create(folder.path()).unwrap();
    journal.begin((50, 99)).unwrap();
    journal.finish(3).unwrap();
    assert_eq!(journal.next(120, 1000), Some((100, 120)));
    assert_eq!(journal.next(99, 10), Some((40, 49)));
    assert_eq!(journal.next(60, 10), Some((40, 49)));
    assert_eq!(journal.next(20, 1000), Some((0, 20)));
    assert_eq!((journal.missing(120), journal.missing(60), journal.missing(20)), (71, 50, 21));
}

#[test]
fn a_pending_batch_is_remembered_and_not_done() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = VectorJournal::create(folder.path()).unwrap();
    journal.begin((5, 9)).unwrap();
    let again = VectorJournal::open(folder.path()).unwrap().unwrap();
    assert_eq!(again, journal);
    assert_eq!(again.pending(), Some((5, 9)));
    assert_eq!(again.next(9, 100), Some((0, 9)));
}

#[test]
fn all_positions_there_can_be_are_counted_without_overflow() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = VectorJournal::create(folder.path()).unwrap();
    assert_eq!(journal.next(u64::MAX, u64::MAX), Some((1, u64::MAX)));
    assert_eq!(journal.missing(u64::MAX), u64::MAX);
    journal.begin((0, u64::MAX)).unwrap();
    journal.finish(1).unwrap();
    assert_eq!(journal.next(u64::MAX, 10), None);
    assert_eq!(journal.missing(7), 0);
}

#[test]
fn a_damaged_journal_is_an_error_and_a_half_written_one_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.json");
    for damaged in [
        "",
        "{",
        "[]",
        r#"{"format":2,"done":[],"pending":null,"table_version":0}"#,
        r#"{"format":1,"done":[[5,4]],"pending":null,"table_version":0}"#,
        r#"{"format":1,"done":[[5,9],[3,4]],"pending":null,"table_version":0}"#,
        r#"{"format":1,"done":[[1,5],[5,9]],"pending":null,"table_version":0}"#,
        r#"{"format":1,"done":[],"pending":[4,1],"table_version":0}"#,
        r#"{"format":1,"done":[[-1,5]],"pending":null,"table_version":0}"#,
    ] {
        std::fs::write(&path, damaged).unwrap();
        let error = VectorJournal::open(folder.path()).unwrap_err();
        assert!(error.is_damage(), "{damaged}: {error}");
        assert_eq!(error.to_string().lines().count(), 1);
    }
    std::fs::remove_file(&path).unwrap();
    std::fs::write(folder.path().join("journal.json.new"), "{\"for").unwrap();
    assert_eq!(VectorJournal::open(folder.path()).unwrap(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn it_agrees_with_a_set_of_positions(
        steps in proptest::collection::vec((0_u64..60, 1_u64..12, any::<bool>()), 1..25), until in 0_u64..80,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = VectorJournal::create(folder.path()).unwrap();
        let mut done = BTreeSet::new();
        for (first, length, dies) in steps {
            let last = first + length - 1;
            journal.begin((first, last)).unwrap();
            if dies {
                journal = VectorJournal::open(folder.path()).unwrap().unwrap();
                prop_assert_eq!(journal.pending(), Some((first, last)));
                continue;
            }
            journal.finish(1).unwrap();
            done.extend(first..=last);
        }
        let journal = VectorJournal::open(folder.path()).unwrap().unwrap();
        let expected: Vec<u64> = (0..=until).rev().filter(|position| !done.contains(position)).collect();
        prop_assert_eq!(journal.missing(until), expected.len() as u64);
        for width in [1, 7, 1000] {
            prop_assert_eq!(&wanted(&journal, folder.path(), until, width), &expected);
        }
    }
}

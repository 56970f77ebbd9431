//! Several readers, one writer.

use super::{MEMORY, document, found, index_of, open, writer};
use crate::keyword::{KeywordError, KeywordIndex, KeywordWriter};
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn there_is_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let first = writer(folder.path());
    let second = KeywordWriter::open_or_create(folder.path(), MEMORY, 1);
    assert!(matches!(second, Err(KeywordError::Locked { .. })));
    drop(first);
    assert!(KeywordWriter::open_or_create(folder.path(), MEMORY, 1).is_ok());
}

#[test]
fn a_reader_sees_commits_when_it_looks() {
    let (folder, index) = index_of(&[document(0, "first")]);
    assert_eq!(index.note(), "a note");
    let copy = index.clone();
    let mut writer = writer(folder.path());
    writer.add(&document(1, "second")).unwrap();
    index.reload().unwrap();
    assert!(found(&index, "second").is_empty(), "not committed");
    writer.commit("another\nnote").unwrap();
    assert!(found(&index, "second").is_empty(), "not reloaded");
    index.reload().unwrap();
    assert_eq!(found(&copy, "second"), [1], "copies see the same");
    assert_eq!(copy.note(), "another\nnote");
}

#[test]
fn nothing_there_is_none_and_no_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(KeywordIndex::open(folder.path()).unwrap().is_none());
    assert!(KeywordIndex::open(&folder.path().join("not/there")).unwrap().is_none());
    std::fs::write(folder.path().join("other.txt"), "x").unwrap();
    assert!(KeywordIndex::open(folder.path()).unwrap().is_none());
    drop(writer(folder.path()));
    let index = open(folder.path());
    assert_eq!((index.note().as_str(), index.count().unwrap()), ("", 0));
}

#[test]
fn what_was_not_committed_is_gone() {
    let (folder, index) = index_of(&[document(0, "kept")]);
    let mut dying = writer(folder.path());
    (1..200).for_each(|n| dying.put(&document(n, "lost")).unwrap());
    dying.delete_key(&document(0, "").key);
    drop(dying);
    index.reload().unwrap();
    assert_eq!((index.count().unwrap(), index.note().as_str()), (1, "a note"));
    let mut writer = writer(folder.path());
    writer.put(&document(1, "new")).unwrap();
    writer.commit("next").unwrap();
    index.reload().unwrap();
    assert_eq!(found(&index, "kept lost new").len(), 2);
}

#[test]
fn an_empty_commit_moves_the_note() {
    let (folder, index) = index_of(&[document(0, "x")]);
    writer(folder.path()).commit("moved").unwrap();
    index.reload().unwrap();
    assert_eq!(index.note(), "moved");
}

#[test]
fn absurd_memory_and_threads_are_bounded() {
    for (memory, threads) in [(0, 0), (1, 1000), (usize::MAX, 2), (100_000_000, 3)] {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = KeywordWriter::open_or_create(folder.path(), memory, threads).unwrap();
        writer.add(&document(0, "x")).unwrap();
        writer.commit("").unwrap();
        assert_eq!(open(folder.path()).count().unwrap(), 1, "{memory} {threads}");
    }
}

#[test]
fn merging_keeps_everything_and_the_note() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    for n in 0..30 {
        writer.put(&document(n, "text")).unwrap();
        writer.commit(&n.to_string()).unwrap();
    }
    writer.wait_merges().unwrap();
    let index = open(folder.path());
    assert!(index.segments() < 30, "{}", index.segments());
    assert_eq!((index.count().unwrap(), index.note().as_str()), (30, "29"));
    assert!(index.size_bytes().unwrap() > 1000);
    assert!(index.broken_files().unwrap().is_empty());
}

/// The note and the documents that are seen together are of one commit, while another thread commits without a pause.
#[test]
fn note_and_documents_are_of_one_commit() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    let index = open(folder.path());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..40 {
                writer.put(&document(n, "text")).unwrap();
                writer.commit(&(n + 1).to_string()).unwrap();
            }
            done.store(true, Ordering::Release);
        });
        let mut seen = 0;
        while seen < 40 {
            let last = done.load(Ordering::Acquire);
            index.reload().unwrap();
            let before: u64 = index.note().parse().unwrap_or(0);
            let count = index.count().unwrap();
            assert_eq!(count, before);
            assert!(count >= seen);
            seen = count;
            assert!(!last || seen == 40, "the last commit is not seen");
        }
    });
}

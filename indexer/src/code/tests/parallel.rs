//! Several at once: an update that is running, the agent's own writes, readers, and another process.

use super::{Place, assert_like_new, documents, go_on, paths, update};
use crate::code::output::Batches;
use crate::code::{CodeError, CodeIndex};
use crate::document::DocumentKind;
use crate::keyword::KeywordWriter;
use std::fs;
use std::ops::ControlFlow;
use std::time::Duration;

/// A commit every five files or so.
const FEW_FILES: Batches = Batches { every: Duration::from_secs(3_600), text_bytes: 60 };

fn with_files(count: usize) -> Place {
    let place = Place::new();
    for file in 0..count {
        place.write(&format!("d{}/f{file}.rs", file % 10), format!("fn f{file}() {{}}\n"));
    }
    place
}

fn in_small_batches(place: &Place) -> CodeIndex {
    place.index().with_batches(FEW_FILES)
}

#[test]
fn what_is_done_can_be_searched_meanwhile() {
    let place = with_files(60);
    let index = in_small_batches(&place);
    let mut seen = Vec::new();
    let report = index
        .update(&mut |progress| {
            if let Some(keyword) = index.keyword().unwrap() {
                let found = keyword.documents_between(0..=0, &[DocumentKind::Code]).unwrap().len() as u64;
                assert!(found <= progress.chunks);
                seen.push(found);
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(report.files, 60);
    assert!(seen.iter().any(|count| (1..60).contains(count)), "{seen:?}");
    assert!(seen.is_sorted(), "{seen:?}");
}

#[test]
fn an_update_that_is_ended_keeps_what_it_did_and_the_next_goes_on() {
    let place = with_files(80);
    let index = in_small_batches(&place);
    let end_early = |read: u64| {
        move |progress: &crate::code::CodeProgress| {
            if progress.read >= read { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    };
    let first = index.update(&mut end_early(20)).unwrap();
    assert!(first.cancelled && first.indexed >= 20 && first.indexed < 80, "{first:?}");
    assert_eq!(documents(&index).len() as u64, first.indexed);
    // Nothing is taken for deleted because the walk did not come to it.
    let second = index.update(&mut end_early(10)).unwrap();
    assert_eq!(second.removed, 0);
    let third = update(&index);
    assert!(!third.cancelled);
    assert_eq!(first.indexed + second.indexed + third.indexed, 80, "nothing is done twice");
    assert_like_new(&index, &place.root());
}

#[test]
fn own_writes_come_first_while_an_update_is_running() {
    let place = with_files(150);
    let index = in_small_batches(&place);
    let (mut wrote, mut seen_at) = (false, None);
    let report = index
        .update(&mut |progress| {
            if progress.read >= 5 && !wrote {
                wrote = true;
                place.write("own.rs", "fn own_write() {}\n");
                assert!(index.touch(["own.rs"]).unwrap().deferred);
            } else if wrote && seen_at.is_none() {
                let keyword = index.keyword().unwrap().unwrap();
                seen_at = keyword.by_key("code/own.rs#1").unwrap().map(|_| progress.read);
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(seen_at.is_some_and(|read| read < 60), "{seen_at:?} of {}", report.read);
    assert_like_new(&index, &place.root());
}

#[test]
fn a_file_that_is_deleted_while_it_is_being_indexed_is_gone() {
    let place = with_files(100);
    let index = in_small_batches(&place);
    let mut deleted = false;
    index
        .update(&mut |progress| {
            if progress.read >= 3 && !deleted {
                deleted = true;
                fs::remove_dir_all(place.path("d3")).unwrap();
                assert!(index.touch(["d3"]).unwrap().deferred);
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(!paths(&index).iter().any(|path| path.starts_with("d3/")), "{:?}", paths(&index));
    assert_like_new(&index, &place.root());
}

#[test]
fn touches_from_many_threads_all_arrive() {
    let place = with_files(10);
    let index = place.index();
    update(&index);
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let (place, index) = (&place, &index);
            threads.spawn(move || {
                for round in 0..5 {
                    let path = format!("t{thread}/r{round}.rs");
                    place.write(&path, format!("fn t{thread}_{round}() {{}}\n"));
                    index.touch([path]).unwrap();
                }
            });
        }
    });
    assert_like_new(&index, &place.root());
    assert_eq!(documents(&index).len(), 30);
}

#[test]
fn another_process_that_writes_is_said_and_its_work_is_seen() {
    let place = with_files(5);
    let index = place.index();
    update(&index);
    let writer = KeywordWriter::open_or_create(&index.keyword_folder(), 15_000_000, 1).unwrap();
    assert!(matches!(index.update(&mut go_on), Err(CodeError::Busy { .. })));
    assert!(matches!(index.touch(["x.rs"]), Err(CodeError::Busy { .. })));
    assert_eq!(documents(&index).len(), 5);
    drop(writer);
    // What another one has indexed meanwhile is not indexed again.
    place.write("new.rs", "fn new() {}\n");
    assert_eq!(update(&place.index()).indexed, 1);
    assert_eq!(update(&index).indexed, 0);
    assert_like_new(&index, &place.root());
}

#[test]
fn a_workspace_that_is_gone_is_an_error_and_deletes_nothing() {
    let place = with_files(5);
    let index = place.index();
    update(&index);
    fs::rename(place.root(), place.dir.path().join("moved")).unwrap();
    let error = CodeIndex::open(&place.dir.path().join("index"), &place.root()).err().unwrap();
    assert!(matches!(error, CodeError::Workspace { .. }));
    assert!(error.to_string().starts_with("cannot open the workspace "), "{error}");
    assert_eq!(documents(&index).len(), 5);
}

//! What an update writes, and what it leaves alone.

use super::{Place, assert_like_new, documents, paths, update};
use crate::code::{CodeChanges, CodeIndex};
use crate::query::{Filter, Query};
use retrace_events::Timestamp;
use std::fs::{self, File, FileTimes};
use std::time::{Duration, SystemTime};

/// Makes a file look as if it had been written long ago, so that its stamp proves something.
fn age(place: &Place, path: &str, seconds: u64) {
    let time = SystemTime::now() - Duration::from_secs(seconds);
    let file = File::options().append(true).open(place.path(path)).unwrap();
    file.set_times(FileTimes::new().set_modified(time)).unwrap();
}

#[test]
fn a_document_says_where_it_stands() {
    let place = Place::new();
    place.write("src/log.rs", "//! A log.\n\n/// Appends.\nfn append() {}\n");
    let report = update(&place.index());
    assert_eq!((report.files, report.indexed, report.chunks), (1, 1, 1));
    let found = documents(&place.index());
    let [document] = &found[..] else { panic!("{found:?}") };
    assert_eq!(document.key, "code/src/log.rs#1");
    assert_eq!(document.paths, ["src/log.rs"]);
    assert_eq!(document.symbol.as_deref(), Some("append"));
    assert_eq!((document.first_line, document.last_line), (1, 4));
    assert_eq!(document.workspace, place.root().to_str().unwrap());
    let modified = fs::metadata(place.path("src/log.rs")).unwrap().modified().unwrap();
    let modified_ms = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    assert_eq!(u128::try_from(document.at_ms).unwrap(), modified_ms);
    assert!(document.text.contains("/// Appends."));
}

#[test]
fn it_is_found_by_words_parts_of_names_and_paths() {
    let place = Place::new();
    place.write("src/follow.rs", "fn read_newest_events() {\n    warn(\"nothing to follow\");\n}\n");
    place.write("docs/guide.md", "# Guide\n\nHow to install it.\n");
    let index = place.index();
    update(&index);
    let keyword = index.keyword().unwrap().unwrap();
    for (words, expected) in [
        ("newest", "code/src/follow.rs#1"),
        ("\"nothing to follow\"", "code/src/follow.rs#1"),
        ("install kind:code", "code/docs/guide.md#1"),
        ("install path:docs", "code/docs/guide.md#1"),
    ] {
        let hits = keyword.search(&Query::parse(words, Timestamp(0)), &Filter::default(), 5).unwrap();
        assert_eq!(hits.first().map(|hit| hit.key.as_str()), Some(expected), "{words}");
    }
}

#[test]
fn only_what_was_changed_is_read_again() {
    let place = Place::new();
    for file in 0..40 {
        place.write(&format!("f{file}.rs"), format!("fn f{file}() {{}}\n"));
        age(&place, &format!("f{file}.rs"), 100);
    }
    let index = place.index();
    assert_eq!(update(&index).read, 40);
    place.write("f7.rs", "fn changed() {}\n");
    let report = update(&index);
    assert_eq!((report.indexed, report.chunks, report.files), (1, 1, 40));
    assert_like_new(&index, &place.root());
}

#[test]
fn a_new_process_knows_what_was_indexed() {
    let place = Place::new();
    place.write("a.rs", "fn a() {}\n");
    let first = update(&place.index());
    place.write("b.rs", "fn b() {}\n");
    let report = update(&place.index());
    assert_eq!((report.indexed, report.files, report.generation), (1, 2, first.generation + 1));
}

#[test]
fn a_change_of_the_same_size_in_the_same_moment_is_seen() {
    let place = Place::new();
    let index = place.index();
    for round in 0..10 {
        place.write("a.rs", format!("fn a{round}() {{}}\n"));
        update(&index);
        assert!(documents(&index)[0].text.contains(&format!("a{round}")), "round {round}");
    }
}

#[test]
fn a_change_that_hides_behind_the_old_time_and_size_is_seen() {
    let place = Place::new();
    place.write("a.rs", "fn one() {}\n");
    let time = SystemTime::now() - Duration::from_secs(1_000);
    let set = |place: &Place| {
        File::options().append(true).open(place.path("a.rs")).unwrap().set_modified(time).unwrap();
    };
    set(&place);
    let index = place.index();
    update(&index);
    place.write("a.rs", "fn two() {}\n");
    set(&place);
    assert_eq!(update(&index).indexed, 1);
    assert!(documents(&index)[0].text.contains("two"));
}

#[test]
fn a_file_with_a_new_time_only_keeps_its_generation() {
    let place = Place::new();
    place.write("a.rs", "fn a() {}\n");
    let index = place.index();
    let first = update(&index);
    age(&place, "a.rs", 5_000);
    let second = update(&index);
    assert!(second.generation > first.generation, "its documents have a new time");
    assert_like_new(&index, &place.root());
    assert!(index.changed_since(first.generation).unwrap().changed.is_empty());
}

#[test]
fn what_is_written_through_links_is_found_where_it_is() {
    let place = Place::new();
    place.write("real/a.rs", "fn old() {}\n");
    std::os::unix::fs::symlink("real", place.path("folder")).unwrap();
    std::os::unix::fs::symlink("real/a.rs", place.path("file.rs")).unwrap();
    let index = place.index();
    update(&index);
    for (path, text) in [("folder/a.rs", "fn through_a_folder() {}\n"), ("file.rs", "fn through_a_link() {}\n")] {
        fs::write(place.path(path), text).unwrap();
        index.touch([path]).unwrap();
        assert_eq!(documents(&index).iter().map(|found| found.text.as_str()).collect::<Vec<_>>(), [text], "{path}");
        assert_like_new(&index, &place.root());
    }
}

#[test]
fn renamed_deleted_and_replaced_files_leave_nothing_behind() {
    let place = Place::new();
    place.write("a/one.rs", "fn one() {}\n");
    place.write("a/two.rs", "fn two() {}\n");
    place.write("three.rs", "fn three() {}\n");
    let index = place.index();
    update(&index);
    fs::rename(place.path("a"), place.path("b")).unwrap();
    fs::remove_file(place.path("three.rs")).unwrap();
    fs::create_dir(place.path("three.rs")).unwrap();
    place.write("three.rs/inner.rs", "fn inner() {}\n");
    let report = update(&index);
    assert_eq!(report.removed, 3);
    assert_eq!(paths(&index), ["b/one.rs", "b/two.rs", "three.rs/inner.rs"]);
    assert_like_new(&index, &place.root());
}

#[test]
fn who_follows_the_index_hears_what_is_new_and_what_is_gone() {
    let place = Place::new();
    place.write("a.rs", "fn a() {}\n");
    place.write("b.rs", "fn b() {}\n");
    let index = place.index();
    let first = update(&index).generation;
    let all = |changed: &[&str], gone: &[&str], generation| CodeChanges {
        generation,
        changed: changed.iter().map(|path| (*path).to_owned()).collect(),
        gone: gone.iter().map(|path| (*path).to_owned()).collect(),
        is_complete: true,
    };
    let everything = CodeChanges { is_complete: false, ..all(&["a.rs", "b.rs"], &[], first) };
    assert_eq!(index.changed_since(0).unwrap(), everything);
    place.write("a.rs", "fn changed() {}\n");
    fs::remove_file(place.path("b.rs")).unwrap();
    let second = update(&index).generation;
    assert_eq!(index.changed_since(first).unwrap(), all(&["a.rs"], &["b.rs"], second));
    assert_eq!(index.changed_since(second).unwrap(), all(&[], &[], second));
    place.write("a.rs", b"\0\0");
    let third = update(&index).generation;
    assert_eq!(index.changed_since(second).unwrap(), all(&[], &["a.rs"], third));
    // Numbers from an index that was thrown away, or never was, ask for everything.
    std::fs::remove_dir_all(index.keyword_folder()).unwrap();
    update(&place.index());
    for other in [first, second, third + 1_000_000_000] {
        let changes = index.changed_since(other).unwrap();
        assert_eq!((changes.is_complete, changes.changed.len()), (false, 0), "{other}");
    }
}

#[test]
fn the_documents_of_a_file_are_had_in_order() {
    let place = Place::new();
    let text: String = (0..40).map(|i| format!("fn f{i}() {{\n{}}}\n\n", "    call();\n".repeat(40))).collect();
    place.write("a.rs", &text);
    let index = place.index();
    update(&index);
    let keyword = index.keyword().unwrap().unwrap();
    let documents = CodeIndex::documents(&keyword, "a.rs").unwrap();
    assert!(documents.len() >= 40);
    assert_eq!(documents.iter().map(|it| it.text.as_str()).collect::<String>(), text);
    assert!(CodeIndex::documents(&keyword, "b.rs").unwrap().is_empty());
}

#[test]
fn many_small_commits_leave_few_records_and_forget_nothing() {
    let place = Place::new();
    let index = place.index();
    for round in 0..75 {
        place.write(&format!("f{}.rs", round % 7), format!("fn f{round}() {{}}\n"));
        index.touch([format!("f{}.rs", round % 7)]).unwrap();
    }
    let records = index.keyword().unwrap().unwrap().records("files/").unwrap();
    assert!(records.len() < 75, "{} records", records.len());
    let reopened = place.index();
    assert_like_new(&reopened, &place.root());
    assert_eq!(reopened.changed_since(0).unwrap().changed.len(), 7);
}

//! What is remembered of a file, and what that proves.

use super::{Place, assert_like_new, update};
use crate::code::file_record::FileRecord;
use crate::code::root::FileStamp;
use crate::keyword::KeywordWriter;

const SECOND: i64 = 1_000_000_000;

fn stamp(size_bytes: u64, changed_ns: i64) -> FileStamp {
    FileStamp { size_bytes, modified_ns: 50 * SECOND, changed_ns }
}

#[test]
fn a_stamp_proves_something_only_when_it_is_old_enough() {
    let seen = stamp(10, 100 * SECOND);
    let read_at = |seconds: i64| FileRecord::new(seen, 7, seconds * SECOND);
    assert!(read_at(103).is_current(seen));
    assert!(!read_at(101).is_current(seen), "it may have been written again in the same moment");
    assert!(!read_at(90).is_current(seen), "a clock that goes backwards proves nothing");
    for other in [stamp(11, 100 * SECOND), stamp(10, 100 * SECOND + 1), FileStamp { modified_ns: 0, ..seen }] {
        assert!(!read_at(200).is_current(other), "{other:?}");
    }
    assert!(!read_at(200).of_version(0).is_current(seen), "another chunker");
}

#[test]
fn documents_are_the_same_when_content_and_time_are() {
    let record = |hash, modified_ns| FileRecord::new(FileStamp { modified_ns, ..stamp(10, 0) }, hash, 0);
    let one = record(u128::MAX, 5_000_000);
    assert!(one.has_same_documents(&record(u128::MAX, 5_999_999)), "documents know milliseconds");
    assert!(!one.has_same_documents(&record(u128::MAX, 6_000_000)));
    assert!(one.has_same_content(&record(u128::MAX, 6_000_000)));
    assert!(!one.has_same_content(&record(1, 5_000_000)));
    assert!(!one.has_same_content(&record(u128::MAX, 5_000_000).of_version(0)));
    let text = serde_json::to_string(&one).unwrap();
    assert_eq!(serde_json::from_str::<FileRecord>(&text).unwrap(), one);
}

#[test]
fn files_of_an_older_chunker_are_chunked_again() {
    let place = Place::new();
    for file in 0..5 {
        place.write(&format!("f{file}.rs"), format!("fn f{file}() {{}}\n"));
    }
    let index = place.index();
    update(&index);
    let keyword = index.keyword().unwrap().unwrap();
    let mut writer = KeywordWriter::open_or_create(&index.keyword_folder(), 15_000_000, 1).unwrap();
    for (key, value) in keyword.records("files/").unwrap() {
        let older = String::from_utf8(value).unwrap().replace("\"v\":1", "\"v\":0");
        assert!(older.contains("\"v\":0"));
        writer.put_record(&key, older.as_bytes()).unwrap();
    }
    writer.commit(&keyword.note()).unwrap();
    drop(writer);
    let index = place.index();
    assert_eq!(update(&index).indexed, 5);
    assert_like_new(&index, &place.root());
}

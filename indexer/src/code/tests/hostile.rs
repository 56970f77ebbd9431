//! Files that nobody should have to read.

use super::{Place, assert_like_new, documents, paths, update};
use crate::code::SkipReason;
use std::fs::{self, File, Permissions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};

#[test]
fn huge_binary_unreadable_and_looping_files_are_skipped_with_a_count() {
    let place = Place::new();
    place.write("good.rs", "fn good() {}\n");
    // One of 1 GB that takes no room, and one line of 50 MB that does.
    let mut huge = File::create(place.path("huge.txt")).unwrap();
    huge.seek(SeekFrom::Start(1 << 30)).unwrap();
    huge.write_all(b"x").unwrap();
    place.write("line.txt", "x".repeat(50 << 20));
    place.write("limit.txt", "just a line of text\n".repeat(52_428));
    place.write("blob.rs", b"fn a() {}\0\0");
    place.write("odd.rs", [0xff_u8, 0xfe, 0xfd, b'\n'].repeat(100));
    place.write("bundle.min.js", "x");
    symlink("..", place.path("loop")).unwrap();
    place.write("closed/inner.rs", "fn inner() {}\n");
    fs::set_permissions(place.path("closed"), Permissions::from_mode(0o000)).unwrap();
    let index = place.index();
    let report = update(&index);
    fs::set_permissions(place.path("closed"), Permissions::from_mode(0o700)).unwrap();
    let count = |reason| report.skipped.0.get(&reason).copied().unwrap_or_default();
    assert_eq!(count(SkipReason::TooLarge), 2);
    assert_eq!(count(SkipReason::Binary), 1);
    assert_eq!(count(SkipReason::NotUtf8), 1);
    assert_eq!(count(SkipReason::Minified), 1);
    assert_eq!(count(SkipReason::Link), 1);
    // Whoever runs the tests as root may read everything.
    let expected: &[&str] = if rustix::process::geteuid().is_root() {
        &["closed/inner.rs", "good.rs", "limit.txt"]
    } else {
        assert_eq!(count(SkipReason::Unreadable), 1);
        &["good.rs", "limit.txt"]
    };
    assert_eq!(paths(&index), expected);
}

#[test]
fn secrets_in_code_do_not_get_into_the_index() {
    let place = Place::new();
    let key = format!("sk-ant-{}", "a1B2c3D4".repeat(6));
    place.write("config.py", format!("API_KEY = \"{key}\"\nname = \"kept\"\n"));
    place.write(".env", format!("API_KEY={key}\n"));
    let index = place.index();
    update(&index);
    let found = documents(&index);
    assert_eq!(found.len(), 1);
    assert!(found[0].text.contains("kept") && !found[0].text.contains(&key), "{}", found[0].text);
}

#[test]
fn a_folder_that_becomes_a_link_is_not_read_through_it() {
    let place = Place::new();
    place.write("a/b.rs", "fn b() {}\n");
    place.write("../outside/b.rs", "fn stolen() {}\n");
    let index = place.index();
    update(&index);
    fs::remove_dir_all(place.path("a")).unwrap();
    symlink("../outside", place.path("a")).unwrap();
    index.touch(["a/b.rs", "a"]).unwrap();
    assert!(documents(&index).is_empty());
    assert_like_new(&index, &place.root());
}

#[test]
fn paths_from_outside_are_nothing_to_us() {
    let place = Place::new();
    place.write("a.rs", "fn a() {}\n");
    place.write("../outside.rs", "fn outside() {}\n");
    let index = place.index();
    update(&index);
    let outside = place.root().join("../outside.rs");
    let report = index.touch(["../outside.rs", "/etc/passwd", outside.to_str().unwrap()]).unwrap();
    assert_eq!(report.read, 0);
    assert_eq!(paths(&index), ["a.rs"]);
}

#[test]
fn an_index_inside_its_workspace_does_not_index_itself() {
    let place = Place::new();
    place.write("a.rs", "fn a() {}\n");
    place.write("state/notes.txt", "what retrace keeps\n");
    let folder = place.path("deep/state/index");
    let index = crate::code::CodeIndex::open(&folder, &place.root()).unwrap().leaving_out(&[place.path("state")]);
    update(&index);
    place.write("deep/state/index/readable.txt", "text\n");
    update(&index);
    assert_eq!(paths(&index), ["a.rs"]);
}

//! Files by their paths, and how many are remembered.

use super::super::files::KnownFiles;
use super::super::happening::{FilePath, Hit, Replacement, View};
use super::known;

fn path(name: &str) -> FilePath {
    FilePath { known: name.to_owned(), shown: format!("/work/here/{name}") }
}

fn read(files: &mut KnownFiles, name: &str, lines: &[&str], at: u64) {
    files.read(&path(name), &[View { first: 1, lines: lines.to_vec() }], true, at);
}

fn names(files: &KnownFiles) -> Vec<&str> {
    files.iter().map(|(path, _)| path).collect()
}

fn hit(path: &'static str, number: u32, text: &'static str) -> Hit<'static> {
    Hit { path, number, text }
}

#[test]
fn the_least_recently_touched_go_first() {
    let mut files = KnownFiles::default();
    for n in 0..520_u64 {
        read(&mut files, &format!("f{n:04}"), &["x"], n + 1);
        // One of them is used all the time.
        files.touch(&path("f0000"), n + 1);
    }
    assert_eq!(files.iter().count(), 500);
    let names = names(&files);
    assert!(names.contains(&"f0000") && !names.contains(&"f0001") && !names.contains(&"f0020"));
    assert!(names.contains(&"f0021") && names.contains(&"f0519"));
}

#[test]
fn so_much_text_is_kept_and_no_more() {
    let mut files = KnownFiles::default();
    let line = "y".repeat(1_900);
    let lines: Vec<&str> = std::iter::repeat_n(line.as_str(), 1_000).collect();
    for n in 0..20_u64 {
        read(&mut files, &format!("f{n:02}"), &lines, n + 1);
    }
    assert!(
        files.bytes() <= 12 * 1024 * 1024 && files.iter().count() >= 5,
        "{} in {}",
        files.bytes(),
        files.iter().count()
    );
    assert!(names(&files).contains(&"f19") && !names(&files).contains(&"f00"));
}

#[test]
fn a_hit_belongs_to_the_file_whose_path_ends_so() {
    let mut files = KnownFiles::default();
    read(&mut files, "src/one/main.rs", &["a", "b"], 1);
    let hits = [
        hit("one/main.rs", 2, "B"),
        hit("/work/here/src/one/main.rs", 3, "c"),
        hit("ne/main.rs", 1, "other"),
        hit("src", 1, "a folder"),
        hit("new.rs", 7, "seven"),
        hit("new.rs", 8, "eight"),
    ];
    files.found(&hits, "src/two.rs", &str::to_owned, 2);
    assert_eq!(names(&files), ["ne/main.rs", "new.rs", "src/one/main.rs"]);
    let file = |name| files.iter().find(|(path, _)| *path == name).unwrap().1;
    assert_eq!(known(file("src/one/main.rs")), [(1, "a"), (2, "B"), (3, "c")]);
    assert_eq!(known(file("new.rs")), [(7, "seven"), (8, "eight")]);
    // Found is not touched.
    assert_eq!((file("new.rs").touched, file("src/one/main.rs").touched), (0, 1));
    assert_eq!(file("src/one/main.rs").shown, "/work/here/src/one/main.rs");
}

#[test]
fn hits_without_a_path_are_in_the_place_that_was_searched() {
    let mut files = KnownFiles::default();
    files.found(&[hit("", 3, "three")], "src/two.rs", &str::to_owned, 2);
    files.found(&[hit("", 4, "four")], "src/folder", &str::to_owned, 3);
    assert_eq!(names(&files), ["src/two.rs"]);
}

#[test]
fn an_edit_whose_text_is_not_known_is_placed_by_what_was_shown() {
    let mut files = KnownFiles::default();
    let shown = View { first: 40, lines: vec!["forty"] };
    files.read(&path("a.rs"), &[shown], false, 1);
    let edit = |old: &str, new: &str| [Replacement { old: old.to_owned(), new: new.to_owned(), every: false }];
    let view = View { first: 9, lines: vec!["before", "new one", "new two", "behind"] };
    files.edit(&path("a.rs"), &edit("gone", "new one\nnew two"), &[view], 2);
    let (_, file) = files.iter().next().unwrap();
    assert_eq!(known(file), [(9, "before"), (10, "new one"), (11, "new two"), (12, "behind"), (41, "forty")]);
    let wrote: Vec<u64> = file.lines().iter().map(|line| line.wrote).collect();
    assert_eq!((wrote, file.writes), (vec![0, 2, 2, 0, 0], 1));
    // Nothing says where: the new text is known, but not its place.
    files.edit(&path("a.rs"), &edit("gone too", "somewhere"), &[], 3);
    let (_, file) = files.iter().next().unwrap();
    assert_eq!((file.lines().len(), file.loose().len()), (5, 1));
}

#[test]
fn what_is_written_is_all_there_is() {
    let mut files = KnownFiles::default();
    read(&mut files, "a.rs", &["old", "older", "oldest"], 1);
    files.write(&path("a.rs"), "new\r\nnewer\n", 2);
    let (_, file) = files.iter().next().unwrap();
    assert_eq!(known(file), [(1, "new"), (2, "newer"), (3, "")]);
    assert!(file.lines()[1].wrote == 2 && file.touched == 2);
    files.forget(&path("a.rs"), 3);
    assert!(files.iter().next().unwrap().1.lines().is_empty());
}

#[test]
fn strange_paths_are_no_files() {
    let mut files = KnownFiles::default();
    for name in ["", "a\nb", "a\0b", &"x".repeat(2_000)] {
        read(&mut files, name, &["x"], 1);
        files.write(&path(name), "x", 1);
    }
    assert_eq!(files.iter().count(), 0);
}

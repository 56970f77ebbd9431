//! After any changes, an index that was brought up to date equals one that is built from nothing.

use super::{Place, assert_like_new, update};
use crate::code::CodeIndex;
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::symlink;

/// Few names, so that things meet: files and folders, with and without meaning.
const PATHS: [&str; 10] = [
    "a.rs",
    "b.py",
    "dir/a.rs",
    "dir/c.md",
    "dir/deep/d.ts",
    "dir/deep",
    "other",
    "other/e.sh",
    "data.bin",
    "dir/x.log",
];
const CONTENTS: [&[u8]; 8] = [
    b"fn a() {}\n",
    b"def b():\n    pass\n\n\nclass C:\n    def d(self):\n        return 1\n",
    b"# Title\n\nText.\n",
    b"",
    b"\0binary",
    b"f() {\n  :\n}\n",
    b"// @generated\n",
    b"\n\n\n",
];
const RULES: [&str; 4] = ["", "*.log\n", "dir/\n", "deep\n!d.ts\n"];

#[derive(Debug, Clone)]
enum Step {
    Write(usize, usize),
    Remove(usize),
    Rename(usize, usize),
    Link(usize, usize),
    Rules(usize),
    /// The agent says what it wrote, which is everything since.
    Touch,
    Update,
    /// Another process goes on.
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let path = || 0..PATHS.len();
    prop_oneof![
        6 => (path(), 0..CONTENTS.len()).prop_map(|(path, content)| Step::Write(path, content)),
        2 => path().prop_map(Step::Remove),
        2 => (path(), path()).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => (path(), path()).prop_map(|(from, to)| Step::Link(from, to)),
        1 => (0..RULES.len()).prop_map(Step::Rules),
        3 => Just(Step::Touch),
        2 => Just(Step::Update),
        1 => Just(Step::Reopen),
    ]
}

fn remove(place: &Place, path: &str) {
    let path = place.path(path);
    let _ = if path.is_dir() && !path.is_symlink() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

/// Does one step; what cannot be done (a file below a file) is not done.
fn take(place: &Place, index: &mut CodeIndex, touched: &mut Vec<String>, step: &Step) {
    match step {
        Step::Write(path, content) => {
            let path = place.path(PATHS[*path]);
            let _ = fs::create_dir_all(path.parent().unwrap());
            let _ = fs::write(path, CONTENTS[*content]);
        }
        Step::Remove(path) => remove(place, PATHS[*path]),
        Step::Rename(from, to) => {
            let _ = fs::rename(place.path(PATHS[*from]), place.path(PATHS[*to]));
        }
        Step::Link(from, to) => {
            remove(place, PATHS[*to]);
            let _ = symlink(place.path(PATHS[*from]), place.path(PATHS[*to]));
        }
        Step::Rules(rules) => {
            place.write(".gitignore", RULES[*rules]);
            update(index);
        }
        Step::Touch => {
            index.touch(&*touched).unwrap();
            touched.clear();
        }
        Step::Update => drop(update(index)),
        Step::Reopen => *index = place.index(),
    }
    if let Step::Write(path, _) | Step::Remove(path) = step {
        touched.push(PATHS[*path].to_owned());
    }
    if let Step::Rename(from, to) | Step::Link(from, to) = step {
        touched.extend([PATHS[*from].to_owned(), PATHS[*to].to_owned()]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn it_equals_a_clean_one(steps in prop::collection::vec(step(), 1..25), ends_with_touch in any::<bool>()) {
        let place = Place::new();
        let mut index = place.index();
        update(&index);
        let mut touched = Vec::new();
        for step in &steps {
            take(&place, &mut index, &mut touched, step);
        }
        if ends_with_touch {
            index.touch(&touched).unwrap();
        } else {
            update(&index);
        }
        assert_like_new(&index, &place.root());
    }
}

#[test]
fn rules_that_change_add_and_remove_files() {
    let place = Place::new();
    for path in ["a.rs", "out/b.rs", "out/keep/c.rs"] {
        place.write(path, "fn f() {}\n");
    }
    let index = place.index();
    update(&index);
    for rules in ["out/\n", "", "*.rs\n!c.rs\n", "out/*\n!out/keep/\n"] {
        place.write(".gitignore", rules);
        update(&index);
        assert_like_new(&index, &place.root());
    }
}

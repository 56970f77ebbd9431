//! Bringing a folder to a snapshot where things have become things of another kind, names are long, and folders are closed.

use super::{Bench, BringOptions, assert_same, chmod, names, survey};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Every kind of thing that may stand at a path.
const KINDS: [&str; 7] = ["nothing", "file", "other file", "link", "empty folder", "folder", "deep folder"];

fn make(path: &Path, kind: &str) {
    match kind {
        "nothing" => {}
        "link" => symlink("nowhere", path).unwrap(),
        "empty folder" => fs::create_dir(path).unwrap(),
        "folder" => {
            fs::create_dir(path).unwrap();
            fs::write(path.join("file"), "in a folder").unwrap();
            symlink("file", path.join("link")).unwrap();
        }
        "deep folder" => {
            fs::create_dir_all(path.join("file/deeper")).unwrap();
            fs::write(path.join("file/deeper/file"), "far down").unwrap();
            chmod(&path.join("file"), 0o750);
        }
        contents => fs::write(path, contents).unwrap(),
    }
}

fn clear(dir: &Path) {
    for name in names(dir) {
        let path = dir.join(name);
        if path.symlink_metadata().unwrap().is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
            .unwrap();
    }
}

/// From each kind to each other one, at two paths at once, so that one may be in the other's way.
#[test]
fn each_kind_of_thing_becomes_each_other_one() {
    let bench = Bench::new();
    let mut kept = Vec::new();
    for at_a in KINDS {
        for at_b in ["nothing", "file", "folder"] {
            clear(&bench.work());
            make(&bench.work().join("a"), at_a);
            make(&bench.work().join("b"), at_b);
            kept.push((format!("{at_a}, {at_b}"), bench.take().tree, survey(&bench.work())));
        }
    }
    // A way that comes from each to each other one: in steps of every width around the circle.
    let mut now = kept.len() - 1;
    for step in (1..kept.len()).chain([5, 11, 2, 19]) {
        let next = (now + step) % kept.len();
        let (name, tree, expected) = &kept[next];
        let how = BringOptions { expected: Some(kept[now].1), force: false };
        let brought = bench.store.bring(tree, &bench.work(), &bench.options, how).unwrap();
        assert_same(&survey(&bench.work()), expected, &format!("from {} to {name}", kept[now].0));
        assert_eq!((brought.after, brought.put_aside.len()), (*tree, 0));
        now = next;
    }
}

/// A folder that nobody may write to is opened for as long as that takes, and closed again, also when it fails.
#[test]
fn closed_folders_are_changed_and_stay_closed() {
    let bench = Bench::new();
    bench.write("shut/inner/file", "one");
    bench.write("shut/gone", "one");
    for (path, mode) in [("shut/inner", 0o500), ("shut", 0o555)] {
        chmod(&bench.work().join(path), mode);
    }
    let (one, was) = (bench.take().tree, survey(&bench.work()));
    super::operations::open_up(&bench.work());
    bench.write("shut/inner/file", "two");
    bench.write("shut/inner/more", "two");
    fs::remove_file(bench.work().join("shut/gone")).unwrap();
    for (path, mode) in [("shut/inner", 0o555), ("shut", 0o500)] {
        chmod(&bench.work().join(path), mode);
    }
    let (two, is) = (bench.take().tree, survey(&bench.work()));
    for (tree, expected) in [(one, &was), (two, &is), (one, &was), (two, &is)] {
        bench.store.bring(&tree, &bench.work(), &bench.options, BringOptions::default()).unwrap();
        assert_same(&survey(&bench.work()), expected, "brought");
    }
    bench.database().execute("DELETE FROM objects WHERE kind = 1", []).unwrap();
    chmod(&bench.work().join("shut/inner"), 0o700);
    let before = survey(&bench.work());
    let error = bench.store.bring(&one, &bench.work(), &bench.options, BringOptions::default()).unwrap_err();
    assert!(matches!(error, super::SnapshotError::Missing { .. }), "{error}");
    assert_same(&survey(&bench.work()), &before, "after the error");
    super::operations::open_up(bench.dir.path());
}

/// The longest names there are, also where they are put aside.
#[test]
fn the_longest_names_are_brought_and_put_aside() {
    let bench = Bench::new();
    let long = |end: char| format!("{}{end}", "n".repeat(254));
    let umlauts = "\u{fc}".repeat(127);
    bench.write(&long('a'), "wanted");
    bench.write(&umlauts, "wanted");
    bench.write(&format!("{}/{}", long('b'), long('c')), "wanted");
    let one = bench.take().tree;
    for name in [&long('a'), &umlauts] {
        fs::remove_file(bench.work().join(name)).unwrap();
    }
    fs::remove_dir_all(bench.work().join(long('b'))).unwrap();
    bench.write(".gitignore", format!("{}\n{umlauts}\n{}\n", long('a'), long('b')));
    bench.write(&format!("{}/precious", long('a')), "precious");
    bench.write(&umlauts, "precious");
    bench.write(&long('b'), "precious");
    let brought = bench.store.bring(&one, &bench.work(), &bench.options, BringOptions::default()).unwrap();
    for path in [long('a'), umlauts, format!("{}/{}", long('b'), long('c'))] {
        assert_eq!(fs::read(bench.work().join(path)).unwrap(), b"wanted");
    }
    let mut precious: Vec<_> = survey(&bench.work()).into_values().filter(|(_, bytes)| bytes == b"precious").collect();
    assert_eq!((brought.put_aside.len(), precious.len()), (3, 3));
    precious.dedup();
    assert_eq!(precious.len(), 1);
    assert!(brought.put_aside.iter().all(|path| path.to_str().is_some()), "a name is cut within a letter");
    assert!(names(&bench.work()).iter().all(|name| !name.contains("staging")));
}

/// New folders that are already there, with what no snapshot holds in them, are taken as they are.
#[test]
fn a_new_folder_that_is_there_already_is_taken() {
    let bench = Bench::new();
    bench.write("cache/file", "wanted");
    bench.write("cache/deep/file", "wanted");
    let one = bench.take().tree;
    fs::remove_dir_all(bench.work().join("cache")).unwrap();
    bench.write(".gitignore", "cache/\n");
    bench.write("cache/deep/mine", "precious");
    bench.write("cache/file", "in the way");
    let brought = bench.store.bring(&one, &bench.work(), &bench.options, BringOptions::default()).unwrap();
    for (path, contents) in [("cache/file", "wanted"), ("cache/deep/file", "wanted"), ("cache/deep/mine", "precious")] {
        assert_eq!(fs::read_to_string(bench.work().join(path)).unwrap(), contents, "{path}");
    }
    let [aside] = &brought.put_aside[..] else { panic!("{:?}", brought.put_aside) };
    assert_eq!(fs::read_to_string(bench.work().join(aside)).unwrap(), "in the way");
    assert_eq!(names(&bench.work()), ["cache"]);
}

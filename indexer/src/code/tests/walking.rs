//! What a walk comes across, and what it leaves out.

use super::Place;
use crate::code::SkipReason;
use crate::code::root::WorkspaceRoot;
use crate::code::walk::{Seen, walk};
use rustix::fs::OFlags;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

/// Files and reasons beneath a path, sorted.
fn seen(place: &Place, path: &str) -> (Vec<String>, Vec<SkipReason>) {
    let root = WorkspaceRoot::open(&place.root()).unwrap();
    let (mut files, mut skipped) = (Vec::new(), Vec::new());
    let ended = walk(&root, path, &mut |seen| {
        match seen {
            Seen::File { path, stamp } => {
                assert_eq!(stamp.size_bytes, fs::metadata(place.path(&path)).unwrap().len());
                files.push(path);
            }
            Seen::Skipped(reason) => skipped.push(reason),
            Seen::Folder(_) => {}
            Seen::Unknown(dir) => panic!("{dir} is unknown"),
        }
        ControlFlow::Continue(())
    });
    assert!(ended.is_continue());
    files.sort();
    skipped.sort();
    (files, skipped)
}

fn files(place: &Place) -> Vec<String> {
    seen(place, "").0
}

#[test]
fn rules_of_all_levels_count_and_the_deepest_wins() {
    let place = Place::new();
    place.write(".gitignore", "target/\n*.log\n/only-top\n!keep.log\n# comment\n");
    place.write("sub/.gitignore", "!wanted.log\nsecret-*\n");
    place.write("sub/.ignore", "generated.rs\n");
    place.write(".git/info/exclude", "mine.txt\n");
    for path in [
        "target/a.rs",
        "sub/target/a.rs",
        "a.log",
        "keep.log",
        "only-top",
        "sub/only-top",
        "sub/wanted.log",
        "sub/other.log",
        "sub/secret-x",
        "secret-x",
        "sub/generated.rs",
        "mine.txt",
        "sub/mine.txt",
        "src/a.rs",
    ] {
        place.write(path, "x\n");
    }
    assert_eq!(
        files(&place),
        [
            ".gitignore",
            "keep.log",
            "secret-x",
            "src/a.rs",
            "sub/.gitignore",
            "sub/.ignore",
            "sub/only-top",
            "sub/wanted.log"
        ]
    );
}

#[test]
fn rules_of_the_repository_around_the_workspace_count() {
    let place = Place::new();
    place.write("../.git/HEAD", "ref\n");
    place.write("../.gitignore", "*.tmp\n/workspace/out/\n");
    for path in ["a.tmp", "a.rs", "out/b.rs"] {
        place.write(path, "x\n");
    }
    assert_eq!(files(&place), ["a.rs"]);
}

#[test]
fn folders_of_tools_are_left_out_and_other_hidden_ones_are_not() {
    let place = Place::new();
    for path in
        [".git/config", "node_modules/a.js", "a/__pycache__/b.py", ".venv/c.py", ".github/w.yml", ".editorconfig"]
    {
        place.write(path, "x\n");
    }
    assert_eq!(files(&place), [".editorconfig", ".github/w.yml"]);
}

#[test]
fn links_devices_and_secrets_are_counted_and_not_followed() {
    let place = Place::new();
    place.write("real/a.rs", "x\n");
    symlink(place.root(), place.path("real/loop")).unwrap();
    symlink("/etc/passwd", place.path("passwd")).unwrap();
    symlink("missing", place.path("dangling")).unwrap();
    place.write(".env", "KEY=1\n");
    rustix::fs::mknodat(rustix::fs::CWD, place.path("fifo"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    fs::write(place.root().join(std::ffi::OsStr::from_bytes(b"bad\xff.rs")), "x\n").unwrap();
    let (files, skipped) = seen(&place, "");
    assert_eq!(files, ["real/a.rs"]);
    use SkipReason::{Link, Name, Secret, Special};
    assert_eq!(skipped, [Link, Link, Link, Special, Secret, Name]);
}

#[test]
fn a_walk_may_begin_anywhere_and_obeys_the_rules_above() {
    let place = Place::new();
    place.write(".gitignore", "out/\n*.log\n");
    for path in ["a/b/c.rs", "a/b/d.log", "a/e.rs", "out/f.rs", "g.rs"] {
        place.write(path, "x\n");
    }
    let at = |path: &str| seen(&place, path).0;
    assert_eq!(at("a/b"), ["a/b/c.rs"]);
    assert_eq!(at("a"), ["a/b/c.rs", "a/e.rs"]);
    assert_eq!(at("g.rs"), ["g.rs"]);
    for nothing in ["a/b/d.log", "out", "out/f.rs", "missing", "missing/x", "g.rs/x"] {
        assert!(at(nothing).is_empty(), "{nothing}");
    }
    symlink("a", place.path("link")).unwrap();
    assert!(at("link/e.rs").is_empty() && at("link").is_empty());
}

#[test]
fn rules_that_are_hostile_files_neither_block_nor_fill_memory() {
    let place = Place::new();
    place.write("a.rs", "x\n");
    symlink("/dev/zero", place.path(".gitignore")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, place.path(".ignore"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    place.write("sub/.gitignore", "[\n{{{\n\\\n".repeat(30_000));
    place.write("sub/b.rs", "x\n");
    assert_eq!(files(&place), ["a.rs", "sub/.gitignore", "sub/b.rs"]);
}

#[test]
fn very_deep_folders_end_somewhere() {
    let place = Place::new();
    place.write(&format!("{}a.rs", "d/".repeat(140)), "x\n");
    place.write("b.rs", "x\n");
    let (files, skipped) = seen(&place, "");
    assert_eq!((files, skipped), (vec!["b.rs".to_owned()], vec![SkipReason::TooDeep]));
}

#[test]
fn nothing_is_opened_outside_with_an_old_kernel_either() {
    let place = Place::new();
    place.write("a/b.rs", "text\n");
    place.write("../outside.rs", "outside\n");
    symlink("a", place.path("link")).unwrap();
    symlink("a/b.rs", place.path("b-link.rs")).unwrap();
    let root = WorkspaceRoot::open(&place.root()).unwrap();
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    assert!(root.open_by_parts("a/b.rs", flags).is_ok());
    assert!(root.open_by_parts(".", flags).is_ok());
    for bad in ["../outside.rs", "a/../../outside.rs", "/etc/passwd", "link/b.rs", "b-link.rs"] {
        assert!(root.open_by_parts(bad, flags).is_err(), "{bad}");
        assert!(root.read(bad, 100).is_err(), "{bad}");
    }
    assert_eq!(root.read("a/b.rs", 100).unwrap().0, b"text\n");
    assert_eq!(root.read("a/b.rs", 2).unwrap().0, b"tex", "one byte more than the limit says that there is more");
    assert!(root.read("a", 100).is_err(), "a folder");
}

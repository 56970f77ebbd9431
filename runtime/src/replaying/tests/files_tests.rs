//! Trees that differ, and what of it means something.

use crate::replaying::files::{FilesApart, FilesLikeness, compare_files};
use crate::replaying::normaliser::{Normaliser, Places};
use retrace_sandbox::snapshot::{SnapshotOptions, SnapshotStore, TreeId};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# by cargo\n";

struct Bench {
    dir: tempfile::TempDir,
    store: SnapshotStore,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("ws")).unwrap();
        let store = SnapshotStore::open(&dir.path().join("store")).unwrap();
        let bench = Self { dir, store };
        bench.file("src/a.rs", "fn a() {}\n");
        bench.file("src/b.rs", "fn b() {}\n");
        bench
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.dir.path().join("ws").join(path)
    }

    fn file(&self, path: &str, content: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), content).unwrap();
    }

    fn take(&self) -> TreeId {
        self.store.take(&self.path(""), &SnapshotOptions::default(), None).unwrap().tree
    }

    /// How the files after `change` stand to those before it.
    fn after(&self, change: impl FnOnce(&Self)) -> FilesLikeness {
        let before = self.take();
        change(self);
        compare_files(&self.store, &before, &self.take(), &Places::new(&[Path::new("/old/ws"), Path::new("/new/ws")]))
            .unwrap()
    }
}

fn named(likeness: &FilesLikeness) -> Vec<(&str, &str)> {
    let FilesLikeness::Differ { named, .. } = likeness else { panic!("{likeness:?}") };
    named.iter().map(|file| (file.path.to_str().unwrap(), file.how)).collect()
}

#[test]
fn equal_trees_are_alike() {
    let bench = Bench::new();
    assert_eq!(bench.after(|_| {}), FilesLikeness::Alike(Vec::new()));
}

#[test]
fn every_kind_of_change_is_named() {
    let bench = Bench::new();
    bench.file("gone.txt", "x");
    bench.file("kind", "x");
    let likeness = bench.after(|bench| {
        bench.file("src/a.rs", "fn other() {}\n");
        bench.file("new.txt", "x");
        fs::remove_file(bench.path("gone.txt")).unwrap();
        fs::set_permissions(bench.path("src/b.rs"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::remove_file(bench.path("kind")).unwrap();
        std::os::unix::fs::symlink("new.txt", bench.path("kind")).unwrap();
    });
    assert_eq!(
        named(&likeness),
        [
            ("gone.txt", "missing"),
            ("kind", "other kind"),
            ("new.txt", "added"),
            ("src/a.rs", "differs"),
            ("src/b.rs", "mode")
        ]
    );
}

#[test]
fn of_very_many_files_the_first_are_named() {
    let bench = Bench::new();
    let likeness = bench.after(|bench| (0..50).for_each(|n| bench.file(&format!("f{n:02}"), "x")));
    let FilesLikeness::Differ { named, total } = likeness else { panic!() };
    assert_eq!((named.len(), total), (20, 50));
}

#[test]
fn build_output_and_caches_mean_nothing() {
    let bench = Bench::new();
    bench.file("target/CACHEDIR.TAG", TAG);
    bench.file("target/debug/x", [0, 1, 2]);
    let likeness = bench.after(|bench| {
        bench.file("target/debug/x", [0, 1, 3]);
        bench.file("target/debug/deep/er/y", "new");
        bench.file("src/__pycache__/a.pyc", [9]);
        bench.file("out/CACHEDIR.TAG", TAG);
        bench.file("out/z", "a cache that is new");
    });
    assert_eq!(likeness, FilesLikeness::Alike(vec![FilesApart::Caches]));
}

#[test]
fn a_folder_is_no_cache_because_it_is_called_so() {
    let bench = Bench::new();
    bench.file("target/x", "a");
    bench.file("fake/CACHEDIR.TAG", "not the signature");
    let likeness = bench.after(|bench| {
        bench.file("target/x", "b");
        bench.file("fake/x", "b");
    });
    assert_eq!(named(&likeness), [("fake/x", "added"), ("target/x", "differs")]);
}

#[test]
fn of_git_only_branches_count() {
    let bench = Bench::new();
    bench.file(".git/HEAD", "ref: refs/heads/main\n");
    bench.file(".git/refs/heads/main", "1111\n");
    bench.file(".git/index", [1, 2, 3]);
    let likeness = bench.after(|bench| {
        bench.file(".git/index", [3, 2, 1]);
        bench.file(".git/refs/heads/main", "2222\n");
        bench.file(".git/objects/ab/cdef", [7]);
        bench.file(".git/logs/HEAD", "times");
    });
    assert_eq!(likeness, FilesLikeness::Alike(vec![FilesApart::Git]));
    let likeness = bench.after(|bench| {
        bench.file(".git/refs/heads/other", "3333\n");
        bench.file(".git/HEAD", "ref: refs/heads/other\n");
    });
    assert_eq!(named(&likeness), [(".git/HEAD", "differs"), (".git/refs/heads/other", "added")]);
}

#[test]
fn words_that_normalise_to_the_same_mean_nothing() {
    let bench = Bench::new();
    bench.file("log.txt", "started 2026-11-22 01:02:03\nat /old/ws/x\n");
    let likeness = bench.after(|bench| bench.file("log.txt", "started 2026-11-23 04:05:06\nat /new/ws/x\n"));
    let words = [Normaliser::Times, Normaliser::Paths].map(FilesApart::Words);
    let FilesLikeness::Alike(apart) = &likeness else { panic!("{likeness:?}") };
    assert!(words.iter().all(|word| apart.contains(word)) && apart.len() == 2, "{apart:?}");
}

#[test]
fn order_bytes_and_modes_of_files_mean_something() {
    let bench = Bench::new();
    bench.file("order.txt", "a\nb\n");
    bench.file("bytes", [0, b'1', b's']);
    bench.file("mode.txt", "took 1s\n");
    let likeness = bench.after(|bench| {
        bench.file("order.txt", "b\na\n");
        bench.file("bytes", [0, b'2', b's']);
        bench.file("mode.txt", "took 2s\n");
        fs::set_permissions(bench.path("mode.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    });
    assert_eq!(named(&likeness), [("bytes", "differs"), ("mode.txt", "differs"), ("order.txt", "differs")]);
}

//! The files of the repository as the rules see them: path and text, what git ignores left out.
//!
//! Untracked files are part of it, so a rule speaks before the commit.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::OnceLock;

/// Paths (from the top, with `/`) and texts. A file that is not UTF-8 has an empty text.
pub(crate) struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    /// The repository this test was built in, read once.
    pub(crate) fn of_this_repository() -> &'static Tree {
        static TREE: OnceLock<Tree> = OnceLock::new();
        TREE.get_or_init(|| {
            let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ has a parent");
            let walk = ignore::WalkBuilder::new(top)
                .hidden(false)
                .parents(false)
                .git_global(false)
                .require_git(false)
                .filter_entry(|entry| entry.file_name() != ".git")
                .build();
            let mut files = BTreeMap::new();
            for entry in walk.map(|entry| entry.expect("the tree can be read")) {
                if entry.file_type().is_some_and(|kind| !kind.is_dir()) {
                    let path = entry.path().strip_prefix(top).expect("inside").to_string_lossy().into_owned();
                    let text = String::from_utf8(std::fs::read(entry.path()).unwrap_or_default()).unwrap_or_default();
                    files.insert(path, text);
                }
            }
            assert!(files.contains_key("Cargo.toml"), "{} is not the top of the repository", top.display());
            Tree { files }
        })
    }

    /// A tree made up for an example.
    pub(crate) fn of(files: &[(&str, &str)]) -> Tree {
        Tree { files: files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect() }
    }

    /// All files, by path.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The Rust sources.
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter(|(path, _)| Path::new(path).extension().is_some_and(|extension| extension == "rs"))
    }

    /// The Rust sources that are part of what is shipped.
    pub(crate) fn product(&self) -> impl Iterator<Item = (&str, &str)> {
        self.rust().filter(|(path, _)| !is_test(path))
    }

    /// The text of the file at `path`, or nothing.
    pub(crate) fn text(&self, path: &str) -> &str {
        self.files.get(path).map_or("", String::as_str)
    }

    /// Whether there is a file or a folder of this name.
    pub(crate) fn exists(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        self.files.contains_key(path) || self.files().any(|(file, _)| file.starts_with(&folder))
    }
}

/// Whether a Rust file is for tests or benchmarks only, by its path.
pub(crate) fn is_test(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    folders.split('/').any(|folder| matches!(folder, "tests" | "testing" | "benches" | "fuzz"))
        || name == "tests.rs"
        || name == "testing.rs"
        || name.ends_with("_tests.rs")
        || name == "fuzzing.rs"
        || name.starts_with("test_")
}

/// A place where a rule is broken.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The file.
    pub(crate) path: String,
    /// The line in it, from 1; 0 for the file as a whole.
    pub(crate) line: usize,
    /// What is wrong, and what to do.
    pub(crate) what: String,
}

impl Finding {
    /// About the file as a whole.
    pub(crate) fn file(path: &str, what: impl Into<String>) -> Finding {
        Finding { path: path.to_owned(), line: 0, what: what.into() }
    }

    /// About the line that holds the byte at `offset` of `text`.
    pub(crate) fn at(path: &str, text: &str, offset: usize, what: impl Into<String>) -> Finding {
        let line = text.as_bytes()[..offset].iter().filter(|byte| **byte == b'\n').count() + 1;
        Finding { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(out, "{}: {}", self.path, self.what),
            line => write!(out, "{}:{line}: {}", self.path, self.what),
        }
    }
}

#[test]
fn test_files_are_told_from_product_files() {
    for path in
        ["tests/e2e/main.rs", "events/src/testing/mod.rs", "a/src/b/tests.rs", "a/src/b_tests.rs", "benches/src/lib.rs"]
    {
        assert!(is_test(path), "{path}");
    }
    for path in ["events/src/latest.rs", "runtime/src/main.rs", "a/src/contests.rs"] {
        assert!(!is_test(path), "{path}");
    }
}

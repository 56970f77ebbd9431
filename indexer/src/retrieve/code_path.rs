//! What a file is by its path: code, a test of it, or prose and data.

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodeRole {
    /// What does the work; also what is none of the others.
    Product,
    /// What tests it.
    Test,
    /// What is read by people, or by programs as data.
    Prose,
}

/// Folders that hold tests.
const TEST_FOLDERS: [&str; 2] = ["tests", "__tests__"];
/// Folders that hold tests when they stand first, or in `src`; deeper ones may be what others test with.
const FIRST_TEST_FOLDERS: [&str; 4] = ["test", "testing", "spec", "specs"];
/// What the names of tests begin with.
const TEST_STARTS: [&str; 2] = ["test_", "conftest."];
/// What the names of tests end with, before their extension.
const TEST_ENDS: [&str; 7] = ["_test", "_tests", ".test", ".spec", "_spec", "Test", "Tests"];
/// Whole names of tests, without their extension.
const TEST_NAMES: [&str; 2] = ["test", "tests"];
/// Extensions of prose and data.
const PROSE: [&str; 20] = [
    "md", "markdown", "mdx", "rst", "txt", "adoc", "org", "tex", "po", "pot", "json", "jsonl", "csv", "tsv", "xml",
    "svg", "lock", "css", "html", "htm",
];

impl CodeRole {
    /// By the names alone: a folder called `tests` may hold anything.
    pub(super) fn of_path(path: &str) -> Self {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let first = folders.strip_prefix("src/").unwrap_or(folders).split('/').next().unwrap_or("");
        let is_test = folders.split('/').any(|folder| TEST_FOLDERS.contains(&folder))
            || FIRST_TEST_FOLDERS.contains(&first)
            || TEST_STARTS.iter().any(|start| name.starts_with(start))
            || TEST_ENDS.iter().any(|end| stem.ends_with(end))
            || TEST_NAMES.contains(&stem);
        if is_test {
            Self::Test
        } else if PROSE.iter().any(|prose| prose.eq_ignore_ascii_case(extension)) {
            Self::Prose
        } else {
            Self::Product
        }
    }
}

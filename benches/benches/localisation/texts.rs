//! The files of a work tree, and which of them a peer looks at.

use std::fs;
use std::path::Path;

/// Larger files are no code.
const MAX_BYTES: usize = 1 << 20;

/// The text files beneath `folder` with their paths, in order.
pub(crate) fn texts(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).unwrap().flatten() {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file()
                && let Some(name) = path.strip_prefix(folder).ok().and_then(Path::to_str)
                && let Some(text) = fs::read_to_string(&path).ok().filter(|text| text.len() <= MAX_BYTES)
            {
                found.push((name.to_owned(), text));
            }
        }
    }
    found.sort();
    found
}

/// Whether a path is Python that is no test: what published figures look at.
pub(crate) fn is_product(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_tests = folders.split('/').any(|folder| ["tests", "testing"].contains(&folder));
    name.ends_with(".py") && !is_tests && !name.starts_with("test_") && !name.ends_with("_test.py")
}

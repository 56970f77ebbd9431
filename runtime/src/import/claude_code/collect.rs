//! Which files an import looks at: the one that is named, or the transcripts in a folder. Links are not followed.

use super::report::Problem;
use ignore::WalkBuilder;
use std::path::{Path, PathBuf};

/// The deepest a transcript lies: `projects/<folder>/<session>/subagents/agent-….jsonl`, and some room.
const MAX_DEPTH: usize = 12;

/// The files to look at, in the order of their names, and what could not be looked into.
pub(super) fn files_at(path: &Path) -> (Vec<PathBuf>, Vec<Problem>) {
    if !path.is_dir() {
        return (vec![path.to_owned()], Vec::new());
    }
    let (mut files, mut problems) = (Vec::new(), Vec::new());
    let mut walk = WalkBuilder::new(path);
    walk.standard_filters(false).hidden(false).follow_links(false).max_depth(Some(MAX_DEPTH));
    for entry in walk.build() {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) && is_named_so(entry.path()) => {
                files.push(entry.into_path());
            }
            Ok(_) => {}
            Err(error) => {
                let (what, hint) =
                    (format!("cannot be looked into: {error}"), Some("check its permissions".to_owned()));
                problems.push(Problem { file: path.to_owned(), line: None, what, hint, fatal: true });
            }
        }
    }
    files.sort();
    (files, problems)
}

fn is_named_so(path: &Path) -> bool {
    stem(path).is_some()
}

/// A transcript's name without its ending.
pub(super) fn stem(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    [".jsonl", ".jsonl.gz"].iter().find_map(|ending| name.strip_suffix(ending).map(str::to_owned))
}

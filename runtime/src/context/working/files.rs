//! The files that were seen, by their paths. Bounded: the least recently touched go first.

use super::happening::{FilePath, Hit, Replacement, View};
use super::known_file::{KnownFile, Moment};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// The most files.
const MAX_FILES: usize = 500;

/// The most text of all files, in bytes.
const MAX_BYTES: usize = 12 * 1024 * 1024;

/// The longest path, in bytes.
const MAX_PATH_BYTES: usize = 1_000;

/// The most files of one search.
const MAX_FOUND: usize = 200;

/// Files by their paths.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct KnownFiles {
    files: BTreeMap<String, KnownFile>,
    born: u64,
}

impl KnownFiles {
    /// All of them, in order of paths.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &KnownFile)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// About how much memory their text takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.files.values().map(KnownFile::bytes).sum()
    }

    /// A call named the file.
    pub(super) fn name(&mut self, path: &FilePath) {
        if let Some(file) = self.file(&path.known) {
            file.shown.clone_from(&path.shown);
        }
        self.bound();
    }

    /// A file was touched, whatever came of it.
    pub(super) fn touch(&mut self, path: &FilePath, at: Moment) {
        if let Some(file) = self.files.get_mut(&path.known) {
            file.touched = at;
        }
    }

    /// Lines of a file were read.
    pub(super) fn read(&mut self, path: &FilePath, views: &[View<'_>], whole: bool, at: Moment) {
        if let Some(file) = self.file(&path.known) {
            (file.touched, file.last_read) = (at, at);
            for view in views {
                file.show(view.first, &view.lines, at, whole && views.len() == 1, &HashSet::new());
            }
        }
        self.bound();
    }

    /// A file was edited; `views` are lines of it as they are now.
    pub(super) fn edit(&mut self, path: &FilePath, edits: &[Replacement], views: &[View<'_>], at: Moment) {
        if let Some(file) = self.file(&path.known) {
            file.touched = at;
            file.writes = file.writes.saturating_add(1);
            for Replacement { old, new, every } in edits {
                if file.replace(old, new, *every, at) {
                    continue;
                }
                match views.first() {
                    Some(view) => file.shift(view.first, breaks(new) - breaks(old)),
                    None => file.write_somewhere(new, at),
                }
            }
            let written = edits.iter().flat_map(|edit| edit.new.split('\n')).collect();
            for view in views {
                file.show(view.first, &view.lines, at, false, &written);
            }
        }
        self.bound();
    }

    /// A file was written.
    pub(super) fn write(&mut self, path: &FilePath, content: &str, at: Moment) {
        if let Some(file) = self.file(&path.known) {
            file.touched = at;
            file.writes = file.writes.saturating_add(1);
            let lines: Vec<&str> = content.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
            file.forget();
            file.show(1, &lines, at, true, &lines.iter().copied().collect());
        }
        self.bound();
    }

    /// Nobody knows what is in a file.
    pub(super) fn forget(&mut self, path: &FilePath, at: Moment) {
        if let Some(file) = self.files.get_mut(&path.known) {
            file.touched = at;
            file.forget();
        }
    }

    /// Lines were found, in files that are named or in `place`.
    pub(super) fn found(&mut self, hits: &[Hit<'_>], place: &str, known: &dyn Fn(&str) -> String, at: Moment) {
        let mut by_path: BTreeMap<&str, Vec<Hit<'_>>> = BTreeMap::new();
        for hit in hits {
            let path = if hit.path.is_empty() { place } else { hit.path };
            if by_path.len() < MAX_FOUND || by_path.contains_key(path) {
                by_path.entry(path).or_default().push(*hit);
            }
        }
        for (path, mut hits) in by_path {
            let Some(key) = self.meant(&known(path)) else { continue };
            let Some(file) = self.file(&key) else { continue };
            if path.starts_with('/') && !file.shown.starts_with('/') {
                path.clone_into(&mut file.shown);
            }
            hits.sort_by_key(|hit| hit.number);
            hits.dedup_by_key(|hit| hit.number);
            for run in hits.chunk_by(|one, next| next.number == one.number + 1) {
                let lines: Vec<&str> = run.iter().map(|hit| hit.text).collect();
                let first = run.first().map_or(1, |hit| hit.number);
                file.show(first, &lines, at, false, &HashSet::new());
            }
        }
        self.bound();
    }

    /// The known file that a path means: of this name, or one whose path ends with the other's. A path without an ending
    /// like `.rs` may be a folder's and means none.
    fn meant(&self, path: &str) -> Option<String> {
        if self.files.contains_key(path) {
            return Some(path.to_owned());
        }
        let name = path.rsplit('/').next()?;
        let (_, ending) = name.rsplit_once('.')?;
        if ending.is_empty() || !ending.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return None;
        }
        let ends = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'));
        let alike = self.files.iter().filter(|(known, _)| ends(path, known) || ends(known, path));
        let first = alike.min_by_key(|(_, file)| file.born).map(|(known, _)| known.clone());
        Some(first.unwrap_or_else(|| path.to_owned()))
    }

    fn file(&mut self, path: &str) -> Option<&mut KnownFile> {
        if path.is_empty() || path.len() > MAX_PATH_BYTES || path.contains(['\0', '\n']) {
            return None;
        }
        if !self.files.contains_key(path) {
            self.born += 1;
            self.files.insert(path.to_owned(), KnownFile::new(path, self.born));
        }
        self.files.get_mut(path)
    }

    /// Drops files until all are within the bounds.
    fn bound(&mut self) {
        let mut bytes = self.bytes();
        while self.files.len() > MAX_FILES || (bytes > MAX_BYTES && self.files.len() > 1) {
            let oldest = self.files.iter().min_by_key(|(_, file)| (file.touched, file.born));
            let Some((path, size)) = oldest.map(|(path, file)| (path.clone(), file.bytes())) else { return };
            self.files.remove(&path);
            bytes -= size;
        }
    }
}

fn breaks(text: &str) -> i64 {
    i64::try_from(text.matches('\n').count()).unwrap_or(i64::MAX)
}

//! Tests of the code index: over real folders, and against an index that is built from nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod contents;
mod hostile;
mod incremental;
mod killed;
mod parallel;
mod records;
mod updates;
mod walking;

use super::code_report::CodeReport;
use super::{CodeIndex, CodeProgress};
use crate::document::{Document, DocumentKind};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A workspace and the folder of its index.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(place.root()).unwrap();
        place
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("workspace")
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn index(&self) -> CodeIndex {
        CodeIndex::open(&self.dir.path().join("index"), &self.root()).unwrap()
    }
}

fn update(index: &CodeIndex) -> CodeReport {
    index.update(&mut go_on).unwrap()
}

fn go_on(_: &CodeProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// All documents, by key.
fn documents(index: &CodeIndex) -> Vec<Document> {
    let keyword = index.keyword().unwrap().expect("an index");
    let mut documents = keyword.documents_between(0..=0, &[DocumentKind::Code]).unwrap();
    documents.sort_by(|one, other| one.key.cmp(&other.key));
    documents
}

/// The paths that have documents.
fn paths(index: &CodeIndex) -> Vec<String> {
    let mut paths: Vec<String> = documents(index).into_iter().flat_map(|document| document.paths).collect();
    paths.dedup();
    paths
}

/// Panics unless the index equals one that is built from nothing.
fn assert_like_new(index: &CodeIndex, root: &Path) {
    let dir = tempfile::tempdir().unwrap();
    let clean = CodeIndex::open(dir.path(), root).unwrap();
    let clean_report = update(&clean);
    let (expected, found) = (documents(&clean), documents(index));
    assert_eq!(names(&found), names(&expected));
    assert_eq!(found, expected);
    let report = update(index);
    assert_eq!((report.read, report.indexed, report.removed), (report.read, 0, 0), "nothing is left to do");
    assert_eq!((report.files, report.skipped), (clean_report.files, clean_report.skipped));
}

fn names(documents: &[Document]) -> Vec<(&str, i64)> {
    documents.iter().map(|document| (document.key.as_str(), document.at_ms)).collect()
}

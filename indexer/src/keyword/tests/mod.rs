//! Tests of the keyword index. All of them use the real engine on a real folder.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod candidate_tests;
mod damage_tests;
mod error_tests;
mod fetch_tests;
mod filter_tests;
mod model_tests;
mod process_tests;
mod recall_tests;
mod search_tests;
mod stem_tests;
mod word_tests;

use crate::document::{Document, DocumentKind};
use crate::keyword::{KeywordIndex, KeywordWriter};
use crate::query::{Filter, Query};
use retrace_events::Timestamp;
use std::path::Path;

/// The smallest memory the engine works with.
pub(super) const MEMORY: usize = 15_000_000;

pub(super) fn writer(folder: &Path) -> KeywordWriter {
    KeywordWriter::open_or_create(folder, MEMORY, 1).unwrap()
}

pub(super) fn open(folder: &Path) -> KeywordIndex {
    KeywordIndex::open(folder).unwrap().unwrap()
}

/// A folder with these documents, in one commit.
pub(super) fn index_of(documents: &[Document]) -> (tempfile::TempDir, KeywordIndex) {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    documents.iter().for_each(|document| writer.add(document).unwrap());
    writer.commit("a note").unwrap();
    drop(writer);
    let index = open(folder.path());
    (folder, index)
}

/// The `n`th document of a session: an answer.
pub(super) fn document(n: u64, text: &str) -> Document {
    Document {
        key: format!("ev.t.p.session.one/{n}.0"),
        kind: DocumentKind::Answer,
        stream: "ev.t.p.session.one".to_owned(),
        seq: n,
        position: n,
        ordinal: n,
        at_ms: i64::try_from(n).unwrap() * 1000,
        text: text.to_owned(),
        ..Document::default()
    }
}

/// A piece of code.
pub(super) fn code(path: &str, symbol: &str, text: &str) -> Document {
    Document {
        key: format!("code/{path}#1"),
        kind: DocumentKind::Code,
        paths: vec![path.to_owned()],
        symbol: Some(symbol.to_owned()),
        first_line: 1,
        last_line: 9,
        text: text.to_owned(),
        ..Document::default()
    }
}

pub(super) fn query(text: &str) -> Query {
    Query::parse(text, Timestamp(1_767_798_245_006))
}

/// The sequence numbers of what is found, best first.
pub(super) fn found(index: &KeywordIndex, text: &str) -> Vec<u64> {
    let hits = index.search(&query(text), &Filter::default(), 100).unwrap();
    hits.iter().map(|hit| hit.ordinal).collect()
}

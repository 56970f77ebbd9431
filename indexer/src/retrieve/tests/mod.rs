//! Tests of retrieval: the arithmetic by itself, and all of it on real indexes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod code_files_tests;
mod code_path_tests;
mod code_words_tests;
mod dates_tests;
mod fusion_tests;
mod hit_tests;
mod named_paths_tests;
mod passage_tests;
mod ranking_query_tests;
mod retrieve_tests;
mod selection_tests;
mod sources_tests;

use crate::document::{Document, DocumentKind};
use crate::keyword::{KeywordIndex, KeywordWriter};
use crate::query::Query;
use crate::retrieve::{Found, SearchRequest, Source, Sources};
use std::path::Path;

/// A day in milliseconds.
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Some moment.
const NOW_MS: i64 = 1_795_255_500_000;

/// A stream's subject.
fn stream(name: &str) -> String {
    format!("ev.local.default.session.{name}")
}

/// What is at `ordinal` in a session; its event is the one with that number.
fn document(session: &str, ordinal: u64, kind: DocumentKind, text: &str) -> Document {
    let stream = stream(session);
    Document {
        key: format!("{stream}/{ordinal}.0"),
        kind,
        stream,
        seq: ordinal,
        event: format!("event-{ordinal}"),
        position: ordinal + 1,
        ordinal,
        at_ms: NOW_MS - DAY_MS + i64::try_from(ordinal).unwrap(),
        text: text.to_owned(),
        ..Document::default()
    }
}

/// A result about a file.
fn result(session: &str, ordinal: u64, path: &str, text: &str) -> Document {
    Document { paths: vec![path.to_owned()], ..document(session, ordinal, DocumentKind::Result, text) }
}

/// A piece of code.
fn code(path: &str, first_line: u32, text: &str) -> Document {
    Document {
        key: format!("code/{path}#{first_line}"),
        kind: DocumentKind::Code,
        paths: vec![path.to_owned()],
        first_line,
        last_line: first_line + 9,
        text: text.to_owned(),
        ..Document::default()
    }
}

/// An index of these documents in `folder`.
fn index(folder: &Path, documents: &[Document]) -> KeywordIndex {
    let mut writer = KeywordWriter::open_or_create(folder, 16 << 20, 1).unwrap();
    documents.iter().for_each(|document| writer.put(document).unwrap());
    writer.commit("").unwrap();
    writer.wait_merges().unwrap();
    KeywordIndex::open(folder).unwrap().unwrap()
}

/// A session index of these documents, without vectors.
fn sources(folder: &Path, documents: &[Document]) -> Sources {
    let sessions = Some(Source { keyword: index(&folder.join("sessions"), documents), vectors: None });
    Sources { sessions, ..Sources::default() }
}

/// Ten hits for these words.
fn request(words: &str) -> SearchRequest {
    let query = Query::parse(words, retrace_events::Timestamp(NOW_MS.unsigned_abs()));
    SearchRequest { query, limit: 10, now_ms: NOW_MS, ..SearchRequest::default() }
}

/// The keys of the hits, without what is the same in all of them.
fn names(found: &Found) -> Vec<String> {
    found.hits.iter().map(|hit| hit.key.replace("ev.local.default.session.", "")).collect()
}

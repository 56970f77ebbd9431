//! Searching what is there, what is not there yet, and what is damaged.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::{IndexModel, IndexedSessions, SearchIndex};
use crate::follow::{IndexFolder, IndexNote};
use crate::keyword::KeywordWriter;
use crate::query::Query;
use crate::retrieve::{Notice, SearchRequest};
use crate::vector::{EmbedderOptions, ModelChoice, SessionSource};
use crate::{Document, DocumentKind, KeywordIndex};
use retrace_events::Timestamp;
use retrace_events::log::Position;
use std::path::Path;
use std::sync::Arc;

fn document(position: u64, text: &str) -> Document {
    Document {
        key: format!("s/{position}.0"),
        kind: DocumentKind::Prompt,
        stream: "ev.local.p.session.s".into(),
        event: format!("event-{position}"),
        seq: position,
        position,
        ordinal: position,
        text: text.into(),
        ..Document::default()
    }
}

fn write(folder: &Path, documents: &[Document], position: u64) {
    let mut writer = KeywordWriter::open_or_create(folder, 20 << 20, 1).unwrap();
    for document in documents {
        writer.put(document).unwrap();
    }
    let note = IndexNote {
        position: Position(position),
        ..IndexNote::parse(r#"{"format":1,"position":0,"witness":null,"unreadable":0}"#).unwrap()
    };
    writer.commit(&note.to_text()).unwrap();
}

fn index(folder: &IndexFolder, model: IndexModel) -> SearchIndex {
    SearchIndex::new(folder.clone(), Vec::new(), Arc::new(model))
}

fn asked(words: &str) -> SearchRequest {
    SearchRequest { query: Query::parse(words, Timestamp(0)), limit: 5, ..SearchRequest::default() }
}

#[tokio::test]
async fn an_index_that_is_made_while_we_look_is_seen_with_the_next_search() {
    let state = tempfile::tempdir().unwrap();
    let folder = IndexFolder::of_log(state.path(), "log");
    let index = index(&folder, IndexModel::default());
    let found = index.search(&asked("kettle")).await;
    assert!(found.hits.is_empty() && found.notices.contains(&Notice::NoSessions), "{found:?}");
    assert_eq!(index.position().await, Position(0));

    write(&folder.keyword(), &[document(1, "put the kettle on")], 1);
    assert_eq!(index.search(&asked("kettle")).await.hits.len(), 1);
    assert_eq!(index.position().await, Position(1));

    write(&folder.keyword(), &[document(2, "a second kettle")], 2);
    assert_eq!(index.search(&asked("kettle")).await.hits.len(), 2, "a commit of somebody else");
    assert_eq!(index.position().await, Position(2));
}

#[tokio::test]
async fn a_damaged_index_is_said_and_one_made_again_is_seen() {
    let state = tempfile::tempdir().unwrap();
    let folder = IndexFolder::of_log(state.path(), "log");
    write(&folder.keyword(), &[document(1, "put the kettle on")], 1);
    let index = index(&folder, IndexModel::default());
    assert_eq!(index.search(&asked("kettle")).await.hits.len(), 1);

    std::fs::write(folder.keyword().join("meta.json"), "{").unwrap();
    let found = index.search(&asked("kettle")).await;
    assert!(found.hits.is_empty(), "{found:?}");
    assert!(found.notices.iter().any(|notice| matches!(notice, Notice::Rebuild { .. })), "{found:?}");

    std::fs::remove_dir_all(folder.keyword()).unwrap();
    write(&folder.keyword(), &[document(1, "another kettle")], 1);
    let found = index.search(&asked("kettle")).await;
    assert_eq!(found.hits.len(), 1, "{found:?}");
    assert_eq!(found.hits[0].text, "another kettle");
}

#[tokio::test]
async fn a_model_that_is_not_there_is_told_once_and_words_answer() {
    let state = tempfile::tempdir().unwrap();
    let folder = IndexFolder::of_log(state.path(), "log");
    write(&folder.keyword(), &[document(1, "put the kettle on")], 1);
    let missing = ModelChoice::Folder(state.path().join("no-model"));
    let index = index(&folder, IndexModel::new(missing, EmbedderOptions::default()));
    for told in [1, 0] {
        let found = index.search(&asked("kettle")).await;
        assert_eq!(found.hits.len(), 1);
        let failed = |notice: &&Notice| matches!(notice, Notice::Failed { part: "the embedding model", .. });
        assert_eq!(found.notices.iter().filter(failed).count(), told, "{:?}", found.notices);
    }
}

#[test]
fn the_documents_of_a_stretch_of_the_log_are_those_of_its_newest_commit() {
    let state = tempfile::tempdir().unwrap();
    write(state.path(), &[document(1, "one"), document(2, "two")], 2);
    let source = IndexedSessions(KeywordIndex::open(state.path()).unwrap().unwrap());
    write(state.path(), &[document(3, "three"), document(9, "nine")], 9);
    let texts = |first, last| {
        let mut texts: Vec<_> =
            source.documents_between(first, last).unwrap().into_iter().map(|found| found.text).collect();
        texts.sort();
        texts
    };
    assert_eq!(texts(2, 3), ["three", "two"]);
    assert_eq!(texts(4, 8), Vec::<String>::new());
    assert_eq!(texts(0, u64::MAX), ["nine", "one", "three", "two"]);
}

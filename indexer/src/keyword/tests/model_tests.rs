//! Whatever is written in whatever order, with commits, rollbacks and dropped writers in between: the index holds what a map
//! would hold, and the note of the last commit.

use super::{document, open, writer};
use crate::document::Document;
use crate::keyword::KeywordWriter;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Debug, Clone)]
enum Step {
    Put(u64, u64),
    AddIfNew(u64, u64),
    DeleteKey(u64),
    DeletePath(u64),
    DeleteStream(u64),
    PutRecord(u64, u64),
    DeleteRecord(u64),
    Commit,
    Rollback,
    /// The process dies: what was not committed is gone.
    Kill,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let number = || 0_u64..12;
    let step = prop_oneof![
        8 => (number(), any::<u64>()).prop_map(|(n, value)| Step::Put(n, value)),
        4 => (number(), any::<u64>()).prop_map(|(n, value)| Step::AddIfNew(n, value)),
        3 => number().prop_map(Step::DeleteKey),
        1 => number().prop_map(Step::DeletePath),
        1 => number().prop_map(Step::DeleteStream),
        3 => (number(), any::<u64>()).prop_map(|(n, value)| Step::PutRecord(n, value)),
        1 => number().prop_map(Step::DeleteRecord),
        3 => Just(Step::Commit),
        1 => Just(Step::Rollback),
        1 => Just(Step::Kill),
    ];
    prop::collection::vec(step, 1..40)
}

/// What the index should hold.
#[derive(Debug, Clone, Default, PartialEq)]
struct Model {
    documents: BTreeMap<String, Document>,
    records: BTreeMap<String, Vec<u8>>,
    note: String,
}

fn make(n: u64, value: u64) -> Document {
    Document {
        stream: format!("stream {}", n % 3),
        paths: vec![format!("path {}", n % 4)],
        ..document(n, &format!("value {value}"))
    }
}

/// Does a step, to the model and to the index.
fn take(step: &Step, model: &mut Model, committed: &mut Model, writer: &mut Option<KeywordWriter>, folder: &Path) {
    let open_writer = writer.get_or_insert_with(|| super::writer(folder));
    match step {
        Step::Put(n, value) => {
            let document = make(*n, *value);
            open_writer.put(&document).unwrap();
            model.documents.insert(document.key.clone(), document);
        }
        Step::AddIfNew(n, value) => {
            let document = make(*n, *value);
            if !model.documents.contains_key(&document.key) {
                open_writer.add(&document).unwrap();
                model.documents.insert(document.key.clone(), document);
            }
        }
        Step::DeleteKey(n) => {
            open_writer.delete_key(&make(*n, 0).key);
            model.documents.remove(&make(*n, 0).key);
        }
        Step::DeletePath(n) => {
            open_writer.delete_path(&make(*n, 0).paths[0]);
            model.documents.retain(|_, document| document.paths != make(*n, 0).paths);
        }
        Step::DeleteStream(n) => {
            open_writer.delete_stream(&make(*n, 0).stream);
            model.documents.retain(|_, document| document.stream != make(*n, 0).stream);
        }
        Step::PutRecord(n, value) => {
            open_writer.put_record(&format!("record {n}"), &value.to_le_bytes()).unwrap();
            model.records.insert(format!("record {n}"), value.to_le_bytes().to_vec());
        }
        Step::DeleteRecord(n) => {
            open_writer.delete_record(&format!("record {n}"));
            model.records.remove(&format!("record {n}"));
        }
        Step::Commit => {
            model.note = format!("note\n{}", model.documents.len() * 100 + model.records.len());
            open_writer.commit(&model.note).unwrap();
            *committed = model.clone();
        }
        Step::Rollback => {
            open_writer.rollback().unwrap();
            *model = committed.clone();
        }
        Step::Kill => {
            *writer = None;
            *model = committed.clone();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_index_is_the_map(steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        let (mut model, mut committed) = (Model::default(), Model::default());
        let mut holder = Some(writer(folder.path()));
        let index = open(folder.path());
        for step in &steps {
            take(step, &mut model, &mut committed, &mut holder, folder.path());
            index.reload().unwrap();
            let documents = index.documents_between(0..=u64::MAX, &[]).unwrap();
            let found = Model {
                documents: documents.into_iter().map(|document| (document.key.clone(), document)).collect(),
                records: index.records("").unwrap().into_iter().collect(),
                note: index.note(),
            };
            prop_assert_eq!(&found, &committed, "after {:?}", step);
            prop_assert_eq!(index.count().unwrap(), committed.documents.len() as u64);
        }
        drop(holder);
        let again = open(folder.path());
        prop_assert_eq!(again.count().unwrap(), committed.documents.len() as u64);
        prop_assert_eq!(again.note(), committed.note);
    }
}

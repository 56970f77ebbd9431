//! The same texts in tantivy as it comes: its default tokenizer, the text stored, a key, and two numbers.

use super::figures::timed;
use retrace_indexer::Document;
use std::path::Path;
use std::time::Duration;
use tantivy::schema::{FAST, STORED, STRING, Schema, TEXT};
use tantivy::{Index, TantivyDocument};

/// Indexes `texts` in `folder` with one thread, and how long that takes.
pub(crate) fn index<'a>(
    folder: &Path,
    documents: impl Iterator<Item = (&'a str, &'a str)>,
    memory_bytes: usize,
) -> Duration {
    std::fs::create_dir_all(folder).unwrap();
    let mut schema = Schema::builder();
    let key = schema.add_text_field("key", STRING | STORED);
    let text = schema.add_text_field("text", TEXT | STORED);
    let number = schema.add_u64_field("number", FAST | STORED);
    let index = Index::create_in_dir(folder, schema.build()).unwrap();
    timed(|| {
        let mut writer = index.writer_with_num_threads::<TantivyDocument>(1, memory_bytes).unwrap();
        for (at, (name, words)) in documents.enumerate() {
            let mut document = TantivyDocument::default();
            document.add_text(key, name);
            document.add_text(text, words);
            document.add_u64(number, at as u64);
            writer.add_document(document).unwrap();
        }
        writer.commit().unwrap();
        writer.wait_merging_threads().unwrap();
    })
    .1
}

/// As [`index`], by our own writer.
pub(crate) fn index_ours(folder: &Path, documents: &[Document], memory_bytes: usize) -> Duration {
    timed(|| {
        let mut writer = retrace_indexer::KeywordWriter::open_or_create(folder, memory_bytes, 1).unwrap();
        for document in documents {
            writer.add(document).unwrap();
        }
        writer.commit("").unwrap();
        writer.wait_merges().unwrap();
    })
    .1
}

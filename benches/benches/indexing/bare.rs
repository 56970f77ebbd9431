//! The same texts in tantivy as it comes: its default tokenizer, the text stored, a key, and two numbers.

use super::figures::timed;
use retrace_indexer::Document;
use std::path::Path;
use std::time::Duration;
use tantivy::collector::TopDocs;
use tantivy::query::TermQuery;
use tantivy::schema::{FAST, IndexRecordOption, STORED, STRING, Schema, TEXT};
use tantivy::{Index, TantivyDocument, Term};

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

/// How long it takes to find the ten best documents with each word, and to read them, in what [`index`] made.
pub(crate) fn searches(folder: &Path, words: &[&str]) -> Vec<Duration> {
    let index = Index::open_in_dir(folder).unwrap();
    let text = index.schema().get_field("text").unwrap();
    let reader = index.reader().unwrap();
    let one = |word: &&str| {
        let query = TermQuery::new(Term::from_field_text(text, word), IndexRecordOption::WithFreqs);
        let search = || {
            let searcher = reader.searcher();
            let found = searcher.search(&query, &TopDocs::with_limit(10).order_by_score()).unwrap();
            found.into_iter().map(|(_, address)| searcher.doc(address).unwrap()).collect::<Vec<TantivyDocument>>()
        };
        timed(search).1
    };
    words.iter().map(one).collect()
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

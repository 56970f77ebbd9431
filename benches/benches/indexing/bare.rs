//! The same texts in tantivy as it comes: its default tokenizer, the text stored, a key, and two numbers.

use super::figures::timed;
use retrace_indexer::Document;
use std::path::Path;
use std::time::Duration;
use tantivy::collector::TopDocs;
use tantivy::query::{QueryParser, TermQuery};
use tantivy::schema::{FAST, IndexRecordOption, STORED, STRING, Schema, TEXT};
use tantivy::{Index, IndexReader, TantivyDocument, Term};

/// Indexes `texts` in `folder` with one thread, and how long that takes.
pub(crate) fn index(
    folder: &Path,
    documents: impl Iterator<Item = (impl AsRef<str>, impl AsRef<str>)>,
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
            document.add_text(key, name.as_ref());
            document.add_text(text, words.as_ref());
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

/// What [`index`] made, to be asked for many words at once.
pub(crate) struct BareIndex {
    reader: IndexReader,
    parser: QueryParser,
}

impl BareIndex {
    /// Opens what [`index`] made in `folder`.
    pub(crate) fn open(folder: &Path) -> Self {
        let index = Index::open_in_dir(folder).unwrap();
        let text = index.schema().get_field("text").unwrap();
        Self { reader: index.reader().unwrap(), parser: QueryParser::for_index(&index, vec![text]) }
    }

    /// How long it takes to find the best `limit` documents with any of `words`, and to read them.
    pub(crate) fn search(&self, words: &str, limit: usize) -> Duration {
        timed(|| {
            let (query, _) = self.parser.parse_query_lenient(words);
            let searcher = self.reader.searcher();
            let found = searcher.search(&query, &TopDocs::with_limit(limit).order_by_score()).unwrap();
            found.into_iter().map(|(_, address)| searcher.doc(address).unwrap()).collect::<Vec<TantivyDocument>>()
        })
        .1
    }
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

//! The named peer: tantivy as it comes, with its default tokenizer, over whole files.

use std::collections::BTreeMap;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, STORED, STRING, Schema, TEXT, Value};
use tantivy::{Index, IndexReader, TantivyDocument, Term};

/// An index in memory.
pub(crate) struct Bare {
    reader: IndexReader,
    tokens: tantivy::tokenizer::TextAnalyzer,
    text: Field,
    path: Field,
}

impl Bare {
    /// Over these paths and texts.
    pub(crate) fn of<'a>(files: impl Iterator<Item = &'a (String, String)>) -> Self {
        let mut schema = Schema::builder();
        let (text, path) = (schema.add_text_field("text", TEXT), schema.add_text_field("path", STRING | STORED));
        let index = Index::create_in_ram(schema.build());
        let mut writer = index.writer_with_num_threads(1, 256 << 20).unwrap();
        for (name, words) in files {
            let mut stored = TantivyDocument::new();
            stored.add_text(path, name);
            stored.add_text(text, words);
            writer.add_document(stored).unwrap();
        }
        writer.commit().unwrap();
        let tokens = index.tokenizers().get("default").unwrap();
        Self { reader: index.reader().unwrap(), tokens, text, path }
    }

    /// The paths of the files with these words, best first.
    pub(crate) fn search(&self, words: &str, limit: usize) -> Vec<String> {
        let mut terms: BTreeMap<String, Box<dyn Query>> = BTreeMap::new();
        let mut tokens = self.tokens.clone();
        tokens.token_stream(words).process(&mut |token| {
            let term = Term::from_field_text(self.text, &token.text);
            terms.insert(token.text.clone(), Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)));
        });
        let searcher = self.reader.searcher();
        let query = BooleanQuery::union(terms.into_values().collect());
        let top = searcher.search(&query, &TopDocs::with_limit(limit).order_by_score()).unwrap();
        let path = |address| {
            let stored: TantivyDocument = searcher.doc(address).unwrap();
            stored.get_first(self.path).unwrap().as_str().unwrap().to_owned()
        };
        top.into_iter().map(|(_, address)| path(address)).collect()
    }
}

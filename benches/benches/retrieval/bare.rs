//! The named peer: tantivy as it comes, with its default tokenizer, over the same texts.

use retrace_indexer::Document;
use std::collections::HashMap;
use std::ops::Range;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query, RangeQuery, TermQuery};
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TEXT, Value};
use tantivy::{Index, IndexReader, TantivyDocument, Term};

/// An index in memory.
pub(crate) struct Bare {
    reader: IndexReader,
    tokens: tantivy::tokenizer::TextAnalyzer,
    text: Field,
    stream: Field,
    at_ms: Field,
    place: Field,
}

impl Bare {
    pub(crate) fn of(documents: &[Document]) -> Self {
        let mut schema = Schema::builder();
        let (text, stream) = (schema.add_text_field("text", TEXT), schema.add_text_field("stream", STRING));
        let at_ms = schema.add_i64_field("at_ms", INDEXED | FAST);
        let place = schema.add_u64_field("place", STORED);
        let index = Index::create_in_ram(schema.build());
        let mut writer = index.writer_with_num_threads(1, 64 << 20).unwrap();
        for (number, document) in (0..).zip(documents) {
            let mut stored = TantivyDocument::new();
            stored.add_text(text, &document.text);
            stored.add_text(stream, &document.stream);
            stored.add_i64(at_ms, document.at_ms);
            stored.add_u64(place, number);
            writer.add_document(stored).unwrap();
        }
        writer.commit().unwrap();
        let tokens = index.tokenizers().get("default").unwrap();
        Self { reader: index.reader().unwrap(), tokens, text, stream, at_ms, place }
    }

    /// The places of the documents with these words, best first, of one session before a moment.
    pub(crate) fn search(&self, words: &str, within: Option<(&str, Range<i64>)>, limit: usize) -> Vec<usize> {
        let mut terms: HashMap<String, Box<dyn Query>> = HashMap::new();
        let mut tokens = self.tokens.clone();
        tokens.token_stream(words).process(&mut |token| {
            let term = Term::from_field_text(self.text, &token.text);
            terms.insert(token.text.clone(), Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)));
        });
        let mut clauses =
            vec![(Occur::Must, Box::new(BooleanQuery::union(terms.into_values().collect())) as Box<dyn Query>)];
        if let Some((stream, time)) = within {
            let stream: Box<dyn Query> =
                Box::new(TermQuery::new(Term::from_field_text(self.stream, stream), IndexRecordOption::Basic));
            let bound = |at| std::ops::Bound::Excluded(Term::from_field_i64(self.at_ms, at));
            let time: Box<dyn Query> = Box::new(RangeQuery::new(std::ops::Bound::Unbounded, bound(time.end)));
            // The words alone rank.
            for filter in [stream, time] {
                clauses.push((Occur::Must, Box::new(tantivy::query::ConstScoreQuery::new(filter, 0.0))));
            }
        }
        let searcher = self.reader.searcher();
        let top = searcher.search(&BooleanQuery::new(clauses), &TopDocs::with_limit(limit).order_by_score()).unwrap();
        top.into_iter()
            .map(|(_, address)| {
                let stored: TantivyDocument = searcher.doc(address).unwrap();
                usize::try_from(stored.get_first(self.place).unwrap().as_u64().unwrap()).unwrap()
            })
            .collect()
    }
}

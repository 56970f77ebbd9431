//! Getting documents and records by what they are, not by their words.

use crate::document::{Document, DocumentKind};
use crate::keyword::error::KeywordError;
use crate::keyword::guard::guarded;
use crate::keyword::hit::{DocAddress, KeywordHit};
use crate::keyword::index::KeywordIndex;
use crate::keyword::schema::column;
use crate::keyword::search::hits;
use crate::keyword::snapshot::not_a_document;
use crate::keyword::stored::from_stored;
use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};
use tantivy::columnar::Column;
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::{DocId, DocSet, Searcher, SegmentReader, TERMINATED, TantivyDocument, TantivyError, Term};

impl KeywordIndex {
    /// The whole documents, in the order of their addresses.
    ///
    /// # Errors
    /// The index is damaged, or the disk fails; so for all of these.
    pub fn documents(&self, addresses: &[DocAddress]) -> Result<Vec<Document>, KeywordError> {
        guarded(&self.inner.folder, || {
            addresses.iter().map(|address| self.document(&address.searcher, address.doc)).collect()
        })
    }

    /// The document with this key.
    ///
    /// # Errors
    /// As for [`KeywordIndex::documents`].
    pub fn by_key(&self, key: &str) -> Result<Option<Document>, KeywordError> {
        let hit = self.hit_by_key(key)?;
        Ok(hit.map(|hit| self.documents(&[hit.address])).transpose()?.and_then(|mut found| found.pop()))
    }

    /// The document with this key, as a hit without a score.
    ///
    /// # Errors
    /// As for [`KeywordIndex::documents`].
    pub fn hit_by_key(&self, key: &str) -> Result<Option<KeywordHit>, KeywordError> {
        let term = Term::from_field_text(self.inner.fields.key, key);
        let searcher = self.snapshot().searcher.clone();
        guarded(&self.inner.folder, || {
            let found = with_term(&searcher, &term, |_, _| Ok(true))?;
            Ok(hits(found.into_iter().take(1).map(|doc| (0.0, doc)).collect(), &searcher)?.pop())
        })
    }

    /// The documents of a session with these places among its documents (not its summaries), in order.
    ///
    /// # Errors
    /// As for [`KeywordIndex::documents`].
    pub fn by_ordinal(&self, stream: &str, ordinals: Range<u64>) -> Result<Vec<Document>, KeywordError> {
        self.at_ordinals(stream, |ordinal| ordinals.contains(&ordinal))
    }

    /// The same for places that do not follow each other: the session is gone through once for all of them.
    ///
    /// # Errors
    /// As for [`KeywordIndex::documents`].
    pub fn by_ordinals(&self, stream: &str, ordinals: &BTreeSet<u64>) -> Result<Vec<Document>, KeywordError> {
        self.at_ordinals(stream, |ordinal| ordinals.contains(&ordinal))
    }

    fn at_ordinals(&self, stream: &str, wanted: impl Fn(u64) -> bool) -> Result<Vec<Document>, KeywordError> {
        let term = Term::from_field_text(self.inner.fields.stream, stream);
        let searcher = self.snapshot().searcher.clone();
        let mut documents = guarded(&self.inner.folder, || {
            let summary = DocumentKind::Summary.code();
            // Opening a column costs more than reading it: once for each segment.
            let columns = |segment: &SegmentReader| -> Result<_, TantivyError> {
                Ok((number(segment, column::ORDINAL)?, number(segment, column::KIND)?))
            };
            let columns: Vec<_> = searcher.segment_readers().iter().map(columns).collect::<Result<_, _>>()?;
            let found = with_term(&searcher, &term, |_, _| Ok(true))?;
            let there = found.into_iter().filter(|doc| {
                let Some((ordinal, kind)) = columns.get(doc.segment_ord as usize) else { return false };
                let value = |column: &Option<Column<u64>>| column.as_ref().and_then(|column| column.first(doc.doc_id));
                value(ordinal).is_some_and(&wanted) && value(kind) != Some(summary)
            });
            there.map(|doc| self.document(&searcher, doc)).collect::<Result<Vec<_>, _>>()
        })?;
        documents.sort_by_key(|document| (document.ordinal, document.part));
        Ok(documents)
    }

    /// All documents of a session: first what happened, in order, then its summaries.
    ///
    /// # Errors
    /// As for [`KeywordIndex::documents`].
    pub fn documents_of(&self, stream: &str) -> Result<Vec<Document>, KeywordError> {
        let term = Term::from_field_text(self.inner.fields.stream, stream);
        let searcher = self.snapshot().searcher.clone();
        let mut documents = guarded(&self.inner.folder, || {
            let found = with_term(&searcher, &term, |_, _| Ok(true))?;
            found.into_iter().map(|doc| self.document(&searcher, doc)).collect::<Result<Vec<_>, _>>()
        })?;
        let place = |document: &Document| (document.kind == DocumentKind::Summary, document.ordinal, document.seq);
        documents.sort_by(|one, other| place(one).cmp(&place(other)).then_with(|| one.key.cmp(&other.key)));
        Ok(documents)
    }

    /// The documents whose events stand between two positions, both inclusive, of these kinds (all, if none is named), in
    /// the order of the log.
    ///
    /// # Errors
    /// As for [`KeywordIndex::documents`].
    pub fn documents_between(
        &self,
        positions: RangeInclusive<u64>,
        kinds: &[DocumentKind],
    ) -> Result<Vec<Document>, KeywordError> {
        let searcher = self.snapshot().searcher.clone();
        let wanted =
            |code: u64| DocumentKind::of_code(code).is_some_and(|kind| kinds.is_empty() || kinds.contains(&kind));
        let mut documents = guarded(&self.inner.folder, || {
            let mut documents = Vec::new();
            for (ord, segment) in (0..).zip(searcher.segment_readers()) {
                let Some(position) = number(segment, column::POSITION)? else { continue };
                let Some(kind) = number(segment, column::KIND)? else { continue };
                let mut docs = Vec::new();
                position.get_docids_for_value_range(positions.clone(), 0..segment.max_doc(), &mut docs);
                docs.retain(|doc| !segment.is_deleted(*doc) && kind.first(*doc).is_some_and(wanted));
                for doc in docs {
                    documents.push(self.document(&searcher, tantivy::DocAddress::new(ord, doc))?);
                }
            }
            Ok(documents)
        })?;
        documents
            .sort_by(|one, other| (one.position, one.part, &one.key).cmp(&(other.position, other.part, &other.key)));
        Ok(documents)
    }

    /// The record with this key.
    ///
    /// # Errors
    /// As for [`KeywordIndex::documents`].
    pub fn record(&self, key: &str) -> Result<Option<Vec<u8>>, KeywordError> {
        let term = Term::from_field_text(self.inner.fields.record_key, key);
        let searcher = self.snapshot().searcher.clone();
        guarded(&self.inner.folder, || {
            let found = with_term(&searcher, &term, |_, _| Ok(true))?;
            let Some(doc) = found.first() else { return Ok(None) };
            self.record_value(&searcher, *doc).map(Some)
        })
    }

    /// All records whose keys begin with `prefix`, by key.
    ///
    /// # Errors
    /// As for [`KeywordIndex::documents`].
    pub fn records(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, KeywordError> {
        let searcher = self.snapshot().searcher.clone();
        let field = self.inner.fields.record_key;
        let mut records = guarded(&self.inner.folder, || {
            let mut records = Vec::new();
            for (ord, segment) in (0..).zip(searcher.segment_readers()) {
                let index = segment.inverted_index(field)?;
                let mut keys = index.terms().range().ge(prefix.as_bytes()).into_stream()?;
                while keys.advance() {
                    let Some(key) = std::str::from_utf8(keys.key()).ok().filter(|key| key.starts_with(prefix)) else {
                        break;
                    };
                    let mut postings = index.read_postings_from_terminfo(keys.value(), IndexRecordOption::Basic)?;
                    while postings.doc() != TERMINATED {
                        if !segment.is_deleted(postings.doc()) {
                            let address = tantivy::DocAddress::new(ord, postings.doc());
                            records.push((key.to_owned(), self.record_value(&searcher, address)?));
                        }
                        postings.advance();
                    }
                }
            }
            Ok(records)
        })?;
        records.sort();
        Ok(records)
    }

    fn record_value(&self, searcher: &Searcher, doc: tantivy::DocAddress) -> Result<Vec<u8>, TantivyError> {
        let stored: TantivyDocument = searcher.doc(doc)?;
        let value = stored.get_first(self.inner.fields.record);
        value.and_then(|value| value.as_bytes()).map(<[u8]>::to_vec).ok_or_else(not_a_document)
    }

    fn document(&self, searcher: &Searcher, doc: tantivy::DocAddress) -> Result<Document, TantivyError> {
        let stored: TantivyDocument = searcher.doc(doc)?;
        from_stored(&stored, &self.inner.fields).ok_or_else(not_a_document)
    }
}

/// The documents with a term that are still there and wanted.
fn with_term(
    searcher: &Searcher,
    term: &Term,
    wanted: impl Fn(&SegmentReader, DocId) -> Result<bool, TantivyError>,
) -> Result<Vec<tantivy::DocAddress>, TantivyError> {
    let mut found = Vec::new();
    for (ord, segment) in (0..).zip(searcher.segment_readers()) {
        let index = segment.inverted_index(term.field())?;
        let Some(mut postings) = index.read_postings(term, IndexRecordOption::Basic)? else { continue };
        while postings.doc() != TERMINATED {
            if !segment.is_deleted(postings.doc()) && wanted(segment, postings.doc())? {
                found.push(tantivy::DocAddress::new(ord, postings.doc()));
            }
            postings.advance();
        }
    }
    Ok(found)
}

fn number(segment: &SegmentReader, name: &str) -> Result<Option<Column<u64>>, TantivyError> {
    segment.fast_fields().column_opt(name)
}

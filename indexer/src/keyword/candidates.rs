//! Where to begin with a filter: the list of documents for its narrowest condition, when that is short enough to be walked
//! through one by one instead of everything that holds the words.

use crate::keyword::schema::Fields;
use crate::keyword::segment_filter::SegmentFilter;
use crate::query::{Filter, PathPattern};
use tantivy::postings::SegmentPostings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, TantivyError, Term};

/// The documents of one of these terms.
struct Driver {
    terms: Vec<Term>,
    documents: u64,
}

/// The documents among which all that get through are, if there are at most `limit`; in order, some may not get through.
pub(super) fn candidates(
    filter: &Filter,
    ready: &SegmentFilter,
    segment: &SegmentReader,
    fields: &Fields,
    limit: u64,
) -> Result<Option<Vec<DocId>>, TantivyError> {
    let mut narrowest: Option<Driver> = None;
    for terms in conditions(filter, ready, fields) {
        let driver = Driver::new(terms, segment)?;
        if narrowest.as_ref().is_none_or(|known| driver.documents < known.documents) {
            narrowest = Some(driver);
        }
    }
    if let Some(driver) = narrowest.filter(|driver| driver.documents <= limit) {
        return driver.documents(segment).map(Some);
    }
    let Some(time) = &ready.time else { return Ok(None) };
    let mut docs = Vec::new();
    time.column.get_docids_for_value_range(time.from_ms..=time.to_ms, 0..segment.max_doc(), &mut docs);
    Ok((docs.len() as u64 <= limit).then_some(docs))
}

/// Each condition as terms of which a document must have at least one.
fn conditions(filter: &Filter, ready: &SegmentFilter, fields: &Fields) -> Vec<Vec<Term>> {
    let mut conditions = Vec::new();
    for (field, choice) in [(fields.stream, &ready.streams), (fields.tool, &ready.tools)] {
        if let Some(values) = choice.as_ref().and_then(|choice| choice.driving.as_ref()) {
            conditions.push(values.iter().map(|value| Term::from_field_text(field, value)).collect());
        }
    }
    if let Some(kinds) = ready.kinds() {
        conditions.push(kinds.into_iter().map(|kind| Term::from_field_u64(fields.kind, kind.code())).collect());
    }
    for group in filter.path_groups() {
        let terms: Option<Vec<Term>> = group.iter().map(|pattern| path_term(pattern, fields.path_parts)).collect();
        conditions.extend(terms);
    }
    conditions
}

/// A component that every fitting path has. The longest one: it is likely to be the rarest.
fn path_term(pattern: &str, field: Field) -> Option<Term> {
    let component = PathPattern::literal_components(pattern).max_by_key(|component| component.len())?;
    Some(Term::from_field_text(field, &component.to_ascii_lowercase()))
}

impl Driver {
    fn new(terms: Vec<Term>, segment: &SegmentReader) -> Result<Self, TantivyError> {
        let mut documents = 0;
        for term in &terms {
            documents += u64::from(segment.inverted_index(term.field())?.doc_freq(term)?);
        }
        Ok(Self { terms, documents })
    }

    fn documents(&self, segment: &SegmentReader) -> Result<Vec<DocId>, TantivyError> {
        let mut docs = Vec::new();
        for term in &self.terms {
            let index = segment.inverted_index(term.field())?;
            let Some(mut postings): Option<SegmentPostings> = index.read_postings(term, IndexRecordOption::Basic)?
            else {
                continue;
            };
            while postings.doc() != TERMINATED {
                docs.push(postings.doc());
                postings.advance();
            }
        }
        docs.sort_unstable();
        docs.dedup();
        Ok(docs)
    }
}

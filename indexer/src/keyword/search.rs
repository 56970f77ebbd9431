//! Searching.

use crate::document::DocumentKind;
use crate::keyword::candidates::candidates;
use crate::keyword::error::KeywordError;
use crate::keyword::exclusions::Exclusions;
use crate::keyword::guard::guarded;
use crate::keyword::hit::{DocAddress, KeywordHit};
use crate::keyword::index::KeywordIndex;
use crate::keyword::schema::column;
use crate::keyword::scoring::{Best, Scoring};
use crate::keyword::segment_filter::SegmentFilter;
use crate::keyword::terms::{Place, Terms};
use crate::query::{Filter, Query};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tantivy::columnar::{Column, StrColumn};
use tantivy::{DocId, Score, Searcher, SegmentReader, TantivyError};

/// The most hits of one search.
const HITS: usize = 10_000;

impl KeywordIndex {
    /// What fits best, best first: the words rank (BM25 over the text), phrases are required, exclusions and both filters (the
    /// given one and the query's own) hold. A query without words gives what the filters let through, newest first.
    ///
    /// # Errors
    /// The index is damaged, or the disk fails.
    pub fn search(&self, query: &Query, filter: &Filter, limit: usize) -> Result<Vec<KeywordHit>, KeywordError> {
        self.search_in(Place::Text, query, filter, limit)
    }

    /// The same over the words of paths and symbols. Phrases do not count here, exclusions are about the text.
    ///
    /// # Errors
    /// As for [`KeywordIndex::search`].
    pub fn search_names(&self, query: &Query, filter: &Filter, limit: usize) -> Result<Vec<KeywordHit>, KeywordError> {
        self.search_in(Place::Names, query, filter, limit)
    }

    fn search_in(
        &self,
        place: Place,
        query: &Query,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<KeywordHit>, KeywordError> {
        let filter = filter.clone().merge(&query.filter);
        let limit = limit.min(HITS);
        if filter.nothing || limit == 0 {
            return Ok(Vec::new());
        }
        let searcher = self.snapshot().searcher.clone();
        let terms = Terms::of(query);
        let fields = &self.inner.fields;
        guarded(&self.inner.folder, || {
            if terms.is_filter_only() {
                return match place {
                    Place::Text => self.newest(&terms, &filter, limit, &searcher),
                    Place::Names => Ok(Vec::new()),
                };
            }
            let clauses = terms.clauses(place, fields, &searcher)?;
            if clauses.is_empty() {
                return Ok(Vec::new());
            }
            let exclusions = Exclusions::new(terms.exclusions(fields), &searcher)?;
            let scoring = Scoring::new(clauses, exclusions, fields, &searcher)?;
            let mut best = Best::new(limit);
            for (ord, segment) in (0..).zip(searcher.segment_readers()) {
                scoring.segment(segment, ord, &filter, fields, &mut best)?;
            }
            hits(best.into_sorted(), &searcher)
        })
    }

    /// What the filter lets through, newest first.
    fn newest(
        &self,
        terms: &Terms,
        filter: &Filter,
        limit: usize,
        searcher: &Searcher,
    ) -> Result<Vec<KeywordHit>, TantivyError> {
        let fields = &self.inner.fields;
        let exclusions = Exclusions::new(terms.exclusions(fields), searcher)?;
        let mut newest: BinaryHeap<Reverse<(i64, u64, tantivy::DocAddress)>> = BinaryHeap::new();
        for (ord, segment) in (0..).zip(searcher.segment_readers()) {
            let Some(mut ready) = SegmentFilter::new(filter, segment)? else { continue };
            let Some(at_ms) = segment.fast_fields().column_opt::<i64>(column::AT_MS)? else { continue };
            let position = segment.fast_fields().column_opt::<u64>(column::POSITION)?;
            if newest.len() >= limit && newest.peek().is_some_and(|Reverse((oldest, ..))| at_ms.max_value() < *oldest) {
                continue;
            }
            let mut excluded = exclusions.segment(segment)?;
            let narrow = candidates(filter, &ready, segment, fields, u64::from(segment.max_doc() / 4))?;
            let docs: Box<dyn Iterator<Item = DocId>> = match narrow {
                Some(docs) => Box::new(docs.into_iter()),
                None => Box::new(0..segment.max_doc()),
            };
            for doc in docs.filter(|doc| !segment.is_deleted(*doc)) {
                if excluded.contains(doc) || !ready.accepts(doc) {
                    continue;
                }
                let place = position.as_ref().and_then(|column| column.first(doc)).unwrap_or(0);
                newest.push(Reverse((at_ms.first(doc).unwrap_or(0), place, tantivy::DocAddress::new(ord, doc))));
                if newest.len() > limit {
                    newest.pop();
                }
            }
        }
        hits(newest.into_sorted_vec().into_iter().map(|Reverse((.., address))| (0.0, address)).collect(), searcher)
    }
}

/// The columns of a segment that hits are made of.
struct HitColumns {
    key: Option<StrColumn>,
    stream: Option<StrColumn>,
    kind: Option<Column<u64>>,
    ordinal: Option<Column<u64>>,
    position: Option<Column<u64>>,
    at_ms: Option<Column<i64>>,
}

impl HitColumns {
    fn new(segment: &SegmentReader) -> Result<Self, TantivyError> {
        let columns = segment.fast_fields();
        Ok(Self {
            key: columns.str(column::KEY)?,
            stream: columns.str(column::STREAM)?,
            kind: columns.column_opt(column::KIND)?,
            ordinal: columns.column_opt(column::ORDINAL)?,
            position: columns.column_opt(column::POSITION)?,
            at_ms: columns.column_opt(column::AT_MS)?,
        })
    }
}

/// Hits in the same order; equal scores newest first.
pub(super) fn hits(
    found: Vec<(Score, tantivy::DocAddress)>,
    searcher: &Searcher,
) -> Result<Vec<KeywordHit>, TantivyError> {
    let mut columns: Vec<Option<HitColumns>> = searcher.segment_readers().iter().map(|_| None).collect();
    let mut hits = Vec::with_capacity(found.len());
    for (score, doc) in found {
        let Some(slot) = columns.get_mut(doc.segment_ord as usize) else { continue };
        if slot.is_none() {
            *slot = Some(HitColumns::new(searcher.segment_reader(doc.segment_ord))?);
        }
        let Some(columns) = slot else { continue };
        let code = columns.kind.as_ref().and_then(|column| column.first(doc.doc_id));
        let Some(kind) = code.and_then(DocumentKind::of_code) else { continue };
        let number = |column: &Option<Column<u64>>| column.as_ref().and_then(|column| column.first(doc.doc_id));
        hits.push(KeywordHit {
            score,
            key: name(columns.key.as_ref(), doc.doc_id)?,
            kind,
            stream: name(columns.stream.as_ref(), doc.doc_id)?,
            ordinal: number(&columns.ordinal).unwrap_or(0),
            position: number(&columns.position).unwrap_or(0),
            at_ms: columns.at_ms.as_ref().and_then(|column| column.first(doc.doc_id)).unwrap_or(0),
            address: DocAddress { searcher: searcher.clone(), doc },
        });
    }
    hits.sort_by(|one, other| other.score.total_cmp(&one.score).then(other.at_ms.cmp(&one.at_ms)));
    Ok(hits)
}

fn name(column: Option<&StrColumn>, doc: DocId) -> Result<String, TantivyError> {
    let mut name = String::new();
    if let Some((column, ord)) = column.and_then(|column| column.ords().first(doc).map(|ord| (column, ord))) {
        column.ord_to_str(ord, &mut name)?;
    }
    Ok(name)
}

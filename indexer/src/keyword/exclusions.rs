//! What a query excludes. Asked like a filter, after the words: so exclusions cost a search only what it has already found.

use tantivy::query::{BooleanQuery, EnableScoring, Query as EngineQuery, Scorer, Weight};
use tantivy::{DocId, DocSet, Searcher, SegmentReader, TantivyError};

/// The exclusions of a query.
pub(super) struct Exclusions(Option<Box<dyn Weight>>);

impl Exclusions {
    pub(super) fn new(excluded: Vec<Box<dyn EngineQuery>>, searcher: &Searcher) -> Result<Self, TantivyError> {
        if excluded.is_empty() {
            return Ok(Self(None));
        }
        BooleanQuery::union(excluded)
            .weight(EnableScoring::disabled_from_searcher(searcher))
            .map(|weight| Self(Some(weight)))
    }

    pub(super) fn segment(&self, segment: &SegmentReader) -> Result<SegmentExclusions, TantivyError> {
        self.0.as_ref().map(|weight| weight.scorer(segment, 1.0)).transpose().map(SegmentExclusions)
    }
}

/// The excluded documents of a segment.
pub(super) struct SegmentExclusions(Option<Box<dyn Scorer>>);

impl SegmentExclusions {
    /// Whether a document is excluded. Documents must be asked for in order.
    pub(super) fn contains(&mut self, doc: DocId) -> bool {
        self.0.as_mut().is_some_and(|excluded| {
            if excluded.doc() < doc {
                excluded.seek(doc);
            }
            excluded.doc() == doc
        })
    }
}

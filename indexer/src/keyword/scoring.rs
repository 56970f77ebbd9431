//! Scoring one segment: either everything that holds the words, best first cut off by the engine's own bounds, with the filter
//! asked only about what would get in; or, under a narrow filter, only what the filter lets through.

use crate::keyword::candidates::candidates;
use crate::keyword::exclusions::Exclusions;
use crate::keyword::schema::Fields;
use crate::keyword::segment_filter::SegmentFilter;
use crate::keyword::terms::EngineClause;
use crate::query::Filter;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use tantivy::query::{
    Bm25StatisticsProvider, BooleanQuery, EnableScoring, Occur, Query as EngineQuery, Scorer, Weight,
};
use tantivy::schema::Field;
use tantivy::{DocAddress, DocId, DocSet, Score, Searcher, SegmentReader, TERMINATED, TantivyError, Term};

/// What it costs to ask for one document whether it holds a word, beside going on to the next document that does.
const SEEK_COST: u64 = 3;

/// The query, ready to be run on each segment.
pub(super) struct Scoring {
    exclusions: Exclusions,
    whole: Box<dyn Weight>,
    each: Vec<(Occur, Box<dyn Weight>)>,
    terms: Vec<Term>,
}

impl Scoring {
    pub(super) fn new(
        clauses: Vec<EngineClause>,
        exclusions: Exclusions,
        fields: &Fields,
        searcher: &Searcher,
    ) -> Result<Self, TantivyError> {
        let record = Term::from_field_u64(fields.kind, crate::keyword::schema::RECORD_KIND);
        let statistics = Statistics { searcher, records: searcher.doc_freq(&record)? };
        let scoring = || EnableScoring::enabled_from_statistics_provider(&statistics, searcher);
        let mut each = Vec::new();
        let mut terms = Vec::new();
        for (occur, query) in &clauses {
            each.push((*occur, query.weight(scoring())?));
            query.query_terms(&mut |term, _| terms.push(term.clone()));
        }
        let whole = BooleanQuery::new(clauses).weight(scoring())?;
        Ok(Self { exclusions, whole, each, terms })
    }

    /// Adds what a segment has to what is best so far.
    pub(super) fn segment(
        &self,
        segment: &SegmentReader,
        ord: u32,
        filter: &Filter,
        fields: &Fields,
        best: &mut Best,
    ) -> Result<(), TantivyError> {
        let Some(mut ready) = SegmentFilter::new(filter, segment)? else { return Ok(()) };
        let mut holding = 0_u64;
        for term in &self.terms {
            holding += u64::from(segment.inverted_index(term.field())?.doc_freq(term)?);
        }
        let limit = holding / (SEEK_COST * self.terms.len().max(1) as u64);
        if let Some(docs) = candidates(filter, &ready, segment, fields, limit)? {
            return self.among(&docs, segment, ord, &mut ready, best);
        }
        let alive = segment.alive_bitset();
        let mut excluded = self.exclusions.segment(segment)?;
        self.whole.for_each_pruning(best.bar(), segment, &mut |doc, score| {
            if alive.is_none_or(|alive| alive.is_alive(doc)) && ready.accepts(doc) && !excluded.contains(doc) {
                best.push(score, DocAddress::new(ord, doc));
            }
            best.bar()
        })
    }

    fn among(
        &self,
        docs: &[DocId],
        segment: &SegmentReader,
        ord: u32,
        ready: &mut SegmentFilter,
        best: &mut Best,
    ) -> Result<(), TantivyError> {
        let mut scorers = Vec::new();
        for (occur, weight) in &self.each {
            scorers.push((*occur, weight.scorer(segment, 1.0)?));
        }
        let mut excluded = self.exclusions.segment(segment)?;
        let alive = segment.alive_bitset();
        for doc in docs {
            if alive.is_some_and(|alive| alive.is_deleted(*doc)) {
                continue;
            }
            if let Some(score) = score_of(*doc, &mut scorers).filter(|score| *score > best.bar())
                && ready.accepts(*doc)
                && !excluded.contains(*doc)
            {
                best.push(score, DocAddress::new(ord, *doc));
            }
        }
        Ok(())
    }
}

/// What a document scores, `None` if it does not match. Documents must be asked for in order.
fn score_of(doc: DocId, scorers: &mut [(Occur, Box<dyn Scorer>)]) -> Option<Score> {
    let mut total = None;
    for (occur, scorer) in scorers {
        if scorer.doc() < doc {
            scorer.seek(doc);
        }
        let here = scorer.doc() == doc && scorer.doc() != TERMINATED;
        match (occur, here) {
            (Occur::MustNot, true) | (Occur::Must, false) => return None,
            (Occur::MustNot | Occur::Should, false) => {}
            (Occur::Must | Occur::Should, true) => total = Some(total.unwrap_or(0.0) + scorer.score()),
        }
    }
    total
}

/// The best documents so far.
pub(super) struct Best {
    limit: usize,
    heap: BinaryHeap<Reverse<Ranked>>,
}

#[derive(Clone, Copy)]
struct Ranked {
    score: Score,
    address: DocAddress,
}

impl Best {
    pub(super) const fn new(limit: usize) -> Self {
        Self { limit, heap: BinaryHeap::new() }
    }

    /// What a document must exceed to get in.
    fn bar(&self) -> Score {
        let full = self.heap.len() >= self.limit;
        self.heap.peek().filter(|_| full).map_or(Score::MIN, |Reverse(worst)| worst.score)
    }

    fn push(&mut self, score: Score, address: DocAddress) {
        self.heap.push(Reverse(Ranked { score, address }));
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
    }

    /// Best first.
    pub(super) fn into_sorted(self) -> Vec<(Score, DocAddress)> {
        let ranked = self.heap.into_sorted_vec();
        ranked.into_iter().map(|Reverse(ranked)| (ranked.score, ranked.address)).collect()
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.address.cmp(&self.address))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

/// Records are no documents: without this they would make all texts look shorter on average than they are.
struct Statistics<'a> {
    searcher: &'a Searcher,
    records: u64,
}

impl Bm25StatisticsProvider for Statistics<'_> {
    fn total_num_tokens(&self, field: Field) -> Result<u64, TantivyError> {
        self.searcher.total_num_tokens(field)
    }

    fn total_num_docs(&self) -> Result<u64, TantivyError> {
        Ok(self.searcher.total_num_docs()?.saturating_sub(self.records).max(1))
    }

    fn doc_freq(&self, term: &Term) -> Result<u64, TantivyError> {
        self.searcher.doc_freq(term)
    }
}

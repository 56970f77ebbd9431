//! The ways to search that are compared. Each gives events, best first, none twice.

use super::bare::Bare;
use retrace_indexer::{Document, Filter, HitSource, Query, SearchRequest, Sources, retrieve};
use std::collections::HashSet;

/// How far down a list is looked.
pub(crate) const DEEP: usize = 200;

/// An event that was found, with the tokens of the text that was found of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FoundEvent {
    pub seq: u64,
    pub tokens: usize,
}

/// A question to one session or dialogue.
pub(crate) struct Asked<'a> {
    pub sources: &'a Sources,
    pub bare: &'a Bare,
    pub documents: &'a [Document],
    pub words: &'a str,
    pub filter: Filter,
    pub now_ms: i64,
}

impl Asked<'_> {
    pub(crate) fn bare(&self) -> Vec<FoundEvent> {
        let until = self.filter.until_ms.unwrap_or(i64::MAX);
        let within = self.filter.sessions.first().map(|stream| (stream.as_str(), i64::MIN..until));
        let places = self.bare.search(self.words, within, DEEP);
        events(places.into_iter().map(|place| &self.documents[place]))
    }

    pub(crate) fn keyword(&self) -> Vec<FoundEvent> {
        let keyword = &self.sources.sessions.as_ref().unwrap().keyword;
        let hits = keyword.search(&Query::plain(self.words), &self.filter, DEEP).unwrap();
        let documents = keyword.documents(&hits.into_iter().map(|hit| hit.address).collect::<Vec<_>>()).unwrap();
        events(documents.iter())
    }

    pub(crate) async fn vector(&self) -> Option<Vec<FoundEvent>> {
        let table = self.sources.sessions.as_ref()?.vectors.as_ref()?;
        let vector = self.sources.embedder.as_ref()?.query(self.words).unwrap();
        let keyword = &self.sources.sessions.as_ref()?.keyword;
        let hits = table.search(&vector, &self.filter, DEEP).await.unwrap();
        let documents: Vec<Document> = hits.iter().filter_map(|hit| keyword.by_key(&hit.key).unwrap()).collect();
        Some(events(documents.iter()))
    }

    /// All of it, and the same hits by their words with what is said around them alone.
    pub(crate) async fn fusion(&self) -> (Vec<FoundEvent>, Vec<FoundEvent>) {
        let mut hits = retrieve(self.sources, &self.request(None)).await.hits;
        let fused = found(&hits);
        hits.sort_by(|one, other| {
            let window = |hit: &retrace_indexer::Hit| hit.parts.keyword + hit.parts.window;
            window(other).total_cmp(&window(one))
        });
        (fused, found(&hits))
    }

    /// What fits a budget.
    pub(crate) async fn budgeted(&self, budget_tokens: usize) -> Vec<FoundEvent> {
        found(&retrieve(self.sources, &self.request(Some(budget_tokens))).await.hits)
    }

    fn request(&self, budget_tokens: Option<usize>) -> SearchRequest {
        let (query, filter, now_ms) = (Query::plain(self.words), self.filter.clone(), self.now_ms);
        SearchRequest { query, filter, limit: DEEP, budget_tokens, now_ms, ..SearchRequest::default() }
    }
}

fn found(hits: &[retrace_indexer::Hit]) -> Vec<FoundEvent> {
    let event = |hit: &retrace_indexer::Hit| match &hit.source {
        HitSource::Event { seq, .. } => Some(FoundEvent { seq: *seq, tokens: hit.text.len() / 4 + 1 }),
        HitSource::File { .. } | HitSource::Summary { .. } => None,
    };
    hits.iter().filter_map(event).collect()
}

/// One for each event, where it stands first.
pub(crate) fn events<'a>(documents: impl Iterator<Item = &'a Document>) -> Vec<FoundEvent> {
    let mut seen = HashSet::new();
    let event = |document: &Document| FoundEvent { seq: document.seq, tokens: document.text.len() / 4 + 1 };
    documents.filter(|document| seen.insert(document.seq)).map(event).collect()
}

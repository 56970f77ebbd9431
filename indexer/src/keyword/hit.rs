//! What a search finds.

use crate::document::DocumentKind;
use std::fmt;

/// A document that was found, with what can be had without reading its text.
#[derive(Debug, Clone)]
pub struct KeywordHit {
    /// How well its words fit (BM25); 0 where nothing but filters was asked.
    pub score: f32,
    /// The document's key.
    pub key: String,
    /// What it is.
    pub kind: DocumentKind,
    /// Its session's stream; empty for code.
    pub stream: String,
    /// Its place among its session's documents.
    pub ordinal: u64,
    /// Where its event stands in the order over all streams.
    pub position: u64,
    /// When it happened, in milliseconds since 1970.
    pub at_ms: i64,
    /// Where the whole document is to be had.
    pub address: DocAddress,
}

/// Where a document stands. Good for as long as it is held, whatever is committed meanwhile.
#[derive(Clone)]
pub struct DocAddress {
    pub(super) searcher: tantivy::Searcher,
    pub(super) doc: tantivy::DocAddress,
}

impl fmt::Debug for DocAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DocAddress({}/{})", self.doc.segment_ord, self.doc.doc_id)
    }
}

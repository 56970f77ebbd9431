//! A document that one of the indexes has found, before it has a score.

use crate::document::{Document, DocumentKind};
use crate::retrieve::code_words::CodeFit;

/// A document with what the indexes say of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Candidate {
    /// Which source it is from; documents of different sources are never neighbours.
    pub(super) source: usize,
    /// All of it.
    pub(super) document: Document,
    /// How well the words of its text fit (BM25), on the scale of its index; 0 if it is not among the best.
    pub(super) keyword: f32,
    /// How well the words of its paths and symbols fit.
    pub(super) names: f32,
    /// How well a piece of code fits what only code is asked.
    pub(super) code: CodeFit,
    /// How near its meaning is, from 0 for the last of the list to 1 for the nearest.
    pub(super) nearness: f32,
}

impl Candidate {
    /// Whether its neighbours can be its context, and it theirs.
    pub(super) const fn has_neighbours(&self) -> bool {
        !matches!(self.document.kind, DocumentKind::Summary | DocumentKind::Code)
    }

    /// Whether it is something that was said or thought.
    pub(super) const fn is_said(&self) -> bool {
        match self.document.kind {
            DocumentKind::Prompt | DocumentKind::Answer | DocumentKind::Thinking | DocumentKind::Note => true,
            DocumentKind::Call | DocumentKind::Result | DocumentKind::Summary | DocumentKind::Code => false,
        }
    }

    /// What its neighbours say can speak for it. A thought is left out: it speaks for what follows.
    pub(super) const fn takes_context(&self) -> bool {
        self.has_neighbours() && !matches!(self.document.kind, DocumentKind::Thinking)
    }
}

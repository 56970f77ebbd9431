//! Where retrieval looks.

use crate::keyword::KeywordIndex;
use crate::vector::{Embedder, VectorTable};
use std::sync::Arc;

/// Everything that can be asked. What is missing is left out, and said.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The index of all sessions and their summaries.
    pub sessions: Option<Source>,
    /// The indexes of workspaces' code.
    pub code: Vec<Source>,
    /// The model that made the vectors.
    pub embedder: Option<Arc<Embedder>>,
}

/// A keyword index with the vectors of its documents.
#[derive(Debug, Clone)]
pub struct Source {
    /// The documents.
    pub keyword: KeywordIndex,
    /// Vectors of the model of [`Sources::embedder`].
    pub vectors: Option<Arc<VectorTable>>,
}

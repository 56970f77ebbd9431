//! Asking the vector tables: the question becomes a vector once, and each table gives what is nearest to it.

use crate::query::Filter;
use crate::retrieve::fusion::nearness;
use crate::retrieve::notice::Notice;
use crate::retrieve::source::Source;
use crate::vector::{Embedder, VectorHit};
use std::sync::Arc;

/// How many documents are looked at for their meaning.
const NEAR_HITS: usize = 100;
/// What a missing answer is called.
const PART: &str = "vectors";

/// What the tables answered: for each source that has one, its hits with how near they are.
#[derive(Debug, Default)]
pub(super) struct Near {
    pub(super) hits: Vec<(usize, Vec<(VectorHit, f32)>)>,
    pub(super) notices: Vec<Notice>,
}

/// Asks the tables of `sources`.
pub(super) async fn near(
    sources: &[(usize, Source)],
    embedder: Option<Arc<Embedder>>,
    text: String,
    filter: &Filter,
) -> Near {
    let mut near = Near::default();
    let with_vectors: Vec<_> =
        sources.iter().filter_map(|(place, source)| Some((*place, source.vectors.as_ref()?))).collect();
    let Some(embedder) = embedder.filter(|_| !with_vectors.is_empty()) else {
        near.notices.push(Notice::WordsOnly);
        return near;
    };
    if !text.chars().any(char::is_alphanumeric) {
        return near;
    }
    let vector = match tokio::task::spawn_blocking(move || embedder.query(&text)).await {
        Ok(Ok(vector)) => vector,
        Ok(Err(error)) => return near.failed(error.to_string()),
        Err(error) => return near.failed(error.to_string()),
    };
    for (place, table) in with_vectors {
        match table.search(&vector, filter, NEAR_HITS).await {
            Ok(hits) => {
                let cosines: Vec<f32> = hits.iter().map(|hit| hit.similarity).collect();
                near.hits.push((place, hits.into_iter().zip(nearness(&cosines)).collect()));
            }
            Err(error) => near = near.failed(error.to_string()),
        }
    }
    near
}

impl Near {
    fn failed(mut self, problem: String) -> Self {
        self.notices.push(Notice::Failed { part: PART, problem });
        self
    }
}

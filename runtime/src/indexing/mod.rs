//! Keeps the search index up to date while a session runs, and answers the agent's own searches from it.
//!
//! Of all processes that run sessions one follows the log; when it ends, another takes over within a second. Nothing here
//! holds up the session: it works on a thread of its own, and a session without an index only has less to recall.

mod background_code;
mod background_index;
mod background_summaries;
mod background_vectors;
mod index_memory;
mod model;

#[cfg(test)]
mod tests;

pub(crate) use background_index::{BackgroundIndex, IndexPlan};
pub(crate) use index_memory::IndexMemory;
pub(crate) use model::model_of;

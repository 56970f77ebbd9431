//! All indexes of one user as one thing that can be asked: the sessions of a log, the code of workspaces, and the vectors of
//! both; and the adapters that let vectors be filled from the keyword indexes.

mod document_sources;
mod index_model;
mod search_index;

#[cfg(test)]
mod tests;

pub use document_sources::{IndexedCode, IndexedSessions};
pub use index_model::IndexModel;
pub use search_index::SearchIndex;

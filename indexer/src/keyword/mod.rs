//! The keyword index: tantivy, with an analyzer for code and prose. One schema for sessions and for code.
//!
//! A commit holds documents, records and the caller's note together: after a crash all of them are of one commit. What is
//! damaged, or of another version, is an error of its own kind, so that the caller can build the index again: nothing here is
//! the only copy of anything.

mod analyzer;
mod candidates;
mod choices;
mod error;
mod exclusions;
mod fetch;
mod guard;
mod hit;
mod index;
mod schema;
mod scoring;
mod search;
mod segment_filter;
mod snapshot;
mod stems;
mod stored;
mod terms;
mod words;
mod writer;

#[cfg(test)]
mod tests;

pub use error::KeywordError;
pub use hit::{DocAddress, KeywordHit};
pub use index::KeywordIndex;
pub use writer::KeywordWriter;

pub(crate) use analyzer::analyze;

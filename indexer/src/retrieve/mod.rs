//! Retrieval: one function for the agent, the command line and the front ends. It asks the keyword indexes and the vector
//! tables, brings their answers on one scale, adds what else speaks for a document, and picks hits that differ from each
//! other and fit the budget.
//!
//! `gather` and `retrieve` talk to the indexes; everything between is arithmetic on documents that were found: the same
//! candidates give the same hits in the same order. A part that is missing or broken is a notice, never an error. The weights
//! are in `weights`, with what they were measured on.

mod candidate;
mod code_files;
mod code_path;
mod code_weights;
mod code_words;
mod dates;
mod fusion;
mod gather;
mod hit;
mod named_paths;
mod near;
mod notice;
mod passage;
mod ranking_query;
mod request;
mod retrieval;
mod score_parts;
mod selection;
mod source;
mod weights;

#[cfg(test)]
mod tests;

pub use hit::{Found, Hit, HitSource};
pub use notice::Notice;
pub use request::SearchRequest;
pub use retrieval::retrieve;
pub use score_parts::ScoreParts;
pub use source::{Source, Sources};

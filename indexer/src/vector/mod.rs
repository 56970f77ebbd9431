//! Search by meaning: gists of documents become vectors, by a model on this machine, in the background; a table finds the
//! nearest ones to a question.
//!
//! Keyword search never waits for any of this. Without a model, or with a damaged one, there are no vectors and nothing else
//! changes. A table can be deleted at any time; it is filled again from the keyword index.

mod code_filling;
mod embed_batch;
mod embed_error;
mod embedder;
mod gist;
mod model_choice;
mod model_files;
mod onnx_runtime;
mod table_folder;
mod vector_error;
mod vector_filter;
mod vector_hit;
mod vector_journal;
mod vector_row;
mod vector_source;
mod vector_table;
mod vector_upkeep;
mod vector_worker;

#[cfg(test)]
mod tests;

pub use embed_error::EmbedError;
pub use embedder::{Embedder, EmbedderOptions};
pub use gist::gist;
pub use model_choice::ModelChoice;
pub use vector_error::VectorError;
pub use vector_hit::VectorHit;
pub use vector_source::{ChangedCode, CodeSource, SessionSource, SourceError};
pub use vector_table::VectorTable;
pub use vector_upkeep::Upkeep;
pub use vector_worker::{Filling, VectorWorker, WorkerOptions};

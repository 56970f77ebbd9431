//! The workspace's code: walked, cut into chunks by definition, and kept in a keyword index that follows every change.
//!
//! ```text
//! walk ──► what is new or changed ──► read beneath the root ──► chunking ──► documents ──► KeywordWriter
//!   ▲                                                                        records  ──►  (same commit)
//!   └── update (all) · touch (some paths) · watch (what others write)
//! ```
//! Invariants: nothing outside the workspace is read, no link is followed, and what looks like a secret is not opened; after an
//! update the index equals one that was built from nothing; what is committed stays, whatever ends the process; every
//! line of an indexed file is in exactly one document. The index can be deleted: the workspace has everything.

mod chunking;
mod code_error;
mod code_index;
mod code_report;
mod content;
mod file_record;
mod ignore_rules;
mod manifest;
mod output;
mod reading;
mod root;
mod run;
mod secret_names;
mod skip;
mod walk;
mod watch;

#[cfg(test)]
mod tests;

pub use chunking::{Chunk, DefinitionKind, chunk_file};
pub use code_error::CodeError;
pub use code_index::CodeIndex;
pub use code_report::{CodeProgress, CodeReport};
pub use manifest::CodeChanges;
pub use skip::{SkipReason, Skipped};
pub use watch::{CodeWatch, WatchEvent, WatchSettings};

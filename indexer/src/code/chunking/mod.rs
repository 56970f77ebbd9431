//! Chunking: how a file is cut into pieces that are found by themselves.

mod chunk;
mod definitions;
mod grammar;
mod heredocs;
mod language;
mod layout;
mod lines;
mod markdown;
mod parse;
mod pieces;
mod tables;
mod windows;

#[cfg(test)]
mod tests;

pub(super) use chunk::{CHUNKER_VERSION, chunk_lines};
pub use chunk::{Chunk, DefinitionKind, chunk_file};

//! What can be derived from the event log of retrace, and from nothing else: it can be thrown away and made again.
//!
//! Today that is the [`Outline`] of a session: what was asked, what was run and how it ended, which files were touched. The
//! keyword, vector and summary indexes stand on the same rule: they follow the log, never append to it, and know the
//! position they reflect. This crate knows only `retrace-events`.

mod outline;
mod outline_text;

#[cfg(test)]
mod tests;

pub use outline::{Outline, OutlineCommand, OutlineFile, OutlinePrompt};

//! Claude Code's transcripts: `~/.claude/projects/<folder>/<session>.jsonl`, also packed with gzip.
//!
//! One JSON object a line. `user` and `assistant` lines hold messages of the API; an answer stands there block by block, one
//! line each, under one message id, and results may come between them. Everything else (`progress`, `system`,
//! `file-history-snapshot`, …) is bookkeeping, some of which tells how a turn went. Subagents have files of their own
//! (`subagents/agent-<id>.jsonl`), or stand in the session's file as side chains or as progress; each becomes a session of
//! its own. A session that went on in several files is put together again. The format is not documented and changes with each
//! version: what is not understood is left out and counted, never guessed.
//!
//! The converter reads lines in order and gives drafts. It never takes back what it gave, so a transcript that has grown gives
//! the same drafts and then more. What is said last may still be in the making: it is held back until something follows,
//! or until nothing has come for a while.

mod answer;
mod blocks;
mod collect;
mod converter;
mod failures;
mod importer;
mod lines;
mod outcome;
mod prompts;
mod record;
mod report;
mod survey;
mod tracks;
mod words;
mod work;

pub use importer::{Importer, Shop, StreamOf};
pub use report::{ImportReport, Problem, SessionReport, SessionState};

#[cfg(test)]
pub(super) use {
    converter::{Beginning, Converter},
    lines::{Line, Lines, MAX_LINE_BYTES},
    record::Record,
    words::Said,
};

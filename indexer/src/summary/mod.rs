//! The summary tree of a session: what happened, in few words that name their events.
//!
//! ```text
//!   level 2                  ┌───────────────── node ─ …            a parent for each full group of 8 nodes
//!   level 1        ┌────── node ──────┐  ┌──── node ───┐  …
//!   level 0      step step step … step  step … step  step          a prompt, or an answer with its calls and results
//! ```
//!
//! A node keeps a [`Digest`]: the user's words, decisions, errors, changed files, commands and how they ended, files read,
//! and the tasks that are open; each with its sequence number and event id. What does not fit into a node's budget is
//! dropped, the least important first, and counted.
//!
//! Invariants: everything here is a pure function of the events in order (and of the secrets that are taken out); a node
//! that was given out never changes; a node, its digest and the cursor are bounded however large the events are; every
//! event lies in exactly one leaf, or in the open end behind the last one. Nothing here asks a model: words that one wrote come
//! in as `summary.written` events, beside the digest and never instead of it.

mod budget;
mod cover;
mod decisions;
mod digest;
mod digest_item;
mod digest_plan;
mod digest_text;
mod done;
mod excerpt;
mod noted;
mod open_call;
mod open_step;
mod reading;
mod said;
mod summarize;
mod summary_cursor;
mod summary_node;

#[cfg(test)]
mod tests;

pub use cover::SummaryCover;
pub use digest::Digest;
pub use digest_item::{DigestItem, DigestKind};
pub use digest_plan::{DigestPlan, OpenTask};
pub use summarize::{Extractive, Summarize, SummarizeError, SummaryGroup, SummaryWords};
pub use summary_cursor::SummaryCursor;
pub use summary_node::{EXTRACTIVE, GROUP, MAX_WORDS_BYTES, SummaryNode};

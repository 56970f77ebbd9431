//! Summaries that a model writes: the words of the summary tree's upper levels, where the user asked for them.
//!
//! What a model wrote is an event (`summary.written`) in the session's stream of the class `summary`, so that a tree that is
//! built anew pays nothing. Steps stay extractive; each group of eight nodes gets one request, whose size, answer and cost
//! are bounded.
//!
//! Invariants: nothing is asked for that is in the log already; what is sent and what is stored is redacted; what comes from
//! a session is handed over as data between tags that it cannot close; a session does not wait for its summaries, and one
//! that cannot be written leaves the digest in its place. This module knows the log, the client and the tree, and neither
//! the agent nor a front end.

mod claude_summarizer;
mod known_summaries;
mod summary_request;
mod summary_writer;
mod write_report;

#[cfg(test)]
mod tests;

pub use claude_summarizer::ClaudeSummarizer;
pub use known_summaries::KnownSummaries;
pub use summary_writer::SummaryWriter;
pub use write_report::{WriteLimits, WriteReport, WriteStop};

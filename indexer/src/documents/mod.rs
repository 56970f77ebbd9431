//! From the events of a session to what can be found of it.
//!
//! ```text
//!   event ──► SessionCursor::apply ──► units (a prompt, a block of an answer, a call, its result, a note)
//!                                        │ redacted whole, cleaned, parted at line ends
//!                                        ▼
//!                                      Document <stream>/<seq>.<part>     Body: an output that is kept beside the event
//!                                                                           └─ body_documents(bytes) ──► Document …
//! ```
//!
//! Invariants: pure and deterministic, so that any split of the events, and a cursor that was stored in between, lead to the
//! same documents; secrets are taken out of a text while it is whole; whatever the events hold, a cursor, an event's
//! documents and each of them are bounded. All parts of one long text share an ordinal: the neighbours of a piece of output
//! are the call before and the answer after it, not the next piece. What is in a stream twice by its nature is taken once: a
//! queued prompt when its turn comes, the calls of an answer when they are carried out, a found passage where it
//! first stood.
//!
//! A fork's documents are those of its own events; [`lineage`](crate::lineage) says whose else belong to it.

mod answer;
mod body;
mod call_input;
mod clean;
mod command_paths;
mod lineage;
mod notes;
mod open_calls;
mod parting;
mod paths;
mod session_cursor;
mod unit;

#[cfg(test)]
mod tests;

pub(crate) use body::{MAX_BODY_BYTES, body_documents};
pub use lineage::lineage;
pub(crate) use session_cursor::SessionCursor;

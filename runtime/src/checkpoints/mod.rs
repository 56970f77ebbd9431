//! Checkpoints: what was folded from a session's events up to one of them, kept as files, so that resuming and forking read only
//! what came later, however long the session is.
//!
//! ```text
//!   log      0 ─────────────── 1999 ─────────────── 3999 ───────────── 5200
//!                               ▲                    ▲         fold      ▲
//!   files    <state>/checkpoints/<log>/<session>/state-…3999   ─────────►│ state
//! ```
//!
//! Derived data: all of it may be deleted at any time, and is never trusted more than the log. A checkpoint belongs to an event of
//! a stream, and is used only while the log has that very event, by its hash, which stands for all events before it; a fork uses its
//! ancestors' checkpoints. It holds the hash of its own bytes, and the name of the code that folded it: a torn, damaged or outdated
//! file is as good as none. What cannot be written is not there, and nobody is told.
//!
//! What verifies a log or a session never comes here: damage before a checkpoint is found by `retrace log verify`, not by resuming.

mod candidates;
mod checkpoint_store;
mod fold_id;
mod kept_past;
mod overall_limit;
mod sealed;
mod session_shelf;
mod thinning;

#[cfg(test)]
mod tests;

pub use checkpoint_store::Checkpoints;
pub(crate) use kept_past::KeptPast;

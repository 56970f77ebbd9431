//! Deleting sessions, and cleaning up what nothing needs any more.
//!
//! The order is what makes it safe to be killed at any point: first a session's stream (from then on it is deleted, and whoever
//! was writing it is refused), then what was said to it and written about it, and only then what no event names any more:
//! blobs, snapshots, objects beside the log. So no event ever names what is gone. What a killed deletion has left, the same
//! deletion removes when it is asked for again, and what is named by nothing goes with any later one.
//!
//! What was put within the last hour stays in any case, because the event that names it may be on its way; of a deleted
//! session's own blobs only what somebody has put again since.

mod family;
mod needed;
mod removal;
mod sweep;
#[cfg(test)]
mod tests;

pub(crate) use family::{Family, ancestors};
pub(crate) use removal::{Candidates, Finished, candidates, finish_all, remove};
pub(crate) use sweep::{Swept, sweep};

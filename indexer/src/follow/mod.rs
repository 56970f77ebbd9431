//! Following the log: from events to an index that knows which events it has seen.
//!
//! Delivery is at least once, the effect exactly once: the position stands in the commit that holds the documents. What a
//! crash left uncommitted is read again; what is damaged is made again; and a log that has lost what the index saw is
//! noticed, because the index remembers its last event. A stream that was deleted leaves the index when its tombstone is read.

mod feeder;
mod follow_error;
mod follower;
mod index_check;
mod index_folder;
mod index_note;
mod index_status;
mod kill_point;
mod log_feed;
mod rebuild;
mod session_memory;
mod writer_lock;

#[cfg(test)]
mod tests;

pub use follow_error::FollowError;
pub use follower::Follower;
pub use index_check::IndexCheck;
pub use index_folder::IndexFolder;
pub use index_note::{IndexNote, Witness};
pub use index_status::IndexStatus;
pub use log_feed::FollowProgress;
pub use rebuild::Rebuild;
pub(crate) use session_memory::DELETIONS;
pub use writer_lock::{LockOutcome, WriterLock};

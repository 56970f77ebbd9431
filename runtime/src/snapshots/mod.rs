//! When a session's agent takes snapshots of its workspace, and what the log says of them.
//!
//! Before the first call of a turn that may write, so that what people changed by hand is known as theirs, and after each such
//! call. The first one is taken while the model thinks. What cannot be taken is said in the log, and the session goes on.

mod giving_back;
mod snapshot_keeper;
mod snapshot_plan;
mod snapshot_publisher;

pub(crate) use giving_back::{bring, fetch, on_store, restore};
pub(crate) use snapshot_keeper::SnapshotKeeper;
pub use snapshot_plan::SnapshotPlan;
pub(crate) use snapshot_publisher::SnapshotPublisher;

//! Forks: sessions that go on from an event of another one, with the files as they were then.
//!
//! ```text
//!   original   0 ── 1 ── 2 ── 3 ── 4 ── 5        never touched
//!                        └── fork   0 ── 1        first event: "from event 2 of the original"; nothing is copied
//! ```
//!
//! [`ForkPoint`] says where a fork begins and with which files, [`NewFork`] writes its first events. The files are restored by
//! whoever opens the fork first, so its first request does not wait for them. Invariants: a fork never begins inside a call, whose
//! effects are in no snapshot yet; what it begins with is a function of the original's events up to there.

mod fork_point;
mod fork_tree;
mod new_fork;
mod parting;
mod tags;
#[cfg(test)]
mod tests;

pub use fork_point::{ForkError, ForkPoint};
pub use fork_tree::{ForkTree, Kin};
pub use new_fork::NewFork;
pub(crate) use new_fork::logged;
pub use parting::Parting;
pub use tags::{Tag, tags_of};

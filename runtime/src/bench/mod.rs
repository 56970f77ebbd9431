//! The benchmark of context assembly: how much of what the next action needs is in the context that a policy composes, and
//! at what cost?
//!
//! ```text
//!  recording, log ──► sessions ──► points ──► need of the recorded call ──┐
//!                        │                                               ├──► shares, intervals ──► report
//!                        └──► arm ──► composed context ──► what is in it ─┘
//!                                          └──► cache simulator ──► tokens read, cost
//! ```
//!
//! Recorded sessions are played again: at recorded calls ([`points`]) each policy ([`Arm`]) composes a context under a budget,
//! and measured is the share of the call's evidence ([`evidence`]) that it holds. All requests of the sessions go through a
//! simulated prompt cache ([`cache`]). Composing knows nothing of measuring, and measuring nothing of policies. No request is
//! sent, no clock is read but for latencies, and all but these is the same from run to run.

pub mod arms;
pub mod cache;
pub mod characters;
mod composed;
mod context_bench;
pub mod evidence;
mod intervals;
mod item;
mod lexicon;
mod logged;
mod measure;
mod measurements;
mod need;
pub mod points;
mod recorded;
mod report;
mod requests;
mod session;
mod words;

#[cfg(test)]
mod tests;

pub use arms::{Arm, Ask, Composer, all_arms};
pub use composed::{Body, Composed, Piece};
pub use context_bench::{BenchPlan, ContextBench, PointView};
pub use intervals::Estimate;
pub use item::{Item, ItemKind};
pub use logged::LoggedSession;
pub use measure::{Measure, Metric};
pub use measurements::{Cell, Latency, Measurements};
pub use recorded::{RecordedError, recorded_sessions};
pub use report::{html, json, table};
pub use requests::RequestSums;
pub use session::{BenchSession, RecordedRequest};

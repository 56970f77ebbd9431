//! The agent: prompt, request, answer, tools, and again, until the turn ends; each step an event before it acts.
//!
//! What to do next is a pure function of the session's state ([`next`]), so going on after a crash is the same code as going
//! on. [`Agent`] is the handle through which every front end reaches a session. Invariants: a request's event is in the log
//! before its bytes are sent, a call's event before its effect starts, and a result before the next request; whatever a
//! crash left open is settled before anything else ([`settle`]).

mod agent_handle;
mod approvals;
mod background;
mod budget;
mod calls;
mod compacting;
mod connections;
mod control;
mod epochs;
mod error;
mod family;
mod files;
mod fullness;
mod hearing;
mod image_room;
mod lacking;
mod live;
mod next;
mod order;
mod parts;
mod recovery;
mod repeats;
mod request;
mod retrieving;
mod sandboxing;
mod seeding;
mod settle;
mod shown;
pub mod step;
pub mod stuck;
mod turns;
mod workroom;

#[cfg(test)]
mod tests;

pub use agent_handle::{Agent, TurnEnd};
pub use error::AgentError;
pub(crate) use fullness::{Fullness, estimate};
pub(crate) use lacking::{QUERY as LACKING_QUERY, lacking_room};
pub use live::{Live, LiveSender};
pub use order::AgentOrder;
pub use parts::{AgentParts, NewSession, title_of};
pub use sandboxing::SandboxSetup;
pub(crate) use sandboxing::{SandboxWish, start as start_sandbox};
pub(crate) use seeding::{SeedPlan, seed_budget, stays_whole, without_instructions};
pub(crate) use settle::settlements;

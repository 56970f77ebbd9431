//! The guest binary over its real protocol, as a plain process: what it does must not depend on a sandbox around it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod client;
mod confine;
mod exec;
mod files;
mod forward;
mod protocol;
mod search;
mod silence;
mod terminal;
mod tree;
mod write;

//! retrace: an event-sourced runtime for coding agents.
//!
//! This crate puts the parts together: the agent loop, context assembly, the Claude client, the tools, the scripted
//! Claude server, configuration and the command line. Front ends reach the agent only through its handle
//! ([`agent::Agent`]); tools know neither the model nor any front end.

pub mod agent;
mod audit;
pub mod bench;
pub mod checkpoints;
pub mod claude;
pub mod cli;
pub mod config;
pub mod context;
mod deletion;
pub mod demo;
pub mod forking;
pub mod import;
mod indexing;
pub mod permissions;
pub mod replaying;
pub mod scripted;
pub mod snapshots;
pub mod summarizer;
pub mod tools;
pub mod travelling;

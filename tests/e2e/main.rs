//! End-to-end tests: the command as a user runs it, against real servers and in a real sandbox.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs, reason = "tests")]

mod bad_chat;
mod bad_input;
mod bench_context;
mod chat_approvals;
mod chat_stops;
mod chat_talk;
mod chat_tools;
mod chat_typed_ahead;
mod checks;
mod compaction;
mod control_hammer;
mod crashes;
mod delete;
mod demo;
mod disk_full;
mod faults;
mod forks;
mod hostile_workspace;
mod imports;
mod index_crashes;
mod interrupt;
mod json_output;
mod memory;
mod nats_failures;
mod network;
mod python_client;
mod recall;
mod replay_execute;
mod rotation;
mod rotation_memory;
mod sandbox_gone;
mod scripts;
mod search;
mod search_cli;
mod search_meaning;
mod stops;
mod stuck;
mod talk;
mod terminal;
mod transfer;
mod travelling;
mod two_processes;
mod workspace_trust;
mod world;

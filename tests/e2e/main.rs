//! End-to-end tests: the command as a user runs it, against real servers and in a real sandbox.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs, reason = "tests")]

mod bad_input;
mod checks;
mod crashes;
mod demo;
mod disk_full;
mod faults;
mod interrupt;
mod json_output;
mod nats_failures;
mod python_client;
mod sandbox_gone;
mod scripts;
mod stops;
mod transfer;
mod two_processes;
mod workspace_trust;
mod world;

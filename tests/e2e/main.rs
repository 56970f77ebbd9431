//! End-to-end tests: the command as a user runs it, against real servers and in a real sandbox.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs, reason = "tests")]

mod bad_input;
mod crashes;
mod demo;
mod interrupt;
mod python_client;
mod scripts;
mod world;

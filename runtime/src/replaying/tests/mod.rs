//! Tests of sessions once more: the pure parts by table and property, and calls through a real sandbox and a real store of snapshots.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod comparison_tests;
mod difference_tests;
mod execution_tests;
mod files_tests;
mod moved_input_tests;
mod normaliser_tests;
mod outline_tests;
mod pointers_tests;
mod recorded_call_tests;
mod recorder;
mod summary_tests;
mod upsets_tests;
mod verifying_tests;
mod what_if_tests;

//! Tests of the tools: the pure parts by table and property, and every tool through a real sandbox.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod capture_tests;
mod lines_tests;
mod magic_tests;
mod output_tests;
mod replace_tests;
mod text_file_tests;

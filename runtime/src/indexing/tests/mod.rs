//! Tests of what keeps the indexes up to date beside a session, and of what it is told from them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod background_index_tests;
mod index_memory_tests;

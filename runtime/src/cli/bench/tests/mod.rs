//! Tests of `retrace bench`: which sessions are measured, and what is said of bad input. Whole commands are the end-to-end
//! tests' business.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod context_tests;
mod sources_tests;

//! Tests of what `retrace index` says.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod index_facts_tests;

//! The stored formats: golden files of every kind, upcasting, and round trips of anything.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has to fail")]

mod golden;
mod roundtrip;
mod upcasting;

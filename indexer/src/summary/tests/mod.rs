//! Tests of the summary tree: what is kept, in what words, within what bounds, and that no node ever changes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod call_tests;
mod cover_tests;
mod digest_tests;
mod excerpt_tests;
mod made;
mod merge_tests;
mod node_tests;
mod step_tests;
mod text_tests;
mod told_tests;
mod tree_tests;

//! Tests of queries, filters and snippets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

pub(crate) mod filter_tests;
mod moment_tests;
mod parser_tests;
mod path_pattern_tests;
mod snippet_tests;
mod window_tests;

use retrace_events::Timestamp;

/// Wednesday, 2026-01-07 15:04:05.006 UTC.
pub(super) const NOW: Timestamp = Timestamp(1_767_798_245_006);

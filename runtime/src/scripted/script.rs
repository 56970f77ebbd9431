//! A script: what the scripted server answers, step by step.
//!
//! The types here are checked and ready to play; `script_file.rs` reads them out of TOML.

use std::ops::Range;

use super::step::Step;

/// A checked script.
#[derive(Debug, Clone)]
pub struct Script {
    pub(super) steps: Vec<Step>,
    /// How requests for a summary are answered.
    pub(super) compaction: CompactionStep,
}

/// How a request for a summary is answered.
#[derive(Debug, Clone)]
pub(super) struct CompactionStep {
    /// The words; `None` makes some of what the user said.
    pub(super) summary: Option<String>,
    /// Its stop reason, figures, faults and delivery.
    pub(super) step: Step,
}

/// Where in the file something stands, in bytes.
pub(super) type Span = Range<usize>;

//! A script: what the scripted server answers, step by step.
//!
//! The types here are checked and ready to play; `script_file.rs` reads them out of TOML.

use std::ops::Range;

use super::step::Step;

/// A checked script.
#[derive(Debug, Clone)]
pub struct Script {
    pub(super) steps: Vec<Step>,
}

/// Where in the file something stands, in bytes.
pub(super) type Span = Range<usize>;

//! The demo's material: the sources of a real crate, a copy of them to work on, and the script that plays the model.
//!
//! The copy is made fit for building without a network: what a crate's own tests do not need (optional and development
//! dependencies, benchmarks) is taken out of its manifest. Everything else about the demo is the normal agent.

mod crate_source;
mod manifest;
mod playground;

#[cfg(test)]
mod tests;

pub use crate_source::{CrateSource, DemoError};
pub use playground::Playground;

/// The script that plays the model's part.
pub const SCRIPT: &str = include_str!("demo.toml");

/// What the agent is asked to do in the demo.
pub const TASK: &str = "When a pattern has a tab before the place of a syntax error, the caret in the error message \
stands in the wrong column. Add a test for that to src/error.rs, see it fail, fix it, and run all of the crate's tests.";

/// The script's step that ends the demo well; any other end is a failure.
pub const LAST_STEP: &str = "done";

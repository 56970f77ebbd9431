//! Context assembly: from a session's state to the exact bytes of a request.
//!
//! A request is a function of the log and of nothing else. What is not conversation (system, tools, model row) stands
//! verbatim in the epoch's first event ([`epoch`]), and the renderer that an epoch began with ([`render()`]) is kept for
//! as long as there are logs that name it. For now an epoch carries the whole history; retrieval into the tail comes as
//! another renderer beside this one.

mod epoch;
mod instructions;
mod render;

#[cfg(test)]
mod tests;

pub use epoch::{EpochError, first_epoch};
pub use render::{RENDERER, RenderError, render};

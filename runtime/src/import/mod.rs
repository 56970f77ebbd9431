//! Takes in sessions that came about in other programs, so that they can be searched, read and gone on with here.
//!
//! A reader of a foreign format ([`claude_code`]) makes [`Draft`]s of it, in order; an [`Intake`] puts them into the log.
//! Invariants: the same source gives the same event ids, so taking it in again changes nothing, and a source that has
//! grown, or an import that was broken off, is completed where it stopped; what another program did is never claimed as
//! retrace's own: such a session says so with `session.imported`, and has no epochs and no requests.

pub mod claude_code;
mod draft;
mod error;
mod intake;

#[cfg(test)]
mod tests;

pub use draft::Draft;
pub use error::ImportError;
pub use intake::{Intake, Refusal, Taken};

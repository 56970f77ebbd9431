//! The control stream of a session: the one way in which anybody but its holder has a say in it.
//!
//! ```text
//!   any number of processes ── ControlSender ──►  ev.<tenant>.<project>.control.<id>  ── Inbox ──►  the session's holder
//! ```
//!
//! **Order.** The order of the control stream is the order in which the holder takes what was sent. What one sender sent
//! stands there in the order it was sent in; what several sent at a time stands in the order in which the log took it.
//!
//! **Once.** A [`ControlSender`] appends each event once, also when an ack is lost. An [`Inbox`] gives each event once; its
//! reader notes in the session which events it has taken, and begins behind them after a crash.
//!
//! What the events mean is the holder's business: this module moves them.

mod control_sender;
mod inbox;
#[cfg(test)]
mod tests;

pub use control_sender::ControlSender;
pub use inbox::Inbox;

use crate::id::{Class, StreamId};

/// The control stream of `session`.
#[must_use]
pub fn control_stream(session: &StreamId) -> StreamId {
    session.sibling(Class::Control)
}

//! Messages about connections that commands open and the host carries on.
//!
//! The guest listens on the sandbox's own loopback; every `Accept` of the host is completed by one connection and then
//! carries its bytes: `Received` and `Data` are the two directions, each with credit of its own.

use serde::{Deserialize, Serialize};

/// Bytes that either side may send on a connection before the other must grant more. Every frame costs
/// [`super::CHUNK_COST_BYTES`] besides its bytes.
pub const FORWARD_WINDOW_BYTES: u64 = 256 * 1024;
/// The most connections, and offers to take one, at once.
pub const MAX_FORWARDED: usize = 256;

/// Where to listen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListenSpec {
    /// The port on 127.0.0.1; one that the kernel chooses when 0.
    pub port: u16,
}

/// A connection that was taken.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// The `RETRACE_CALL_ID` of the process that connected, or of its nearest ancestor that has one, where that can be
    /// found. A hint: a command can set the variable as it likes, or let another process connect for it.
    pub origin: Option<String>,
}

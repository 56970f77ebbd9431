//! Places in a log: of an event in the order over all streams, and of the last event of one stream.

use crate::hash::Hash;
use crate::id::Timestamp;
use serde::{Deserialize, Serialize};

/// A place in the order over all streams. 0 is before the first event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Position(pub u64);

/// The last event of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Its sequence number.
    pub seq: u64,
    /// Its hash.
    pub hash: Hash,
    /// When it was made.
    pub at: Timestamp,
}

//! Deleting a stream, and what stays of it.
//!
//! ```text
//!   before   0 ── 1 ── 2 ── 3                    after                  4: stream.deleted
//! ```
//!
//! Of a deleted stream one event stays, its *tombstone*: the next one in the chain, without a payload. It is appended
//! first, against the fence, and then everything before it is removed. So whoever wrote the stream until then, or comes late
//! with its first event, is refused ([`LogError::Deleted`]); and whoever follows the log hears of the deletion in its place
//! in the order of all streams, however late.
//!
//! To everybody who asks for the stream it is not there: `head`, `read` and `streams` know nothing of it. Only
//! [`EventLog::begin_again`] may put events in the place of the tombstone, from number 0 on.
//!
//! [`EventLog::begin_again`]: super::EventLog::begin_again
//! [`LogError::Deleted`]: super::LogError::Deleted

use super::Head;
use crate::envelope::Envelope;
use crate::hash::Hash;
use crate::id::{EventId, StreamId, Timestamp};

/// The kind of a tombstone.
pub(crate) const DELETED: &str = "stream.deleted";

/// How often a deletion tries again when others write the stream at the same time.
pub(crate) const TRIES: usize = 100;

/// A stream that is to be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deletion {
    /// The stream.
    pub stream: StreamId,
    /// The id of the tombstone.
    pub id: EventId,
    /// When it is deleted.
    pub at: Timestamp,
}

impl Deletion {
    /// Whether `envelope` is a tombstone: of its stream nothing is left that came before it.
    #[must_use]
    pub fn stands_in(envelope: &Envelope) -> bool {
        envelope.kind == DELETED
    }

    /// The tombstone behind `head`.
    pub(crate) fn tombstone(&self, head: Option<Head>) -> Envelope {
        Envelope {
            id: self.id,
            stream: self.stream.clone(),
            seq: head.map_or(0, |head| head.seq + 1),
            at: head.map_or(self.at, |head| self.at.max(head.at)),
            kind: DELETED.to_owned(),
            schema: 1,
            cause: None,
            prev_hash: head.map_or(Hash::GENESIS, |head| head.hash),
            payload: Vec::new(),
        }
    }
}

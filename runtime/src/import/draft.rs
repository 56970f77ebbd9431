//! An event that is not in the log yet.

use retrace_events::{EventId, Payload, StreamId};

/// An event as it is read from a source: without its place in a stream, with the name that its id is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// What it was made of: the source's own name of the record and which part of it this is. Unique in the session.
    pub name: String,
    /// When it happened, in milliseconds since 1970.
    pub at_ms: u64,
    /// What it says.
    pub payload: Payload,
    /// Bodies that must be in the blob store before it.
    pub blobs: Vec<Vec<u8>>,
}

/// Milliseconds that a UUIDv7 can hold: 48 bits.
const MAX_MS: u64 = (1 << 48) - 1;

impl Draft {
    /// Its id in `stream`: a UUIDv7 of its time and of a hash of its name, the same whenever it is read.
    #[must_use]
    pub fn id(&self, stream: &StreamId) -> EventId {
        let mut hasher = blake3::Hasher::new();
        for part in ["retrace import", &stream.subject(), &self.name] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let mut random = [0; 10];
        random.copy_from_slice(&hasher.finalize().as_bytes()[..10]);
        EventId(uuid::Builder::from_unix_timestamp_millis(self.at_ms.min(MAX_MS), &random).into_uuid())
    }
}

//! Makes events for tests: valid, chained, and the same for the same seed.

use crate::codec::BINCODE_2;
use crate::envelope::Envelope;
use crate::hash::Hash;
use crate::id::{EventId, StreamId, Timestamp};
use crate::mint::{Mint, SeededMint};
use crate::payload::{Payload, turn};

/// How far apart events are, in milliseconds: more than one maker's own clock ever moves.
const STEP_MS: u64 = 1_000_000;

/// Makes the events of one stream, one behind the other.
#[derive(Debug)]
pub struct EventMaker {
    mint: SeededMint,
    stream: StreamId,
    next_seq: u64,
    prev_hash: Hash,
}

impl EventMaker {
    /// For an empty stream.
    #[must_use]
    pub const fn new(stream: StreamId, seed: u64) -> Self {
        Self { mint: SeededMint::new(seed), stream, next_seq: 0, prev_hash: Hash::GENESIS }
    }

    /// For a stream whose last event is known.
    #[must_use]
    pub const fn behind(stream: StreamId, seed: u64, last: (u64, Hash)) -> Self {
        Self { mint: SeededMint::new(seed), stream, next_seq: last.0 + 1, prev_hash: last.1 }
    }

    /// The next event: a prompt with this text.
    ///
    /// # Panics
    /// When the text is too large for a payload.
    pub fn prompt(&mut self, text: &str) -> Envelope {
        let prompted =
            turn::TurnPrompted { text: text.to_owned(), source: turn::PromptSource::Local, attachments: Vec::new() };
        self.payload(&prompted.into(), None)
    }

    /// The next events: `count` prompts.
    pub fn prompts(&mut self, count: usize) -> Vec<Envelope> {
        (0..count).map(|n| self.prompt(&format!("prompt {n}"))).collect()
    }

    /// The next event, with this payload.
    ///
    /// # Panics
    /// When the payload is too large.
    pub fn payload(&mut self, payload: &Payload, cause: Option<EventId>) -> Envelope {
        let schema = Payload::schema_of(payload.kind()).expect("a known kind");
        self.raw(payload.kind(), schema, payload.encode().expect("a payload that can be encoded"), cause)
    }

    /// The next event, of a kind that this version does not know, with `size_bytes` bytes of payload.
    pub fn opaque(&mut self, kind: &str, size_bytes: usize) -> Envelope {
        let seed = self.mint.event_id().0.as_u128();
        let mut payload = vec![BINCODE_2];
        // Bytes that do not compress and are not all the same.
        payload.extend((0..size_bytes).map(|n| (seed.wrapping_mul(n as u128 + 1) >> 64).to_le_bytes()[0]));
        self.raw(kind, 1, payload, None)
    }

    /// The next event, with everything given.
    ///
    /// # Panics
    /// When it cannot be encoded.
    pub fn raw(&mut self, kind: &str, schema: u16, payload: Vec<u8>, cause: Option<EventId>) -> Envelope {
        let envelope = Envelope {
            id: self.mint.event_id(),
            stream: self.stream.clone(),
            seq: self.next_seq,
            // Makers of one stream may take turns: the time follows the place in the stream.
            at: Timestamp(self.mint.now().0 + self.next_seq * STEP_MS),
            kind: kind.to_owned(),
            schema,
            cause,
            prev_hash: self.prev_hash,
            payload,
        };
        self.next_seq += 1;
        self.prev_hash = envelope.hash().expect("an envelope that can be encoded");
        envelope
    }

    /// Where the stream would end if all that was made were stored.
    #[must_use]
    pub const fn last(&self) -> Option<(u64, Hash)> {
        if self.next_seq == 0 { None } else { Some((self.next_seq - 1, self.prev_hash)) }
    }
}

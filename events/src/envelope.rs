//! The envelope: what every event carries around its payload, and the hash that chains it to the one before.

use crate::codec::{self, CodecError, Decoded};
use crate::hash::Hash;
use crate::id::{EventId, StreamId, Timestamp};
use serde::{Deserialize, Serialize};

/// One event as it is stored. The payload stays bytes here, so that an event of an unknown kind is carried along
/// unharmed; [`Event`] is the decoded form.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Envelope {
    /// Unique over all streams; a second append of the same id is not a second event.
    pub id: EventId,
    /// The stream it stands in.
    pub stream: StreamId,
    /// Its place in the stream, counted from 0 without gaps.
    pub seq: u64,
    /// When it was made, by the writer's clock.
    pub at: Timestamp,
    /// `<subject>.<name>`, for example `turn.prompted`.
    pub kind: String,
    /// The version of this kind's payload format.
    pub schema: u16,
    /// The event that led to this one.
    pub cause: Option<EventId>,
    /// The hash of the event before it in the stream; of the parent's event for the first of a fork.
    pub prev_hash: Hash,
    /// Codec byte and encoded payload.
    #[serde(with = "payload_bytes")]
    pub payload: Vec<u8>,
}

impl Envelope {
    /// The hash of this event: BLAKE3 over its canonical encoding ([`codec::encode_envelope`]).
    ///
    /// # Errors
    /// When the envelope cannot be encoded, which no envelope made by this crate is.
    pub fn hash(&self) -> Result<Hash, CodecError> {
        Ok(Hash::of(&codec::encode_envelope(self)?))
    }
}

/// An event whose payload was decoded, with its own hash beside it.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// The stored form.
    pub envelope: Envelope,
    /// The hash of `envelope`.
    pub hash: Hash,
    /// The payload, or the fact that this version does not know it.
    pub payload: Decoded,
}

impl Event {
    /// Decodes the payload of `envelope`, lifting old formats to today's.
    ///
    /// # Errors
    /// When the bytes are not what the kind and schema promise.
    pub fn decode(envelope: Envelope) -> Result<Self, CodecError> {
        let hash = envelope.hash()?;
        let payload = codec::decode_payload(&envelope.kind, envelope.schema, &envelope.payload)?;
        Ok(Self { envelope, hash, payload })
    }
}

/// Payload bytes: as they are in binary formats, base64 in text formats.
mod payload_bytes {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(bytes: &Vec<u8>, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(&STANDARD.encode(bytes))
        } else {
            bytes.serialize(serializer)
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        if deserializer.is_human_readable() {
            STANDARD.decode(String::deserialize(deserializer)?).map_err(D::Error::custom)
        } else {
            Vec::deserialize(deserializer)
        }
    }
}

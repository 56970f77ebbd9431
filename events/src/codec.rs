//! The one place where bytes are made of events and events of bytes, and the only file that names bincode.
//!
//! An encoded payload is one codec byte ([`BINCODE_2`]) and then bincode 2 with its standard configuration. bincode
//! is finished and no longer maintained: the codec byte leaves the way open to another format without touching old
//! logs. An envelope's canonical encoding, the one that is hashed, sent and stored, is made the same way.

#[cfg(test)]
#[path = "codec_tests.rs"]
mod tests;

use crate::envelope::Envelope;
use crate::payload::Payload;
use crate::upcast::Upcasters;
use serde::{Serialize, de::DeserializeOwned};
use std::sync::LazyLock;

/// The codec byte of bincode 2, standard configuration.
pub const BINCODE_2: u8 = 1;

/// The largest encoded payload, in bytes. The API takes requests of at most 32 MB, so no answer or prompt is larger.
pub const MAX_PAYLOAD_BYTES: usize = 32 * 1024 * 1024;

/// The largest encoded value that is derived from events, in bytes.
pub const MAX_DERIVED_BYTES: usize = 128 * 1024 * 1024;

/// Why bytes could not be made or understood.
#[derive(Debug, thiserror::Error)]
pub enum CodecError {
    /// The first byte names a codec that this version does not have.
    #[error("codec {0} is not known to this version")]
    UnknownCodec(u8),
    /// There is not even a codec byte.
    #[error("no bytes at all")]
    Empty,
    /// The bytes are not a value of the expected type.
    #[error("cannot decode {what}: {why}")]
    Malformed {
        /// What was expected.
        what: String,
        /// What the decoder says.
        why: String,
    },
    /// A value that cannot be encoded.
    #[error("cannot encode: {0}")]
    Unencodable(String),
    /// An encoded payload over [`MAX_PAYLOAD_BYTES`].
    #[error("a payload of {size_bytes} bytes is over the limit of {limit_bytes}")]
    TooLarge {
        /// Its size.
        size_bytes: usize,
        /// The limit.
        limit_bytes: usize,
    },
}

/// A payload as read: understood, or left as it is.
#[derive(Clone, PartialEq, Debug)]
pub enum Decoded {
    /// A payload of a kind and schema that this version knows.
    Known(Box<Payload>),
    /// A kind, or a schema of a known kind, that only a newer version knows. Such a session can be read and carried
    /// along, but not written.
    Newer,
}

impl Decoded {
    /// The payload when it is known.
    #[must_use]
    pub fn known(&self) -> Option<&Payload> {
        match self {
            Self::Known(payload) => Some(payload),
            Self::Newer => None,
        }
    }
}

/// Encodes any value: codec byte, then bincode.
///
/// # Errors
/// When the value has a form bincode cannot hold, or is too large.
pub fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, CodecError> {
    let mut bytes = vec![BINCODE_2];
    let config = bincode::config::standard();
    bincode::serde::encode_into_std_write(value, &mut bytes, config)
        .map_err(|e| CodecError::Unencodable(e.to_string()))?;
    if bytes.len() > MAX_PAYLOAD_BYTES {
        return Err(CodecError::TooLarge { size_bytes: bytes.len(), limit_bytes: MAX_PAYLOAD_BYTES });
    }
    Ok(bytes)
}

/// Encodes what is folded from events and can be folded again, such as a state: never anything that has to be read for
/// years, since the bytes say nothing of the type's version.
///
/// # Errors
/// When the value has a form bincode cannot hold, or is larger than [`MAX_DERIVED_BYTES`].
pub fn encode_derived<T: Serialize>(value: &T) -> Result<Vec<u8>, CodecError> {
    let bytes = bincode::serde::encode_to_vec(value, bincode::config::standard());
    let bytes = bytes.map_err(|e| CodecError::Unencodable(e.to_string()))?;
    if bytes.len() > MAX_DERIVED_BYTES {
        return Err(CodecError::TooLarge { size_bytes: bytes.len(), limit_bytes: MAX_DERIVED_BYTES });
    }
    Ok(bytes)
}

/// Decodes what [`encode_derived`] made; every byte must be used.
///
/// # Errors
/// When the bytes are not a `T`, or claim to be more than they are.
pub fn decode_derived<T: DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<T, CodecError> {
    let malformed = |why: String| CodecError::Malformed { what: what.to_owned(), why };
    // Small numbers count for more than they take.
    let config = bincode::config::standard().with_limit::<{ 2 * MAX_DERIVED_BYTES }>();
    let (value, used) = bincode::serde::decode_from_slice(bytes, config).map_err(|e| malformed(e.to_string()))?;
    if used != bytes.len() {
        return Err(malformed(format!("{} bytes are left over", bytes.len() - used)));
    }
    Ok(value)
}

/// Decodes what [`encode`] made; every byte must be used.
///
/// # Errors
/// When the codec is unknown or the bytes are not a `T`.
pub fn decode<T: DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<T, CodecError> {
    let (codec, body) = bytes.split_first().ok_or(CodecError::Empty)?;
    if *codec != BINCODE_2 {
        return Err(CodecError::UnknownCodec(*codec));
    }
    let malformed = |why: String| CodecError::Malformed { what: what.to_owned(), why };
    // The limit keeps a hostile length field from asking for gigabytes; 64 KiB cover the envelope around a payload.
    let config = bincode::config::standard().with_limit::<{ MAX_PAYLOAD_BYTES + 65_536 }>();
    let (value, used) = bincode::serde::decode_from_slice(body, config).map_err(|e| malformed(e.to_string()))?;
    if used != body.len() {
        return Err(malformed(format!("{} bytes are left over", body.len() - used)));
    }
    Ok(value)
}

/// The canonical bytes of an envelope.
///
/// # Errors
/// As [`encode`], except for the limit: an envelope may be as large as its payload and a little more.
pub fn encode_envelope(envelope: &Envelope) -> Result<Vec<u8>, CodecError> {
    let mut bytes = Vec::with_capacity(envelope.payload.len() + 256);
    bytes.push(BINCODE_2);
    let config = bincode::config::standard();
    bincode::serde::encode_into_std_write(envelope, &mut bytes, config)
        .map_err(|e| CodecError::Unencodable(e.to_string()))?;
    Ok(bytes)
}

/// The envelope in canonical bytes.
///
/// # Errors
/// When they are not an envelope.
pub fn decode_envelope(bytes: &[u8]) -> Result<Envelope, CodecError> {
    decode("envelope", bytes)
}

/// Decodes a payload of `kind` in the format `schema`, lifting an old one through the shipped upcasters.
///
/// # Errors
/// When the bytes are not what kind and schema promise.
pub fn decode_payload(kind: &str, schema: u16, bytes: &[u8]) -> Result<Decoded, CodecError> {
    static SHIPPED: LazyLock<Upcasters> = LazyLock::new(Upcasters::shipped);
    decode_payload_with(&SHIPPED, kind, schema, bytes)
}

/// As [`decode_payload`], with upcasters of the caller's.
///
/// # Errors
/// When the bytes are not what kind and schema promise, or a step between two schemas is missing.
pub fn decode_payload_with(
    upcasters: &Upcasters,
    kind: &str,
    schema: u16,
    bytes: &[u8],
) -> Result<Decoded, CodecError> {
    let Some(current) = Payload::schema_of(kind) else { return Ok(Decoded::Newer) };
    if schema > current {
        return Ok(Decoded::Newer);
    }
    let lifted = upcasters.lift(kind, schema, current, bytes)?;
    Ok(Decoded::Known(Box::new(Payload::decode(kind, lifted.as_deref().unwrap_or(bytes))?)))
}

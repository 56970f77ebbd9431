//! The frame codec: `u32` header length, `u32` body length (both big-endian), JSON header, raw body.
//!
//! Both lengths are bounded *before* anything is allocated, so a corrupt or hostile peer costs an error and nothing
//! else. Larger data travels in several frames. The codec knows nothing about what the messages mean.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The most bytes a frame's JSON header may have.
pub const MAX_HEADER_BYTES: usize = 1024 * 1024;
/// The most bytes a frame's body may have.
pub const MAX_BODY_BYTES: usize = 1024 * 1024;
/// Bytes of the fixed part in front of every frame.
pub const HEAD_BYTES: usize = 8;

/// Why a frame could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The header is larger than [`MAX_HEADER_BYTES`].
    #[error("frame header of {size_bytes} bytes is over the limit of {MAX_HEADER_BYTES}")]
    HeaderTooLarge {
        /// What the peer announced.
        size_bytes: usize,
    },
    /// The body is larger than [`MAX_BODY_BYTES`].
    #[error("frame body of {size_bytes} bytes is over the limit of {MAX_BODY_BYTES}")]
    BodyTooLarge {
        /// What the peer announced.
        size_bytes: usize,
    },
    /// The stream ended inside a frame.
    #[error("the stream ended inside a frame")]
    CutShort,
    /// The header is not the JSON that was expected.
    #[error("frame header is not a valid message")]
    BadHeader {
        /// What serde says.
        source: serde_json::Error,
    },
    /// Reading or writing failed.
    #[error("frame transport failed")]
    Io {
        /// The operating system's error.
        source: io::Error,
    },
}

/// The two lengths in front of a frame, already checked against the bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHead {
    header_bytes: usize,
    body_bytes: usize,
}

impl FrameHead {
    /// Decodes and checks the fixed part.
    ///
    /// # Errors
    /// `HeaderTooLarge` or `BodyTooLarge` when a length is over its bound.
    pub fn decode(head: [u8; HEAD_BYTES]) -> Result<Self, FrameError> {
        let [a, b, c, d, e, f, g, h] = head;
        let header_bytes = u32::from_be_bytes([a, b, c, d]) as usize;
        let body_bytes = u32::from_be_bytes([e, f, g, h]) as usize;
        Self::checked(header_bytes, body_bytes)
    }

    fn checked(header_bytes: usize, body_bytes: usize) -> Result<Self, FrameError> {
        if header_bytes > MAX_HEADER_BYTES {
            return Err(FrameError::HeaderTooLarge { size_bytes: header_bytes });
        }
        if body_bytes > MAX_BODY_BYTES {
            return Err(FrameError::BodyTooLarge { size_bytes: body_bytes });
        }
        Ok(Self { header_bytes, body_bytes })
    }

    /// Length of the JSON header that follows, in bytes.
    #[must_use]
    pub fn header_bytes(self) -> usize {
        self.header_bytes
    }

    /// Length of the body after the header, in bytes.
    #[must_use]
    pub fn body_bytes(self) -> usize {
        self.body_bytes
    }
}

/// One frame: the JSON header still as text, and the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The JSON header.
    pub header: Vec<u8>,
    /// The raw body.
    pub body: Vec<u8>,
}

impl Frame {
    /// The header as a message.
    ///
    /// # Errors
    /// `BadHeader` when it is not one.
    pub fn message<M: DeserializeOwned>(&self) -> Result<M, FrameError> {
        serde_json::from_slice(&self.header).map_err(|source| FrameError::BadHeader { source })
    }
}

/// Encodes the fixed part and the JSON header; the body is to follow as it is.
///
/// # Errors
/// When header or body are over their bounds, or the message cannot be written as JSON.
pub fn encode_head<M: Serialize>(message: &M, body_bytes: usize) -> Result<Vec<u8>, FrameError> {
    let mut encoded = vec![0; HEAD_BYTES];
    serde_json::to_writer(&mut encoded, message).map_err(|source| FrameError::BadHeader { source })?;
    let head = FrameHead::checked(encoded.len() - HEAD_BYTES, body_bytes)?;
    // Both fit: the bounds above are far below u32::MAX.
    let lengths = ((head.header_bytes as u64) << 32) | head.body_bytes as u64;
    for (slot, byte) in encoded.iter_mut().zip(lengths.to_be_bytes()) {
        *slot = byte;
    }
    Ok(encoded)
}

/// Writes one frame and flushes.
///
/// # Errors
/// As [`encode_head`], or when writing fails.
pub fn write_frame<M: Serialize>(writer: &mut impl Write, message: &M, body: &[u8]) -> Result<(), FrameError> {
    let mut encoded = encode_head(message, body.len())?;
    // One write call for small frames: the reader wakes up once.
    let result = if body.len() <= 4096 {
        encoded.extend_from_slice(body);
        writer.write_all(&encoded)
    } else {
        writer.write_all(&encoded).and_then(|()| writer.write_all(body))
    };
    result.and_then(|()| writer.flush()).map_err(|source| FrameError::Io { source })
}

/// Reads one frame; `None` when the stream ended cleanly between two frames.
///
/// # Errors
/// When a length is over its bound, the stream ends inside a frame, or reading fails.
pub fn read_frame(reader: &mut impl Read) -> Result<Option<Frame>, FrameError> {
    let mut head = [0; HEAD_BYTES];
    let mut filled = 0;
    while let Some(rest) = head.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match reader.read(rest) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(FrameError::CutShort),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(FrameError::Io { source }),
        }
    }
    let head = FrameHead::decode(head)?;
    let header = read_part(reader, head.header_bytes())?;
    let body = read_part(reader, head.body_bytes())?;
    Ok(Some(Frame { header, body }))
}

fn read_part(reader: &mut impl Read, size_bytes: usize) -> Result<Vec<u8>, FrameError> {
    let mut part = vec![0; size_bytes];
    reader.read_exact(&mut part).map_err(|source| match source.kind() {
        io::ErrorKind::UnexpectedEof => FrameError::CutShort,
        _ => FrameError::Io { source },
    })?;
    Ok(part)
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod frame_tests;

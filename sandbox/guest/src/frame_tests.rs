//! The codec: whatever is written is read again however the bytes arrive, and nothing hostile costs more than an error.

use std::io::{self, Read};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::message::{Envelope, Request};

/// Hands out the bytes in pieces of the given sizes, with an interruption between any two.
struct Pieces {
    bytes: Vec<u8>,
    at: usize,
    sizes: Vec<usize>,
    turn: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.turn += 1;
        if self.turn.is_multiple_of(3) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let size = self.sizes[self.turn % self.sizes.len()].min(buffer.len()).min(self.bytes.len() - self.at);
        buffer[..size].copy_from_slice(&self.bytes[self.at..self.at + size]);
        self.at += size;
        Ok(size)
    }
}

/// Endless zeros that count how many were taken.
struct Counted<'a> {
    head: &'a [u8],
    taken: usize,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.head.is_empty() {
            return self.head.read(buffer);
        }
        buffer.fill(0);
        self.taken += buffer.len();
        Ok(buffer.len())
    }
}

fn encoded(header: &serde_json::Value, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_frame(&mut bytes, header, body).unwrap();
    bytes
}

proptest! {
    #[test]
    fn frames_survive_any_split(
        frames in prop::collection::vec((".{0,200}", prop::collection::vec(any::<u8>(), 0..10_000)), 0..6),
        sizes in prop::collection::vec(1usize..5000, 1..8),
    ) {
        let bytes: Vec<u8> = frames.iter().flat_map(|(text, body)| encoded(&json!({ "text": text }), body)).collect();
        let mut reader = Pieces { bytes, at: 0, sizes, turn: 0 };
        for (text, body) in &frames {
            let frame = read_frame(&mut reader).unwrap().unwrap();
            prop_assert_eq!(frame.message::<serde_json::Value>().unwrap(), json!({ "text": text }));
            prop_assert_eq!(&frame.body, body);
        }
        prop_assert!(read_frame(&mut reader).unwrap().is_none());
    }

    #[test]
    fn a_frame_cut_anywhere_is_an_error(body in prop::collection::vec(any::<u8>(), 0..200), cut in any::<prop::sample::Index>()) {
        let bytes = encoded(&json!({ "op": "data" }), &body);
        let kept = cut.index(bytes.len());
        let result = read_frame(&mut &bytes[..kept]);
        if kept == 0 {
            prop_assert!(matches!(result, Ok(None)));
        } else {
            prop_assert!(matches!(result, Err(FrameError::CutShort)), "{result:?}");
        }
    }

    #[test]
    fn noise_never_panics_and_never_reads_more_than_the_bounds(noise in prop::collection::vec(any::<u8>(), 0..64)) {
        let mut reader = Counted { head: &noise, taken: 0 };
        if let Ok(Some(frame)) = read_frame(&mut reader) {
            prop_assert!(frame.message::<Envelope<Request>>().is_err());
        }
        prop_assert!(reader.taken <= HEAD_BYTES + MAX_HEADER_BYTES + MAX_BODY_BYTES);
    }

    #[test]
    fn a_flipped_byte_is_another_frame_or_an_error(
        body in prop::collection::vec(any::<u8>(), 0..100), at in any::<prop::sample::Index>(), flip in 1u8..,
    ) {
        let original = encoded(&json!({ "op": "ping" }), &body);
        let mut bytes = original.clone();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        if let Ok(Some(frame)) = read_frame(&mut &bytes[..]) {
            let again = [&bytes[..HEAD_BYTES], &frame.header, &frame.body].concat();
            prop_assert!(again != original);
        }
    }
}

#[test]
fn lengths_over_the_bounds_are_refused_before_anything_is_read() {
    for (header, body) in [(MAX_HEADER_BYTES + 1, 0), (0, MAX_BODY_BYTES + 1), (u32::MAX as usize, u32::MAX as usize)] {
        let head = [(header as u32).to_be_bytes(), (body as u32).to_be_bytes()].concat();
        let mut reader = Counted { head: &head, taken: 0 };
        let error = read_frame(&mut reader).unwrap_err();
        assert!(matches!(error, FrameError::HeaderTooLarge { .. } | FrameError::BodyTooLarge { .. }), "{error}");
        assert_eq!(reader.taken, 0);
    }
}

#[test]
fn lengths_at_the_bounds_are_accepted() {
    let text = "x".repeat(MAX_HEADER_BYTES - r#"{"t":""}"#.len());
    let bytes = encoded(&json!({ "t": text }), &vec![7; MAX_BODY_BYTES]);
    let frame = read_frame(&mut &bytes[..]).unwrap().unwrap();
    assert_eq!((frame.header.len(), frame.body.len()), (MAX_HEADER_BYTES, MAX_BODY_BYTES));
}

#[test]
fn too_much_is_not_written_at_all() {
    let mut bytes = Vec::new();
    let error = write_frame(&mut bytes, &json!({}), &vec![0; MAX_BODY_BYTES + 1]).unwrap_err();
    assert!(matches!(error, FrameError::BodyTooLarge { size_bytes } if size_bytes == MAX_BODY_BYTES + 1));
    let error = write_frame(&mut bytes, &"x".repeat(MAX_HEADER_BYTES), &[]).unwrap_err();
    assert!(matches!(error, FrameError::HeaderTooLarge { .. }));
    assert!(bytes.is_empty());
}

#[test]
fn the_layout_is_fixed() {
    assert_eq!(encoded(&json!({}), b"ab"), [&[0, 0, 0, 2, 0, 0, 0, 2][..], b"{}ab"].concat());
}

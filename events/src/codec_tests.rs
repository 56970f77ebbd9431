//! The codec and the envelope: round trips, every single flipped bit, and bytes that are nothing at all.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::*;
use crate::hash::Hash;
use crate::id::{Class, EventId, StreamId, Timestamp, Token};
use crate::testing::{EventMaker, example_payloads, example_stream};
use proptest::prelude::*;

fn class() -> impl Strategy<Value = Class> {
    proptest::sample::select(vec![Class::Session, Class::Control, Class::Summary, Class::Job])
}

fn token() -> impl Strategy<Value = Token> {
    "[a-z0-9_-]{1,64}".prop_map(|text| Token::new(&text).unwrap())
}

fn event_id() -> impl Strategy<Value = EventId> {
    any::<u128>().prop_map(|number| EventId(uuid::Uuid::from_u128(number)))
}

fn envelope() -> impl Strategy<Value = Envelope> {
    let stream = (token(), token(), class(), token());
    let stream = stream.prop_map(|(tenant, project, class, id)| StreamId { tenant, project, class, id });
    let hash = any::<[u8; 32]>().prop_map(Hash::from_bytes);
    let payload = proptest::collection::vec(any::<u8>(), 0..200);
    let place = (event_id(), stream, any::<u64>(), any::<u64>().prop_map(Timestamp));
    let content = ("\\PC{0,40}", any::<u16>(), proptest::option::of(event_id()), hash, payload);
    (place, content).prop_map(|((id, stream, seq, at), (kind, schema, cause, prev_hash, payload))| Envelope {
        id,
        stream,
        seq,
        at,
        kind,
        schema,
        cause,
        prev_hash,
        payload,
    })
}

/// What is decoded of `bytes` differs from `original`, or nothing is decoded.
fn is_noticed(bytes: &[u8], original: &Envelope) -> bool {
    match decode_envelope(bytes) {
        Err(_) => true,
        Ok(other) => other != *original && other.hash().unwrap() != original.hash().unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_envelope_comes_back_as_it_was(envelope in envelope()) {
        let bytes = encode_envelope(&envelope).unwrap();
        let back = decode_envelope(&bytes).unwrap();
        prop_assert_eq!(&back, &envelope);
        // The canonical bytes are the only ones, so that a hash can be checked after a round trip.
        prop_assert_eq!(encode_envelope(&back).unwrap(), bytes);
        prop_assert_eq!(back.hash().unwrap(), envelope.hash().unwrap());
    }

    #[test]
    fn any_envelope_comes_back_from_json(envelope in envelope()) {
        let text = serde_json::to_string(&envelope).unwrap();
        prop_assert_eq!(serde_json::from_str::<Envelope>(&text).unwrap(), envelope);
    }

    #[test]
    fn any_flipped_bit_is_noticed(envelope in envelope(), place in any::<proptest::sample::Index>(), bit in 0..8_u32) {
        let mut bytes = encode_envelope(&envelope).unwrap();
        let at = place.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(is_noticed(&bytes, &envelope), "bit {} of byte {} of {}", bit, at, bytes.len());
    }

    #[test]
    fn a_cut_or_lengthened_envelope_is_refused(envelope in envelope(), place in any::<proptest::sample::Index>(), more: u8) {
        let mut bytes = encode_envelope(&envelope).unwrap();
        prop_assert!(decode_envelope(&bytes[..place.index(bytes.len())]).is_err());
        bytes.push(more);
        prop_assert!(decode_envelope(&bytes).is_err());
    }

    #[test]
    fn every_field_counts_for_the_hash(envelope in envelope(), other in envelope()) {
        let hash = envelope.hash().unwrap();
        let changed = [
            Envelope { id: other.id, ..envelope.clone() },
            Envelope { stream: other.stream, ..envelope.clone() },
            Envelope { seq: other.seq, ..envelope.clone() },
            Envelope { at: other.at, ..envelope.clone() },
            Envelope { kind: other.kind, ..envelope.clone() },
            Envelope { schema: other.schema, ..envelope.clone() },
            Envelope { cause: other.cause, ..envelope.clone() },
            Envelope { prev_hash: other.prev_hash, ..envelope.clone() },
            Envelope { payload: other.payload, ..envelope.clone() },
        ];
        for changed in changed {
            prop_assert_eq!(changed.hash().unwrap() == hash, changed == envelope);
        }
    }

    #[test]
    fn random_bytes_are_refused_or_understood_but_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(envelope) = decode_envelope(&bytes) {
            prop_assert_eq!(bytes.first(), Some(&BINCODE_2));
            prop_assert!(encode_envelope(&envelope).is_ok());
        }
        // The same behind a good codec byte, as each kind of payload there is.
        let bytes = [&[BINCODE_2], bytes.as_slice()].concat();
        for payload in example_payloads() {
            let kind = payload.kind();
            let schema = Payload::schema_of(kind).unwrap();
            if let Ok(Decoded::Known(other)) = decode_payload(kind, schema, &bytes) {
                prop_assert_eq!(other.kind(), kind);
            }
        }
    }

    #[test]
    fn a_payload_with_a_flipped_bit_is_another_or_none(
        which in any::<proptest::sample::Index>(), place in any::<proptest::sample::Index>(), bit in 0..8_u32,
    ) {
        let payloads = example_payloads();
        let payload = which.get(&payloads);
        let schema = Payload::schema_of(payload.kind()).unwrap();
        let mut bytes = payload.encode().unwrap();
        let at = place.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok(decoded) = decode_payload(payload.kind(), schema, &bytes) {
            prop_assert_ne!(decoded.known(), Some(payload));
        }
    }

    #[test]
    fn what_only_a_newer_version_knows_is_carried_along(kind in "[a-z]{1,9}[.][a-z]{1,9}x9", bytes: Vec<u8>) {
        prop_assert_eq!(decode_payload(&kind, 1, &bytes).unwrap(), Decoded::Newer);
        prop_assert_eq!(decode_payload("turn.prompted", u16::MAX, &bytes).unwrap(), Decoded::Newer);
    }
}

#[test]
fn every_bit_of_one_event_counts() {
    let envelope = EventMaker::new(example_stream("flipped"), 1).prompt("each bit of this");
    let bytes = encode_envelope(&envelope).unwrap();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            assert!(is_noticed(&flipped, &envelope), "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn no_bytes_and_foreign_codecs_are_named() {
    assert!(matches!(decode_envelope(&[]), Err(CodecError::Empty)));
    for codec in (0..=u8::MAX).filter(|codec| *codec != BINCODE_2) {
        match decode_envelope(&[codec, 0, 0]) {
            Err(CodecError::UnknownCodec(named)) => assert_eq!(named, codec),
            other => panic!("{codec}: {other:?}"),
        }
    }
}

#[test]
fn a_length_beyond_all_bytes_asks_for_no_memory() {
    // A text that claims to be 2^63 bytes long, and one that claims just under the limit.
    for length in [u64::MAX / 2, MAX_PAYLOAD_BYTES as u64] {
        let mut bytes = vec![BINCODE_2, 253];
        bytes.extend(length.to_le_bytes());
        bytes.extend(b"short");
        let outcome = decode::<String>("text", &bytes);
        assert!(matches!(outcome, Err(CodecError::Malformed { .. })), "{length}: {outcome:?}");
    }
}

#[test]
fn the_limit_is_the_last_size_that_is_taken() {
    // Codec byte, five bytes of length, and the text.
    let fits = "x".repeat(MAX_PAYLOAD_BYTES - 6);
    assert_eq!(encode(&fits).unwrap().len(), MAX_PAYLOAD_BYTES);
    match encode(&format!("{fits}x")) {
        Err(CodecError::TooLarge { size_bytes, limit_bytes }) => {
            assert_eq!((size_bytes, limit_bytes), (MAX_PAYLOAD_BYTES + 1, MAX_PAYLOAD_BYTES));
        }
        other => panic!("{:?}", other.map(|bytes| bytes.len())),
    }
}

#[test]
fn what_is_derived_comes_back_whole_or_not_at_all() {
    let value = (String::from("a state"), vec![1_u64, u64::MAX], Some(Hash::of(b"x")));
    let bytes = encode_derived(&value).unwrap();
    assert_eq!(decode_derived::<(String, Vec<u64>, Option<Hash>)>("it", &bytes).unwrap(), value);
    let longer = [bytes.as_slice(), &[0]].concat();
    for wrong in [&bytes[..bytes.len() - 1], &longer, &[]] {
        let outcome = decode_derived::<(String, Vec<u64>, Option<Hash>)>("it", wrong);
        assert!(matches!(outcome, Err(CodecError::Malformed { .. })), "{outcome:?}");
    }
}

#[test]
fn lengths_that_nothing_has_are_refused_before_anything_is_made() {
    // Varints of bincode: 253 and 8 bytes are a u64.
    let length = [&[253], (u64::MAX / 2).to_le_bytes().as_slice()].concat();
    assert!(decode_derived::<String>("it", &length).is_err());
    assert!(decode_derived::<Vec<u64>>("it", &length).is_err());
    assert!(decode_derived::<Vec<String>>("it", &length).is_err());
    let large = "x".repeat(MAX_DERIVED_BYTES);
    assert!(matches!(encode_derived(&large), Err(CodecError::TooLarge { .. })));
}

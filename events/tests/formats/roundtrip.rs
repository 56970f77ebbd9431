//! Whatever is encoded is decoded to the same, and whatever bytes come in, nothing worse than an error comes out.

use proptest::prelude::*;
use retrace_events::codec::{self, BINCODE_2, CodecError, MAX_PAYLOAD_BYTES};
use retrace_events::jsonl::{Line, export_line, import_line};
use retrace_events::payload::tool;
use retrace_events::testing::example_payloads;
use retrace_events::{BlobRef, CallId, Class, Envelope, Event, EventId, Hash, Payload, StreamId, Timestamp, Token};

fn token() -> impl Strategy<Value = Token> {
    "[a-z0-9_-]{1,64}".prop_map(|text| Token::new(&text).unwrap())
}

fn stream() -> impl Strategy<Value = StreamId> {
    let class = prop_oneof![Just(Class::Session), Just(Class::Control), Just(Class::Summary), Just(Class::Job)];
    (token(), token(), class, token()).prop_map(|(tenant, project, class, id)| StreamId { tenant, project, class, id })
}

prop_compose! {
    fn envelope()(
        ids in (any::<u128>(), any::<Option<u128>>()),
        stream in stream(),
        numbers in (any::<u64>(), any::<u64>(), any::<u16>()),
        kind in any::<String>(),
        prev_hash in any::<[u8; 32]>(),
        payload in proptest::collection::vec(any::<u8>(), 0..2_000),
    ) -> Envelope {
        let event_id = |number| EventId(uuid::Uuid::from_u128(number));
        Envelope {
            id: event_id(ids.0),
            stream,
            seq: numbers.0,
            at: Timestamp(numbers.1),
            kind: format!("future.{kind}"),
            schema: numbers.2,
            cause: ids.1.map(event_id),
            prev_hash: Hash::from_bytes(prev_hash),
            payload,
        }
    }
}

prop_compose! {
    fn finished()(
        call in any::<String>(),
        is_error in any::<bool>(),
        content in any::<String>(),
        exit in any::<Option<(Option<i32>, Option<i32>, bool)>>(),
        output in any::<Option<([u8; 32], u64)>>(),
        changed in any::<Vec<String>>(),
        duration_ms in any::<u64>(),
    ) -> Payload {
        tool::ToolFinished {
            call: CallId(call),
            is_error,
            content,
            exit: exit.map(|(code, signal, timed_out)| tool::ToolExit { code, signal, timed_out }),
            output: output.map(|(hash, size_bytes)| BlobRef { hash: Hash::from_bytes(hash), size_bytes }),
            changed,
            duration_ms,
        }
        .into()
    }
}

proptest! {
    #[test]
    fn an_envelope_comes_back(envelope in envelope()) {
        let bytes = codec::encode_envelope(&envelope).unwrap();
        prop_assert_eq!(codec::decode_envelope(&bytes).unwrap(), envelope.clone());
        prop_assert_eq!(envelope.hash().unwrap(), Hash::of(&bytes));
        // The open format holds the same.
        let line = export_line(&envelope).unwrap();
        prop_assert!(!line.contains('\n'));
        prop_assert_eq!(import_line(&line).unwrap(), Line::Event(Box::new(envelope)));
    }

    #[test]
    fn any_change_changes_the_hash(envelope in envelope(), seq in any::<u64>(), byte in any::<u8>()) {
        let hash = envelope.hash().unwrap();
        let mut other = envelope.clone();
        other.payload.push(byte);
        prop_assert_ne!(other.hash().unwrap(), hash);
        other = Envelope { seq, ..envelope.clone() };
        prop_assert_eq!(other.hash().unwrap() == hash, seq == envelope.seq);
        other = Envelope { cause: Some(envelope.id), id: envelope.id, ..envelope.clone() };
        prop_assert_eq!(other.hash().unwrap() == hash, envelope.cause == Some(envelope.id));
    }

    #[test]
    fn a_payload_comes_back(payload in finished()) {
        let bytes = payload.encode().unwrap();
        prop_assert_eq!(bytes[0], BINCODE_2);
        let decoded = Payload::decode(payload.kind(), &bytes).unwrap();
        prop_assert_eq!(decoded, payload);
    }

    #[test]
    fn hostile_bytes_are_refused_not_obeyed(bytes in proptest::collection::vec(any::<u8>(), 0..300), pick in any::<prop::sample::Index>()) {
        let kinds: Vec<_> = Payload::kinds().collect();
        let (kind, schema) = kinds[pick.index(kinds.len())];
        let mut coded = vec![BINCODE_2];
        coded.extend(&bytes);
        // What is accepted by chance is a value, and encodes to something that decodes to the same.
        if let Ok(decoded) = codec::decode_payload(kind, schema, &coded) {
            let again = decoded.known().unwrap().encode().unwrap();
            prop_assert_eq!(&Payload::decode(kind, &again).unwrap(), decoded.known().unwrap());
        }
        let _ = codec::decode_envelope(&coded);
        let _ = import_line(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_cut_or_longer_payload_is_refused(cut in any::<prop::sample::Index>(), pick in any::<prop::sample::Index>()) {
        let examples = example_payloads();
        let payload = &examples[pick.index(examples.len())];
        let bytes = payload.encode().unwrap();
        let shorter = &bytes[..cut.index(bytes.len())];
        prop_assert!(Payload::decode(payload.kind(), shorter).is_err());
        let longer = [&bytes[..], &[0]].concat();
        prop_assert!(Payload::decode(payload.kind(), &longer).is_err());
    }

    #[test]
    fn names_and_numbers_are_read_as_they_are_written(stream in stream(), number in any::<u128>(), hash in any::<[u8; 32]>()) {
        prop_assert_eq!(stream.subject().parse::<StreamId>().unwrap(), stream);
        let id = EventId(uuid::Uuid::from_u128(number));
        prop_assert_eq!(id.to_string().parse::<EventId>().unwrap(), id);
        let hash = Hash::from_bytes(hash);
        prop_assert_eq!(hash.to_string().parse::<Hash>().unwrap(), hash);
    }

    #[test]
    fn a_token_is_whatever_its_slug_makes_of_it(text in any::<String>()) {
        let slug = Token::slug(&text);
        prop_assert_eq!(Token::new(slug.as_str()).unwrap(), slug);
        prop_assert_eq!(Token::new(&text).is_ok(), Token::slug(&text).as_str() == text);
    }
}

#[test]
fn a_length_that_lies_does_not_take_memory() {
    // Says that a text of four billion bytes follows.
    let lie = [BINCODE_2, 252, 0xFF, 0xFF, 0xFF, 0xFF, b'x'];
    let error = codec::decode::<String>("text", &lie).unwrap_err();
    assert!(matches!(error, CodecError::Malformed { .. }), "{error}");
}

#[test]
fn other_codecs_and_too_much_are_named() {
    assert!(matches!(codec::decode::<u8>("number", &[]), Err(CodecError::Empty)));
    assert!(matches!(codec::decode::<u8>("number", &[9, 1]), Err(CodecError::UnknownCodec(9))));
    let error = codec::encode(&vec![0_u8; MAX_PAYLOAD_BYTES]).unwrap_err();
    assert!(matches!(error, CodecError::TooLarge { limit_bytes: MAX_PAYLOAD_BYTES, .. }), "{error}");
}

#[test]
fn bad_names_are_refused_with_what_a_good_one_is() {
    for bad in ["", "A", "a b", "a.b", "é", &"a".repeat(65)] {
        let error = Token::new(bad).unwrap_err();
        assert!(error.to_string().contains("1 to 64 characters"), "{error}");
    }
    for bad in ["ev.a.b.session", "ev.a.b.session.c.d", "ex.a.b.session.c", "ev.a.b.meeting.c", "ev.a.b.session.C", ""]
    {
        assert!(bad.parse::<StreamId>().is_err(), "{bad}");
    }
    for bad in ["", "12", &"g".repeat(64), &"a".repeat(63)] {
        assert!(bad.parse::<Hash>().is_err(), "{bad}");
    }
    assert!("not-a-uuid".parse::<EventId>().is_err());
}

#[test]
fn moments_are_written_as_people_read_them() {
    assert_eq!(Timestamp(1_767_225_600_123).to_string(), "2026-01-01T00:00:00.123Z");
    assert_eq!(Timestamp(0).to_string(), "1970-01-01T00:00:00.000Z");
    assert_eq!(Timestamp(u64::MAX).to_string(), format!("{} ms", u64::MAX));
    assert_eq!(Timestamp(5).since_ms(Timestamp(9)), 0);
}

#[test]
fn an_event_that_is_not_what_its_kind_says_is_an_error() {
    let mut maker = retrace_events::testing::EventMaker::new(retrace_events::testing::example_stream("wrong"), 1);
    let envelope = maker.raw("turn.prompted", 1, vec![BINCODE_2, 3, b'a'], None);
    let error = Event::decode(envelope).unwrap_err();
    assert!(error.to_string().contains("turn.prompted"), "{error}");
}

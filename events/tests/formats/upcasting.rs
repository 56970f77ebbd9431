//! Upcasting: a payload of an old schema is read as today's.
//!
//! All shipped kinds are still at schema 1, so nothing older can exist in a log. The step shown here is one that
//! could have been: a prompt as it would have looked before it could have attachments, as schema 0 of
//! `turn.prompted`. It goes the whole way that a real one will: old bytes in an envelope, [`decode_payload_with`], a
//! step that knows both structs, today's payload.

use retrace_events::codec::{self, CodecError, Decoded, decode_payload, decode_payload_with};
use retrace_events::payload::turn::{PromptSource, TurnPrompted};
use retrace_events::testing::{EventMaker, example_stream};
use retrace_events::upcast::Upcasters;
use retrace_events::{Event, Payload};
use serde::{Deserialize, Serialize};

/// `turn.prompted` without attachments.
#[derive(Serialize, Deserialize)]
struct OldPrompted {
    text: String,
    source: PromptSource,
}

fn lift_prompted(bytes: &[u8]) -> Result<Vec<u8>, CodecError> {
    let OldPrompted { text, source } = codec::decode("turn.prompted, schema 0", bytes)?;
    codec::encode(&TurnPrompted { text, source, attachments: Vec::new() })
}

fn upcasters() -> Upcasters {
    Upcasters::shipped().with("turn.prompted", 0, lift_prompted)
}

fn old_bytes() -> Vec<u8> {
    codec::encode(&OldPrompted { text: "from the old days".to_owned(), source: PromptSource::Job }).unwrap()
}

#[test]
fn an_old_payload_becomes_todays() {
    let decoded = decode_payload_with(&upcasters(), "turn.prompted", 0, &old_bytes()).unwrap();
    let expected =
        TurnPrompted { text: "from the old days".to_owned(), source: PromptSource::Job, attachments: Vec::new() };
    assert_eq!(decoded.known(), Some(&Payload::from(expected)));
}

#[test]
fn the_old_bytes_stay_what_the_hash_is_made_of() {
    let envelope = EventMaker::new(example_stream("old"), 1).raw("turn.prompted", 0, old_bytes(), None);
    let hash = envelope.hash().unwrap();
    let decoded = decode_payload_with(&upcasters(), &envelope.kind, envelope.schema, &envelope.payload).unwrap();
    assert!(decoded.known().is_some());
    assert_eq!(envelope.payload, old_bytes());
    assert_eq!(envelope.hash().unwrap(), hash);
}

#[test]
fn todays_payload_is_not_touched() {
    let today = TurnPrompted { text: "now".to_owned(), source: PromptSource::Local, attachments: Vec::new() };
    let bytes = codec::encode(&today).unwrap();
    let with_steps = decode_payload_with(&upcasters(), "turn.prompted", 1, &bytes).unwrap();
    assert_eq!(with_steps, decode_payload("turn.prompted", 1, &bytes).unwrap());
    assert_eq!(with_steps.known(), Some(&today.into()));
}

#[test]
fn a_missing_step_is_said_and_a_newer_schema_is_left_alone() {
    let error = decode_payload("turn.prompted", 0, &old_bytes()).unwrap_err();
    assert!(error.to_string().contains("no upcaster from schema 0"), "{error}");
    assert_eq!(decode_payload_with(&upcasters(), "turn.prompted", 2, b"?").unwrap(), Decoded::Newer);
    let envelope = EventMaker::new(example_stream("new"), 1).raw("turn.prompted", 2, b"?".to_vec(), None);
    assert_eq!(Event::decode(envelope).unwrap().payload, Decoded::Newer);
}

#[test]
fn several_steps_are_taken_in_order() {
    fn append_two(bytes: &[u8]) -> Result<Vec<u8>, CodecError> {
        Ok([bytes, b"2"].concat())
    }
    fn append_three(bytes: &[u8]) -> Result<Vec<u8>, CodecError> {
        Ok([bytes, b"3"].concat())
    }
    fn refuse(_: &[u8]) -> Result<Vec<u8>, CodecError> {
        Err(CodecError::Empty)
    }
    // Their order in the list does not matter, nor do steps of other kinds.
    let steps = Upcasters::default().with("a.b", 2, append_three).with("a.c", 1, refuse).with("a.b", 1, append_two);
    assert_eq!(steps.lift("a.b", 1, 3, b"1").unwrap().unwrap(), b"123");
    assert_eq!(steps.lift("a.b", 2, 3, b"1").unwrap().unwrap(), b"13");
    assert_eq!(steps.lift("a.b", 3, 3, b"1").unwrap(), None);
    assert!(matches!(steps.lift("a.c", 1, 2, b"1"), Err(CodecError::Empty)));
    assert!(steps.lift("a.b", 1, 4, b"1").is_err());
    assert!(steps.lift("a.b", 0, 1, b"1").is_err());
}

//! States as bytes: what comes back is what was, goes on as it would have, and no bytes are too wild to be refused.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::codec::{decode_derived, encode_derived};
use crate::payload::Payload;
use crate::testing::{EventMaker, example_payloads, example_stream};
use proptest::prelude::*;

fn bytes(state: &SessionState) -> Vec<u8> {
    encode_derived(state).unwrap()
}

fn back(bytes: &[u8]) -> Result<SessionState, CodecError> {
    decode_derived("a state", bytes)
}

#[test]
fn a_state_comes_back_after_any_three_events_and_goes_on() {
    let payloads: Vec<Payload> = example_payloads();
    for first in &payloads {
        for second in &payloads {
            let mut maker = EventMaker::new(example_stream("stored"), 1);
            let events = [first, second, first].map(|payload| Event::decode(maker.payload(payload, None)).unwrap());
            let mut straight = SessionState::default();
            let mut stored = back(&bytes(&straight)).unwrap();
            for event in &events {
                straight.apply(event);
                stored.apply(event);
                stored = back(&bytes(&stored)).unwrap();
            }
            assert_eq!(format!("{:?}", straight.transcript), format!("{:?}", stored.transcript));
            assert_eq!(format!("{:?}", straight.turn), format!("{:?}", stored.turn));
            assert_eq!(bytes(&straight), bytes(&stored));
            assert_eq!(straight.steps, stored.steps);
            assert_eq!(straight.images, stored.images);
        }
    }
}

#[test]
fn equal_states_have_equal_bytes_however_they_came_about() {
    let payloads = example_payloads();
    let fold = || {
        let mut maker = EventMaker::new(example_stream("stored"), 1);
        fold(payloads.iter().map(|payload| maker.payload(payload, None)).collect::<Vec<_>>()).unwrap()
    };
    assert_eq!(bytes(&fold()), bytes(&fold()));
}

#[test]
fn a_conversation_whose_items_have_not_each_an_event_is_refused() {
    let items: Vec<TranscriptItem> = vec![TranscriptItem::Interruption];
    let whole = encode_derived(&(&items, vec![4_u64])).unwrap();
    assert_eq!(decode_derived::<Transcript>("it", &whole).unwrap().seqs(), [4]);
    let short = encode_derived(&(&items, Vec::<u64>::new())).unwrap();
    assert!(matches!(decode_derived::<Transcript>("it", &short), Err(CodecError::Malformed { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cut_and_changed_bytes_are_refused_or_are_some_state(at in any::<prop::sample::Index>(), bit in 0_u8..8, cut in any::<bool>()) {
        let mut maker = EventMaker::new(example_stream("stored"), 1);
        let events: Vec<Envelope> = example_payloads().iter().map(|payload| maker.payload(payload, None)).collect();
        let mut bytes = bytes(&fold(events).unwrap());
        let at = at.index(bytes.len());
        if cut {
            bytes.truncate(at);
            prop_assert!(back(&bytes).is_err());
        } else {
            bytes[at] ^= 1 << bit;
            // Nobody is asked to notice: that is the seal's part. It must only not panic.
            let _ = back(&bytes);
        }
    }
}

//! Whatever a session holds: its requests are ones that the API takes, and inside an epoch they only grow.

use super::sessions::{Session, sessions};
use super::*;
use crate::scripted::tests::refusal;
use proptest::prelude::*;

/// The bodies of all requests of a session, each with the epoch it is of.
fn bodies(session: Session) -> Vec<(EventId, Vec<u8>)> {
    let states = states(session.payloads);
    let at = |count: &usize| {
        let state = &states[count - 1];
        (state.epoch.as_ref().unwrap().event, render(state).unwrap())
    };
    session.requests.iter().map(at).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    /// The scripted server's rules are those of the API: pairing of calls and results, no blank words, images, at most
    /// four breakpoints, longer ones first, thinking and effort that the model takes.
    #[test]
    fn every_request_is_one_that_the_api_takes(turns in sessions()) {
        for (_, body) in bodies(Session::of(&turns)) {
            prop_assert_eq!(refusal(&body), None, "{}", String::from_utf8_lossy(&body));
        }
    }

    /// Block by block, each request of an epoch begins with the whole one before it.
    #[test]
    fn inside_an_epoch_requests_only_grow_at_their_end(turns in sessions()) {
        for pair in bodies(Session::of(&turns)).windows(2) {
            if pair[0].0 == pair[1].0 {
                let ((rest, old), (rest_after, new)) = (blocks(&pair[0].1), blocks(&pair[1].1));
                prop_assert_eq!(rest, rest_after);
                prop_assert!(old.len() <= new.len());
                prop_assert_eq!(&new[..old.len()], &old[..]);
            }
        }
    }

    /// A new epoch sends no thinking of an old one, and none of its own is lost.
    #[test]
    fn thinking_stays_in_its_epoch(turns in sessions()) {
        let session = Session::of(&turns);
        let states = states(session.payloads.clone());
        for count in &session.requests {
            let epoch = session.payloads[..*count].iter().rposition(|payload| payload.kind() == "context.epoch_started");
            let own: usize = session.payloads[epoch.unwrap()..*count].iter().map(thoughts_in).sum();
            let (_, blocks) = blocks(&render(&states[count - 1]).unwrap());
            let sent = blocks.iter().filter(|(_, block)| is_thought(block)).count();
            prop_assert_eq!(sent, own);
        }
    }
}

fn is_thought(block: &Value) -> bool {
    matches!(block["type"].as_str().unwrap(), "thinking" | "redacted_thinking")
}

fn thoughts_in(payload: &Payload) -> usize {
    let Payload::Turn(retrace_events::payload::Turn::Answered(answer)) = payload else { return 0 };
    let blocks: Vec<Value> = serde_json::from_str(&answer.content).unwrap();
    blocks.iter().filter(|block| is_thought(block)).count()
}

/// The generator must make what the properties speak of.
#[test]
fn the_random_sessions_are_rich() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut all, mut epochs, mut images) = (0, 0, 0);
    for _ in 0..64 {
        let turns = sessions().new_tree(&mut runner).unwrap().current();
        let bodies = bodies(Session::of(&turns));
        all += bodies.len();
        epochs += bodies.windows(2).filter(|pair| pair[0].0 != pair[1].0).count();
        images += bodies.iter().filter(|(_, body)| String::from_utf8_lossy(body).contains(PIXEL)).count();
    }
    assert!(all > 200 && epochs > 20 && images > 50, "{all} requests, {epochs} epochs, {images} with images");
}

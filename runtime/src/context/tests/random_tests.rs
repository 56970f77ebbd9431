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

/// The bodies of the requests that were answered: of those that were made again, the last.
fn answered_bodies(session: Session) -> Vec<(EventId, Vec<u8>)> {
    let is_answer = |count: &usize| session.payloads.get(*count).is_some_and(|next| next.kind() == "turn.answered");
    let answered = session.requests.iter().copied().filter(is_answer).collect();
    bodies(Session { requests: answered, ..session })
}

/// The places of the marks among the blocks of all messages, and whether each is of an hour.
fn marked_blocks(body: &[u8]) -> Vec<(usize, bool)> {
    let body: Value = serde_json::from_slice(body).unwrap();
    let messages = body["messages"].as_array().unwrap();
    let blocks = messages.iter().flat_map(|message| message["content"].as_array().unwrap());
    let marks = blocks.enumerate().filter(|(_, block)| block["cache_control"].is_object());
    marks.map(|(at, block)| (at, block["cache_control"]["ttl"] == "1h")).collect()
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

    /// What the request before wrote into the cache is found by one of the marks, however much was added since: the API looks
    /// back over 20 blocks from each.
    #[test]
    fn what_the_request_before_wrote_is_found_again(turns in sessions()) {
        let mut answered: Option<(EventId, usize)> = None;
        for (epoch, body) in answered_bodies(Session::of(&turns)) {
            let marked = marked_blocks(&body);
            prop_assert!(marked.len() <= 3, "{} marks beside the one of the epoch", marked.len());
            let hours = marked.iter().take_while(|(_, hour)| *hour).count();
            prop_assert!(marked[hours..].iter().all(|(_, hour)| !hour), "a longer mark behind a shorter one");
            if let Some((before, end)) = answered
                && before == epoch
            {
                let found = marked.iter().any(|(at, _)| *at >= end && *at - end < 20);
                prop_assert!(found, "{end} is out of reach of {marked:?}");
                prop_assert!(marked.iter().any(|(at, _)| *at == end), "{end} is not marked itself: {marked:?}");
            }
            let last = marked.last().copied();
            prop_assert!(last.is_some(), "nothing is marked");
            answered = last.map(|(at, _)| (epoch, at));
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

//! Which steps a fresh epoch keeps: the newest that fit, whole.

use super::sessions::{Session, sessions};
use super::*;
use crate::context::kept_from;
use crate::scripted::tests::refusal;
use proptest::prelude::*;

fn notes() -> Vec<ContextPassage> {
    let source = ContextSource::Notes("plan".to_owned());
    vec![ContextPassage { text: "[ ] go on".to_owned(), source, tokens: 3, score_milli: 0 }]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Wherever a fresh epoch begins and however much it keeps, its first request is one that the API takes.
    #[test]
    fn what_is_kept_is_a_conversation(turns in sessions(), budget_bytes in 0_u64..6_000) {
        let session = Session::of(&turns);
        let states = states(session.payloads.clone());
        for count in session.requests.iter().filter(|count| **count % 3 == 0) {
            let state = &states[count - 1];
            let kept = kept_from(&state.transcript, budget_bytes);
            let from_seq = kept.unwrap_or_else(|| state.next_seq());
            let start = state.epoch.as_ref().unwrap().start.clone();
            let fresh = ContextEpochStarted { number: start.number + 1, seed: notes(), from_seq, ..start };
            let payloads = session.payloads[..*count].iter().cloned().chain([fresh.into()]).collect();
            let body = self::body(payloads);
            prop_assert_eq!(refusal(body.as_bytes()), None, "{}", body);
        }
    }

    /// More room keeps no less.
    #[test]
    fn more_room_keeps_more(turns in sessions(), small in 0_u64..4_000, more in 0_u64..4_000) {
        let states = states(Session::of(&turns).payloads);
        let transcript = &states.last().unwrap().transcript;
        let from = |bytes| kept_from(transcript, bytes).unwrap_or(u64::MAX);
        prop_assert!(from(small + more) <= from(small));
    }
}

#[test]
fn the_newest_steps_that_fit_are_kept_whole() {
    let call = |id: &str| answer(&format!(r#"[{{"type":"tool_use","id":"{id}","name":"bash","input":{{}}}}]"#));
    let payloads = vec![
        prompt("one"),
        epoch(2).into(),
        call("a"),
        result("a", &"x".repeat(1_000), false),
        call("b"),
        result("b", &"y".repeat(1_000), false),
        call("c"),
        result("c", "z", false),
    ];
    let states = states(payloads);
    let kept = |bytes| kept_from(&states.last().unwrap().transcript, bytes);
    assert_eq!(kept(0), None);
    assert_eq!(kept(200), None, "a result without its call is not kept");
    assert_eq!(kept(500), Some(6));
    assert_eq!(kept(1_300), Some(6), "the step before it does not fit whole");
    assert_eq!(kept(2_000), Some(4));
    assert_eq!(kept(4_000), Some(0));
}

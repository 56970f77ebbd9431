//! What a request is made of, part by part.

use super::sessions::{Session, sessions};
use super::*;
use crate::context::{ContextPart, inventory};
use proptest::prelude::*;

fn places(parts: &[ContextPart]) -> Vec<(&str, &str)> {
    parts.iter().map(|part| (part.place, part.what)).collect()
}

#[test]
fn each_part_says_where_it_stands_and_where_it_is_from() {
    let call = |id: &str| answer(&format!(r#"[{{"type":"tool_use","id":"{id}","name":"bash","input":{{}}}}]"#));
    let file = ContextSource::File { path: "src/a.rs".to_owned(), first_line: 3, last_line: 9 };
    let found = ContextPassage { text: "fn a() {}".to_owned(), source: file, tokens: 3, score_milli: 1_500 };
    let payloads = vec![
        prompt("one"),
        epoch(2).into(),
        call("a"),
        result("a", "first", false),
        ContextEpochStarted { number: 2, seed: vec![instructions("AGENTS.md", "use tabs")], from_seq: 2, ..epoch(2) }
            .into(),
        retrieved(vec![found]),
        call("b"),
        result("b", "second", true),
        warned("you go round in circles"),
    ];
    let parts = inventory(states(payloads).last().unwrap());
    assert_eq!(
        places(&parts),
        [
            ("tools", "tools"),
            ("system", "system"),
            ("seed", "instructions"),
            ("kept", "answer"),
            ("kept", "result"),
            ("tail", "file"),
            ("tail", "answer"),
            ("tail", "result"),
            ("tail", "warning"),
        ]
    );
    assert_eq!((parts[5].source.as_str(), parts[5].score_milli), ("src/a.rs:3-9", 1_500));
    assert_eq!(parts[7].source, "event 7, call b");
    assert_eq!((parts[2].source.as_str(), parts[2].text.as_str()), ("AGENTS.md", "use tabs"));
    assert!(parts.iter().all(|part| part.tokens > 0), "{parts:?}");
}

#[test]
fn there_is_nothing_before_the_first_epoch() {
    assert_eq!(inventory(states(vec![prompt("one")]).last().unwrap()), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Every text of a request stands in one of its parts.
    #[test]
    fn nothing_of_a_request_is_left_out(turns in sessions()) {
        let session = Session::of(&turns);
        let states = states(session.payloads.clone());
        for count in session.requests.iter().filter(|count| **count % 4 == 0) {
            let state = &states[count - 1];
            let parts = inventory(state);
            let items: usize = state.transcript.items().iter().map(|item| match item {
                retrace_events::fold::TranscriptItem::Passages(passages) => passages.len(),
                _ => 1,
            }).sum();
            let seed = state.epoch.as_ref().unwrap().start.seed.len();
            prop_assert_eq!(parts.len(), 2 + seed + items);
        }
    }
}

//! What the server keeps is counted per body and step, in order, and bounded.

use retrace_events::hash::Hash;

use super::script;
use crate::claude::ModelTable;
use crate::scripted::RequestRecord;
use crate::scripted::state::State;

fn state() -> State {
    State::new(script("[[step]]"), "key".to_owned(), ModelTable::builtin().unwrap())
}

fn record(index: usize) -> RequestRecord {
    RequestRecord {
        index,
        path: "/v1/messages".to_owned(),
        body_hash: Hash::of(b""),
        size_bytes: 0,
        request_id: String::new(),
        status: None,
        step: None,
        attempt: None,
        fault: None,
        refusal: None,
        input_tokens: 0,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
    }
}

#[test]
fn attempts_are_counted_apart() {
    let state = state();
    let (one, other) = (Hash::of(b"one"), Hash::of(b"other"));
    let counts =
        [(one, 0), (one, 0), (other, 0), (one, 1), (one, 0), (other, 0)].map(|(body, step)| state.attempt(body, step));
    assert_eq!(counts, [0, 1, 0, 0, 2, 1]);
}

#[test]
fn records_come_in_order_of_arrival_not_of_answering() {
    let state = state();
    assert_eq!([state.arrive(), state.arrive(), state.arrive()], [0, 1, 2]);
    for index in [2, 0, 1] {
        state.record(record(index));
    }
    let order: Vec<usize> = state.records().iter().map(|record| record.index).collect();
    assert_eq!(order, [0, 1, 2]);
}

#[test]
fn the_oldest_records_go_when_there_are_too_many() {
    let state = state();
    for index in 0..100_001 {
        state.record(record(index));
    }
    let records = state.records();
    assert_eq!((records.len(), records[0].index), (90_001, 10_000));
    assert_eq!(records.last().unwrap().index, 100_000);
}

//! Summaries by the API in the fold: asked for, come, failed, and what an epoch behind one keeps.

use super::TranscriptItem;
use super::tests::{Chain, answer, epoch, prompt, request, started};
use crate::hash::Hash;
use crate::id::{EventId, Timestamp};
use crate::payload::context::{
    ContextCompactionAnswered, ContextCompactionFailed, ContextCompactionRequested, ContextEpochStarted,
};
use crate::payload::turn::{TurnFailure, Usage};

const BLOCK: &str = r#"{"type":"compaction","content":"so far","signature":"s"}"#;

/// A session with one answered request, whose answer is the event of the returned place.
fn session() -> (Chain, u64) {
    let mut chain = Chain::new();
    chain.push(started());
    chain.push(prompt("one"));
    let context = chain.push(epoch());
    let asked = chain.push(request(context));
    let answer_seq = chain.state.next_seq();
    chain.push(answer(asked, r#"[{"type":"thinking","thinking":"hm","signature":"s"}]"#, "end_turn"));
    (chain, answer_seq)
}

fn ask(chain: &mut Chain, until_seq: u64) -> EventId {
    let epoch = chain.state.epoch.as_ref().unwrap().event;
    chain.push(ContextCompactionRequested {
        epoch,
        until_seq,
        body_hash: Hash::of(b"body"),
        body_bytes: 4,
        model: "m".into(),
        estimated_input_tokens: 2,
        cost_bound_microusd: 70,
        why: "full".into(),
    })
}

fn came(request: EventId, block: Option<&str>) -> ContextCompactionAnswered {
    ContextCompactionAnswered {
        request,
        block: block.map(str::to_owned),
        stop_reason: "compaction".into(),
        model: "m".into(),
        usage: Usage { input_tokens: 30, output_tokens: 5, ..Usage::default() },
        cost_microusd: 9,
        request_id: None,
        duration_ms: 1,
    }
}

fn failed(request: EventId, failure: TurnFailure, retry_in_ms: Option<u64>) -> ContextCompactionFailed {
    ContextCompactionFailed {
        request,
        failure,
        status: None,
        message: "no".into(),
        request_id: None,
        billed_microusd: 70,
        retry_in_ms,
    }
}

#[test]
fn a_summary_is_asked_for_comes_and_is_what_the_next_epoch_begins_with() {
    let (mut chain, answer_seq) = session();
    let before = chain.state.totals;
    let asked = ask(&mut chain, answer_seq);
    let waiting = chain.state.compaction.asked.unwrap();
    assert_eq!((waiting.request, waiting.until_seq, waiting.cost_bound_microusd), (asked, answer_seq, 70));
    let event = chain.push(came(asked, Some(BLOCK)));
    let ready = chain.state.compaction.came.clone().unwrap();
    assert_eq!((ready.event, ready.until_seq, ready.block.as_str()), (event, answer_seq, BLOCK));
    // Paid, and no step.
    let after = chain.state.totals;
    assert_eq!((after.steps, after.requests), (before.steps, before.requests + 1));
    assert_eq!(after.cost_microusd, before.cost_microusd + 9);
    assert_eq!(after.tokens(), before.tokens() + 35);
    let compacted = Some(BLOCK.to_owned());
    chain.push(ContextEpochStarted { number: 2, from_seq: answer_seq, compacted, ..epoch() });
    // The answer is kept with its thinking; the prompt is in the summary.
    match chain.state.transcript.items() {
        [TranscriptItem::Answer { carried_over: false, .. }] => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(chain.state.compaction, super::Compaction::default());
    assert_eq!(chain.state.epoch.as_ref().unwrap().seq + 1, chain.state.next_seq());
}

#[test]
fn an_answer_without_a_summary_is_paid_and_not_asked_for_again() {
    let (mut chain, answer_seq) = session();
    let asked = ask(&mut chain, answer_seq);
    chain.push(came(asked, None));
    let compaction = &chain.state.compaction;
    assert_eq!((compaction.asked, compaction.came.clone()), (None, None));
    assert_eq!((compaction.failed_attempts, compaction.again_at), (1, None));
    assert_eq!(chain.state.totals.cost_microusd, 9 + 11);
}

#[test]
fn failures_say_when_it_may_be_asked_for_again_and_a_crash_counts_as_none() {
    let (mut chain, answer_seq) = session();
    let asked = ask(&mut chain, answer_seq);
    chain.push(failed(asked, TurnFailure::Lost, Some(0)));
    assert_eq!(chain.state.compaction.failed_attempts, 0);
    let asked = ask(&mut chain, answer_seq);
    chain.push(failed(asked, TurnFailure::Overloaded, Some(2_000)));
    let at = chain.state.head.unwrap().2;
    assert_eq!(chain.state.compaction.again_at, Some(Timestamp(at.0 + 2_000)));
    assert_eq!((chain.state.compaction.failed_attempts, chain.state.compaction.asked), (1, None));
    let asked = ask(&mut chain, answer_seq);
    chain.push(failed(asked, TurnFailure::InvalidRequest, None));
    assert_eq!((chain.state.compaction.failed_attempts, chain.state.compaction.again_at), (2, None));
    assert_eq!(chain.state.totals.unknown_cost_microusd, 210);
}

#[test]
fn what_comes_for_an_epoch_that_is_over_is_paid_and_changes_nothing_else() {
    let (mut chain, answer_seq) = session();
    let asked = ask(&mut chain, answer_seq);
    chain.push(ContextEpochStarted { number: 2, from_seq: 0, ..epoch() });
    chain.push(came(asked, Some(BLOCK)));
    assert_eq!(chain.state.compaction, super::Compaction::default());
    assert_eq!(chain.state.totals.cost_microusd, 9 + 11);
    chain.push(failed(asked, TurnFailure::Server, None));
    assert_eq!(chain.state.compaction, super::Compaction::default());
}

//! The fold of a session that came about in another program, and of a conversation that a summary has replaced.

use super::tests::{Chain, answer, called, epoch, finished, prompt, request, started};
use super::{ImportedPart, Stage, TranscriptItem};
use crate::id::EventId;
use crate::payload::context::{ContextCompacted, ContextEpochStarted};
use crate::payload::session::SessionImported;
use crate::payload::tool::ToolEffect;
use crate::payload::turn::{TurnEnded, TurnOutcome};

const THINKS: &str = r#"[{"type":"thinking","thinking":"…","signature":"s"},{"type":"text","text":"yes"}]"#;
const CALLS: &str = r#"[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]"#;

fn ended() -> TurnEnded {
    TurnEnded { outcome: TurnOutcome::Completed, note: "done".to_owned() }
}

/// A session with two answers that another program got, and the event that says so.
fn imported() -> (Chain, EventId) {
    let mut chain = Chain::new();
    chain.push(started());
    let imported = SessionImported {
        source: "claude-code".to_owned(),
        source_session: "x".to_owned(),
        source_version: "1".to_owned(),
    };
    let origin = chain.push(imported);
    chain.push(prompt("the task"));
    chain.push(answer(origin, CALLS, "tool_use"));
    chain.push(called("t1", ToolEffect::Writes, origin));
    assert_eq!(chain.stage(), &Stage::Calls);
    chain.push(finished("t1", "out"));
    chain.push(answer(origin, THINKS, "end_turn"));
    chain.push(ended());
    (chain, origin)
}

fn carried_over(chain: &Chain) -> Vec<bool> {
    let over = |item: &TranscriptItem| match item {
        TranscriptItem::Answer { carried_over, .. } => Some(*carried_over),
        _ => None,
    };
    chain.state.transcript.items().iter().filter_map(over).collect()
}

#[test]
fn answers_without_requests_are_a_conversation() {
    let (chain, origin) = imported();
    assert_eq!(chain.state.transcript.items().len(), 4);
    assert!(chain.state.turn.is_none() && chain.state.calls.is_empty());
    assert_eq!(chain.state.imported.map(|part| part.event), Some(origin));
    assert_eq!((chain.state.totals.steps, chain.state.totals.requests), (2, 0));
}

#[test]
fn what_another_program_used_is_not_this_sessions_own() {
    let (mut chain, _) = imported();
    let before = chain.state.totals;
    let ImportedPart { totals, .. } = chain.state.imported.unwrap();
    assert_eq!((totals.steps, totals.usage, totals.turn_time_ms), (2, before.usage, before.turn_time_ms));
    assert!(before.turn_time_ms > 0);
    let own = chain.state.own_totals();
    assert_eq!((own.steps, own.tokens(), own.cost_microusd, own.turn_time_ms), (0, 0, 0, 0));
    // What it uses from here on is.
    chain.push(prompt("go on"));
    let epoch = chain.push(epoch());
    let asked = chain.push(request(epoch));
    chain.push(answer(asked, THINKS, "end_turn"));
    chain.push(ended());
    let own = chain.state.own_totals();
    assert_eq!((own.steps, own.requests, own.tokens(), own.cost_microusd), (1, 1, 12, 11));
    assert_eq!(own.turn_time_ms + before.turn_time_ms, chain.state.totals.turn_time_ms);
    assert_eq!(chain.state.totals.steps, 3);
}

#[test]
fn the_first_epoch_here_carries_over_what_came_before() {
    let (mut chain, _) = imported();
    assert_eq!(carried_over(&chain), [false, false]);
    chain.push(prompt("go on"));
    chain.push(ContextEpochStarted { from_seq: 0, ..epoch() });
    assert_eq!(carried_over(&chain), [true, true], "their thinking is bound to a prefix that nobody has");
    assert_eq!(chain.state.transcript.items().len(), 5);
}

#[test]
fn a_session_of_our_own_has_no_such_part() {
    let mut chain = Chain::new();
    chain.push(started());
    chain.push(prompt("the task"));
    let epoch = chain.push(epoch());
    let asked = chain.push(request(epoch));
    chain.push(answer(asked, THINKS, "end_turn"));
    chain.push(ended());
    assert_eq!(chain.state.imported, None);
    assert_eq!(chain.state.own_totals(), chain.state.totals);
    assert_eq!(carried_over(&chain), [false]);
}

#[test]
fn a_summary_takes_the_place_of_what_was_said_before_it() {
    let (mut chain, _) = imported();
    let summary = ContextCompacted { summary: "so far".to_owned(), by: "claude-code: auto".to_owned() };
    chain.push(summary.clone());
    chain.push(prompt("and now?"));
    let [TranscriptItem::Passages(passages), TranscriptItem::Prompt { text, .. }] = chain.state.transcript.items()
    else {
        panic!("{:?}", chain.state.transcript)
    };
    assert_eq!((passages[0].text.as_str(), text.as_str()), ("so far", "and now?"));
    // In the middle of a turn it goes on.
    chain.push(summary);
    assert!(matches!(chain.stage(), Stage::Ask { .. }));
    assert_eq!(chain.state.transcript.items().len(), 1);
}

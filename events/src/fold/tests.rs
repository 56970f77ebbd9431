//! The fold: what each event does to the state, and that no list of events, however odd, breaks it.

use super::{CallProgress, SessionState, Stage, TranscriptItem, fold};
use crate::codec::Decoded;
use crate::envelope::{Envelope, Event};
use crate::hash::Hash;
use crate::id::{CallId, Class, EventId, StreamId, Timestamp, Token};
use crate::mint::{Mint, SeededMint};
use crate::payload::Payload;
use crate::payload::context::ContextEpochStarted;
use crate::payload::session::{SessionClosed, SessionConfigured, SessionStarted};
use crate::payload::settings::{Budget, Settings};
use crate::payload::tool::{ToolCalled, ToolDenied, ToolEffect, ToolFinished, ToolOutcomeUnknown};
use crate::payload::turn::{
    PromptSource, TurnAnswered, TurnEnded, TurnFailed, TurnFailure, TurnInterrupted, TurnOutcome, TurnPrompted,
    TurnRequested, Usage,
};
use proptest::prelude::*;

/// Makes events of payloads, one after the other in one stream.
pub(super) struct Chain {
    mint: SeededMint,
    pub(super) state: SessionState,
    envelopes: Vec<Envelope>,
}

impl Chain {
    pub(super) fn new() -> Self {
        Self { mint: SeededMint::new(7), state: SessionState::default(), envelopes: Vec::new() }
    }

    pub(super) fn push(&mut self, payload: impl Into<Payload>) -> EventId {
        self.push_because(None, payload)
    }

    pub(super) fn push_because(&mut self, cause: Option<EventId>, payload: impl Into<Payload>) -> EventId {
        let payload = payload.into();
        let kind = payload.kind();
        let stream = StreamId {
            tenant: Token::slug("local"),
            project: Token::slug("p"),
            class: Class::Session,
            id: Token::slug("s"),
        };
        let envelope = Envelope {
            id: self.mint.event_id(),
            stream,
            seq: self.state.next_seq(),
            at: self.mint.now(),
            kind: kind.to_owned(),
            schema: Payload::schema_of(kind).unwrap(),
            cause,
            prev_hash: self.state.head_hash(),
            payload: payload.encode().unwrap(),
        };
        let event = Event::decode(envelope.clone()).unwrap();
        assert_eq!(event.payload, Decoded::Known(Box::new(payload)));
        self.state.apply(&event);
        self.envelopes.push(envelope);
        event.envelope.id
    }

    pub(super) fn stage(&self) -> &Stage {
        &self.state.turn.as_ref().unwrap().stage
    }
}

pub(super) fn settings(model: &str) -> Settings {
    Settings {
        model: model.to_owned(),
        max_tokens: 1_000,
        thinking: None,
        effort: None,
        base_url: "http://localhost".to_owned(),
        sandbox: "auto".to_owned(),
        approvals: "auto".to_owned(),
        budget: Budget::default(),
        tree_budget: Budget::default(),
        command_timeout_ms: 1_000,
        max_attempts: 3,
    }
}

pub(super) fn started() -> SessionStarted {
    SessionStarted { title: "t".into(), workspace: "/w".into(), retrace_version: "0".into(), settings: settings("m") }
}

pub(super) fn prompt(text: &str) -> TurnPrompted {
    TurnPrompted { text: text.to_owned(), source: PromptSource::Local, attachments: Vec::new() }
}

pub(super) fn epoch() -> ContextEpochStarted {
    ContextEpochStarted {
        number: 1,
        renderer: 1,
        model: "m".into(),
        model_row: "{}".into(),
        system: "[]".into(),
        tools: "[]".into(),
        max_tokens: 10,
        thinking: None,
        output_config: None,
        seed: Vec::new(),
        from_seq: 0,
        why: String::new(),
        compacted: None,
    }
}

pub(super) fn request(epoch: EventId) -> TurnRequested {
    TurnRequested {
        attempt: 1,
        epoch,
        body_hash: Hash::of(b"body"),
        body_bytes: 4,
        model: "m".into(),
        estimated_input_tokens: 2,
        cost_bound_microusd: 50,
    }
}

pub(super) fn answer(request: EventId, content: &str, stop_reason: &str) -> TurnAnswered {
    TurnAnswered {
        request,
        content: content.to_owned(),
        model: "m".into(),
        stop_reason: stop_reason.to_owned(),
        stop_details: None,
        usage: Usage { input_tokens: 3, output_tokens: 4, cache_read_tokens: 5, ..Usage::default() },
        cost_microusd: 11,
        request_id: None,
        duration_ms: 1,
    }
}

pub(super) fn called(call: &str, effect: ToolEffect, answer: EventId) -> ToolCalled {
    ToolCalled { call: CallId(call.into()), tool: "bash".into(), input: "{}".into(), request: answer, effect }
}

pub(super) fn finished(call: &str, content: &str) -> ToolFinished {
    ToolFinished {
        call: CallId(call.into()),
        is_error: false,
        content: content.to_owned(),
        exit: None,
        output: None,
        changed: Vec::new(),
        duration_ms: 0,
    }
}

fn failed(request: EventId, failure: TurnFailure, retry_in_ms: Option<u64>) -> TurnFailed {
    TurnFailed {
        request,
        failure,
        status: None,
        message: "m".into(),
        request_id: None,
        partial: None,
        billed_microusd: 50,
        retry_in_ms,
    }
}

const TWO_CALLS: &str = r#"[{"type":"text","text":"look"},{"type":"tool_use","id":"a","name":"bash","input":{"command": "ls"}},
{"type":"tool_use","id":"b","name":"read_file","input":{}}]"#;

/// A session up to an answer with two calls.
pub(super) fn with_two_calls() -> (Chain, EventId) {
    let mut chain = Chain::new();
    chain.push(started());
    chain.push(prompt("do it"));
    let epoch = chain.push(epoch());
    let request = chain.push(request(epoch));
    let answer = chain.push(answer(request, TWO_CALLS, "tool_use"));
    (chain, answer)
}

#[test]
fn a_prompt_opens_a_turn_and_an_end_closes_it() {
    let mut chain = Chain::new();
    chain.push(started());
    assert!(chain.state.turn.is_none());
    chain.push(prompt("do it"));
    assert!(matches!(chain.stage(), Stage::Ask { .. }));
    chain.push(TurnEnded { outcome: TurnOutcome::Completed, note: "done".into() });
    assert!(chain.state.turn.is_none());
    assert_eq!(chain.state.last_end, Some((TurnOutcome::Completed, "done".to_owned())));
    assert!(chain.state.totals.turn_time_ms > 0);
}

#[test]
fn a_request_waits_until_its_answer() {
    let (mut chain, _) = with_two_calls();
    assert_eq!(chain.stage(), &Stage::Calls);
    assert_eq!(chain.state.totals.steps, 1);
    assert_eq!(chain.state.totals.cost_microusd, 11);
    assert_eq!(chain.state.totals.tokens(), 12);
    chain.push(finished("a", "1"));
    chain.push(finished("b", "2"));
    let epoch = chain.state.epoch.as_ref().unwrap().event;
    let request_id = chain.push(request(epoch));
    assert_eq!(chain.stage(), &Stage::Waiting { request: request_id, cost_bound_microusd: 50 });
}

#[test]
fn results_come_in_any_order_and_are_told_in_the_order_of_the_calls() {
    let (mut chain, answer) = with_two_calls();
    chain.push(called("a", ToolEffect::Writes, answer));
    assert_eq!(chain.state.calls[0].progress, CallProgress::Begun(ToolEffect::Writes));
    assert_eq!(chain.state.calls[0].input, r#"{"command": "ls"}"#, "the input is kept as it was written");
    chain.push(finished("b", "second"));
    assert_eq!(chain.stage(), &Stage::Calls, "one call is still open");
    chain.push(finished("a", "first"));
    assert!(matches!(chain.stage(), Stage::Ask { .. }));
    assert!(chain.state.calls.is_empty());
    let told: Vec<&str> = chain.state.transcript.items().iter().filter_map(result_text).collect();
    assert_eq!(told, ["first", "second"]);
}

fn result_text(item: &TranscriptItem) -> Option<&str> {
    match item {
        TranscriptItem::Result { content, .. } => Some(content),
        TranscriptItem::Prompt { .. }
        | TranscriptItem::Answer { .. }
        | TranscriptItem::Passages(_)
        | TranscriptItem::Interruption
        | TranscriptItem::Warning { .. }
        | TranscriptItem::BackgroundEnded { .. } => None,
    }
}

#[test]
fn a_second_result_for_a_call_and_one_for_no_call_are_not_told() {
    let (mut chain, _) = with_two_calls();
    chain.push(finished("a", "once"));
    chain.push(finished("a", "twice"));
    chain.push(finished("ghost", "boo"));
    chain.push(ToolOutcomeUnknown { call: CallId("b".into()), content: "unknown".into() });
    let told: Vec<&str> = chain.state.transcript.items().iter().filter_map(result_text).collect();
    assert_eq!(told, ["once", "unknown"]);
}

#[test]
fn a_denial_is_a_result() {
    let (mut chain, _) = with_two_calls();
    for call in ["a", "b"] {
        chain.push(ToolDenied { call: CallId(call.into()), by: "rule".into(), content: "no".into() });
    }
    assert!(matches!(chain.stage(), Stage::Ask { .. }));
    let errors =
        chain.state.transcript.items().iter().filter(|i| matches!(i, TranscriptItem::Result { is_error: true, .. }));
    assert_eq!(errors.count(), 2);
}

#[test]
fn a_failure_with_a_retry_asks_again_later_and_one_without_gives_up() {
    let mut chain = Chain::new();
    chain.push(started());
    chain.push(prompt("x"));
    let epoch = chain.push(epoch());
    let first = chain.push(request(epoch));
    chain.push(failed(first, TurnFailure::Overloaded, Some(500)));
    let at = chain.envelopes.last().unwrap().at;
    assert_eq!(chain.stage(), &Stage::Ask { not_before: Timestamp(at.0 + 500) });
    assert_eq!(chain.state.turn.as_ref().unwrap().failed_attempts, 1);
    let second = chain.push(request(epoch));
    chain.push(failed(second, TurnFailure::Lost, Some(0)));
    assert_eq!(chain.state.turn.as_ref().unwrap().failed_attempts, 1, "our own crash uses up no retry");
    let third = chain.push(request(epoch));
    chain.push(failed(third, TurnFailure::Authentication, None));
    assert!(matches!(chain.stage(), Stage::GaveUp { failure: TurnFailure::Authentication, .. }));
    assert_eq!(chain.state.totals.unknown_cost_microusd, 150);
    assert_eq!(chain.state.totals.requests, 3);
}

#[test]
fn cut_answers_are_counted_in_a_row() {
    let (mut chain, _) = with_two_calls();
    for expected in [1, 2] {
        for call in ["a", "b"] {
            chain.push(finished(call, "x"));
        }
        let epoch = chain.state.epoch.as_ref().unwrap().event;
        let id = chain.push(request(epoch));
        chain.push(answer(id, TWO_CALLS, "max_tokens"));
        assert_eq!(chain.state.turn.as_ref().unwrap().cut_answers, expected);
    }
    for call in ["a", "b"] {
        chain.push(finished(call, "x"));
    }
    let epoch = chain.state.epoch.as_ref().unwrap().event;
    let id = chain.push(request(epoch));
    chain.push(answer(id, "[]", "end_turn"));
    assert_eq!(chain.state.turn.as_ref().unwrap().cut_answers, 0);
}

#[test]
fn an_interruption_ends_the_turn_and_is_told() {
    let (mut chain, _) = with_two_calls();
    chain.push(TurnInterrupted { by: "signal".into(), during: "tool calls".into() });
    assert!(chain.state.turn.is_none());
    assert_eq!(chain.state.transcript.items().last(), Some(&TranscriptItem::Interruption));
    assert_eq!(chain.state.last_end, None);
}

#[test]
fn settings_and_closing_are_taken_over() {
    let mut chain = Chain::new();
    chain.push(started());
    chain.push(SessionConfigured { settings: settings("other"), why: "--model".into() });
    assert_eq!(chain.state.settings.as_ref().unwrap().model, "other");
    assert!(!chain.state.closed);
    chain.push(SessionClosed { why: "done".into() });
    assert!(chain.state.closed);
}

#[test]
fn a_second_epoch_that_begins_here_has_an_empty_transcript() {
    let (mut chain, _) = with_two_calls();
    assert!(chain.state.transcript.items().len() > 1);
    let from_seq = chain.state.next_seq();
    chain.push(ContextEpochStarted { number: 2, from_seq, ..epoch() });
    assert!(chain.state.transcript.items().is_empty());
    assert_eq!(chain.state.epoch.as_ref().unwrap().start.number, 2);
}

#[test]
fn an_unknown_kind_is_remembered_and_changes_nothing_else() {
    let (mut chain, _) = with_two_calls();
    let before = chain.state.transcript.clone();
    let mut envelope = chain.envelopes.last().unwrap().clone();
    envelope.seq += 1;
    "future.kind".clone_into(&mut envelope.kind);
    envelope.payload = vec![9, 9, 9];
    chain.state.apply(&Event::decode(envelope).unwrap());
    assert_eq!(chain.state.newer.as_deref(), Some("`future.kind` (schema 1)"));
    assert_eq!(chain.state.transcript, before);
}

#[test]
fn folding_stored_envelopes_gives_the_same_state() {
    let (chain, _) = with_two_calls();
    let again = fold(chain.envelopes.clone()).unwrap();
    assert_eq!(format!("{:?}", chain.state), format!("{again:?}"));
}

fn any_payload() -> impl Strategy<Value = Payload> {
    let some_id = EventId(uuid::Uuid::nil());
    let call = prop_oneof![Just("a"), Just("b"), Just("ghost")];
    let content = prop_oneof![Just("[]"), Just(TWO_CALLS), Just("not json"), Just(r#"[{"type":"tool_use"}]"#)];
    let stop = prop_oneof![Just("end_turn"), Just("tool_use"), Just("max_tokens"), Just("never heard of it")];
    let retry = prop_oneof![Just(None), Just(Some(u64::MAX)), Just(Some(5))];
    prop_oneof![
        Just(started().into()),
        Just(prompt("p").into()),
        Just(epoch().into()),
        Just(request(some_id).into()),
        (content, stop).prop_map(move |(content, stop)| answer(some_id, content, stop).into()),
        retry.prop_map(move |retry| failed(some_id, TurnFailure::Server, retry).into()),
        call.clone().prop_map(move |call| called(call, ToolEffect::Writes, some_id).into()),
        call.clone().prop_map(|call| finished(call, "r").into()),
        call.prop_map(|call| ToolOutcomeUnknown { call: CallId(call.into()), content: "u".into() }.into()),
        Just(TurnInterrupted { by: "x".into(), during: "y".into() }.into()),
        Just(TurnEnded { outcome: TurnOutcome::Completed, note: String::new() }.into()),
    ]
}

proptest! {
    /// Whatever the events, after each of them every call of an answer has at most one result, results follow their
    /// answer in the order of its calls, and calls are open only while one of them has no result.
    #[test]
    fn no_list_of_events_breaks_the_conversation(payloads in prop::collection::vec(any_payload(), 0..60)) {
        let mut chain = Chain::new();
        for payload in payloads {
            chain.push(payload);
            let open = chain.state.calls.iter().any(|call| call.progress != CallProgress::Done);
            prop_assert_eq!(open, !chain.state.calls.is_empty());
            check_order(chain.state.transcript.items(), open)?;
        }
        let again = fold(chain.envelopes.clone()).unwrap();
        prop_assert_eq!(again.transcript, chain.state.transcript);
        prop_assert_eq!(again.totals, chain.state.totals);
    }
}

fn check_order(items: &[TranscriptItem], last_is_open: bool) -> Result<(), TestCaseError> {
    let answers: Vec<usize> = (0..items.len()).filter(|i| matches!(items[*i], TranscriptItem::Answer { .. })).collect();
    for (place, start) in answers.iter().enumerate() {
        let end = answers.get(place + 1).copied().unwrap_or(items.len());
        let TranscriptItem::Answer { calls, .. } = &items[*start] else { unreachable!() };
        let results: Vec<&CallId> = items[*start..end].iter().filter_map(result_call).collect();
        let mut unique = results.clone();
        unique.sort();
        unique.dedup();
        prop_assert_eq!(unique.len(), results.len(), "a call has two results");
        if !(last_is_open && place + 1 == answers.len()) && results.len() == calls.len() {
            prop_assert_eq!(results, calls.iter().collect::<Vec<_>>());
        }
    }
    Ok(())
}

fn result_call(item: &TranscriptItem) -> Option<&CallId> {
    match item {
        TranscriptItem::Result { call, .. } => Some(call),
        TranscriptItem::Prompt { .. }
        | TranscriptItem::Answer { .. }
        | TranscriptItem::Passages(_)
        | TranscriptItem::Interruption
        | TranscriptItem::Warning { .. }
        | TranscriptItem::BackgroundEnded { .. } => None,
    }
}

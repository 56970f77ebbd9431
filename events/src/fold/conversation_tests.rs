//! The fold of what people and tools bring into a conversation: queues, control events, approvals, plans, commands in the
//! background, images, warnings, and a second epoch.

use super::tests::{Chain, answer, called, epoch, finished, prompt, request, started, with_two_calls};
use super::{CallApproval, CallProgress, Stage, TranscriptItem};
use crate::blob::BlobRef;
use crate::hash::Hash;
use crate::id::{CallId, EventId, Timestamp};
use crate::payload::context::{ContextEpochStarted, ContextImageAttached};
use crate::payload::session::{PlanItem, PlanStatus, SessionControlHandled, SessionPlanned, SessionRuleAdded};
use crate::payload::tool::{
    ToolApprovalAsked, ToolApprovalScope, ToolApproved, ToolBackgroundEnded, ToolBackgroundStarted, ToolEffect,
};
use crate::payload::turn::{PromptSource, TurnEnded, TurnOutcome, TurnQueued, TurnWarned};

fn call(id: &str) -> CallId {
    CallId(id.to_owned())
}

fn queued(text: &str) -> TurnQueued {
    TurnQueued { text: text.to_owned(), source: PromptSource::Control, attachments: Vec::new() }
}

fn image(name: &str, of: Option<&str>) -> ContextImageAttached {
    ContextImageAttached {
        name: name.to_owned(),
        media_type: "image/png".to_owned(),
        data_base64: name.to_owned(),
        call: of.map(call),
        width_px: 1,
        height_px: 1,
    }
}

/// The images of an item, by their bytes.
fn images(item: &TranscriptItem) -> Vec<String> {
    match item {
        TranscriptItem::Prompt { images, .. } | TranscriptItem::Result { images, .. } => {
            images.iter().map(|image| image.data_base64.to_string()).collect()
        }
        TranscriptItem::Answer { .. }
        | TranscriptItem::Passages(_)
        | TranscriptItem::Interruption
        | TranscriptItem::Warning { .. }
        | TranscriptItem::BackgroundEnded { .. } => panic!("{item:?} has no images"),
    }
}

#[test]
fn a_queued_prompt_waits_without_touching_the_conversation_until_it_is_prompted() {
    let (mut chain, _) = with_two_calls();
    let before = chain.state.transcript.clone();
    let first = chain.push(queued("later"));
    let second = chain.push(queued("last"));
    assert_eq!(chain.state.transcript, before, "a request on its way would change");
    assert_eq!(chain.stage(), &Stage::Calls);
    chain.push(TurnEnded { outcome: TurnOutcome::Completed, note: String::new() });
    chain.push_because(Some(first), prompt("later"));
    let waiting: Vec<EventId> = chain.state.queue.iter().map(|queued| queued.event).collect();
    assert_eq!(waiting, [second]);
    // A prompt of any other cause takes nothing from the queue.
    chain.push_because(Some(first), prompt("else"));
    assert_eq!(chain.state.queue.len(), 1);
}

#[test]
fn images_go_with_the_prompt_they_came_with() {
    let mut chain = Chain::new();
    chain.push(started());
    chain.push(image("one", None));
    chain.push(image("two", None));
    let waiting = chain.push(queued("see these"));
    chain.push(image("three", None));
    chain.push(prompt("see this"));
    chain.push(TurnEnded { outcome: TurnOutcome::Completed, note: String::new() });
    chain.push_because(Some(waiting), prompt("see these"));
    let items = chain.state.transcript.items();
    assert_eq!((images(&items[0]), images(&items[1])), (vec!["three".to_owned()], vec!["one".into(), "two".into()]));
}

#[test]
fn an_image_of_a_call_goes_with_its_result_only() {
    let (mut chain, _) = with_two_calls();
    chain.push(image("of b", Some("b")));
    chain.push(finished("a", "1"));
    chain.push(finished("b", "2"));
    let items = chain.state.transcript.items();
    assert_eq!((images(&items[2]), images(&items[3])), (Vec::new(), vec!["of b".to_owned()]));
}

#[test]
fn the_place_in_the_control_stream_is_behind_what_was_handled() {
    let mut chain = Chain::new();
    let event = chain.push(started());
    for (seq, accepted) in [(0, true), (1, false)] {
        chain.push(SessionControlHandled { event, seq, accepted, note: String::new() });
    }
    assert_eq!(chain.state.control_next, 2);
}

#[test]
fn a_call_is_asked_about_then_allowed_then_begun() {
    let (mut chain, answer) = with_two_calls();
    let approval = |chain: &Chain| chain.state.calls[0].approval;
    assert_eq!(approval(&chain), CallApproval::Undecided);
    let asked = ToolApprovalAsked {
        call: call("a"),
        tool: "bash".into(),
        summary: "ls".into(),
        preview: "ls".into(),
        rule: "bash(ls *)".into(),
        why: "no sandbox".into(),
    };
    chain.push(asked.clone());
    assert_eq!(approval(&chain), CallApproval::Asked);
    chain.push(ToolApproved { call: call("a"), by: "user".into(), scope: ToolApprovalScope::Once });
    assert_eq!((approval(&chain), chain.state.calls[0].progress), (CallApproval::Given, CallProgress::Asked));
    chain.push(called("a", ToolEffect::Writes, answer));
    // Nothing can be asked about a call that has begun.
    chain.push(asked);
    assert_eq!(approval(&chain), CallApproval::Given);
    assert_eq!(chain.state.calls[1].approval, CallApproval::Undecided, "the other call was not meant");
}

#[test]
fn rules_add_up_once_and_a_plan_replaces_the_one_before() {
    let mut chain = Chain::new();
    chain.push(started());
    for rule in ["bash(ls *)", "edit_file(src/**)", "bash(ls *)"] {
        chain.push(SessionRuleAdded { rule: rule.into(), by: "user".into() });
    }
    assert_eq!(chain.state.rules, ["bash(ls *)", "edit_file(src/**)"]);
    let item = |text: &str| PlanItem { text: text.into(), status: PlanStatus::Pending };
    for items in [vec![item("one"), item("two")], vec![item("three")]] {
        chain.push(SessionPlanned { call: call("a"), items });
    }
    assert_eq!(chain.state.plan, [item("three")]);
}

#[test]
fn the_end_of_a_background_command_is_told_once_and_its_output_is_found() {
    let (mut chain, _) = with_two_calls();
    chain.push(finished("a", "started"));
    chain.push(ToolBackgroundStarted { call: call("a"), command: "serve".into() });
    chain.push(finished("b", "2"));
    assert_eq!(chain.state.background, [(call("a"), "serve".to_owned())]);
    let output = BlobRef { hash: Hash::of(b"up"), size_bytes: 2 };
    let ended = ToolBackgroundEnded { call: call("a"), exit: None, output: Some(output), why: "killed".into() };
    chain.push(ended.clone());
    chain.push(ended);
    assert!(chain.state.background.is_empty());
    assert_eq!(chain.state.outputs.get(&call("a")), Some(&output));
    let told = chain.state.transcript.items().iter().filter(|item| {
        matches!(item, TranscriptItem::BackgroundEnded { command, why, .. } if command == "serve" && why == "killed")
    });
    assert_eq!(told.count(), 1);
}

#[test]
fn a_warning_is_told_and_remembered_for_its_turn_only() {
    let (mut chain, _) = with_two_calls();
    chain.push(TurnWarned { rule: "same call".into(), note: "again?".into() });
    assert_eq!(chain.state.turn.as_ref().unwrap().warned, ["same call"]);
    assert!(
        matches!(chain.state.transcript.items().last(), Some(TranscriptItem::Warning { note }) if note == "again?")
    );
    chain.push(TurnEnded { outcome: TurnOutcome::Stuck, note: String::new() });
    chain.push(prompt("go on"));
    assert!(chain.state.turn.as_ref().unwrap().warned.is_empty());
    assert!(chain.state.steps.is_empty(), "the steps of the turn before count against this one");
}

#[test]
fn a_second_epoch_keeps_what_it_names_and_marks_answers_as_carried_over() {
    let (mut chain, _) = with_two_calls();
    chain.push(finished("b", "2"));
    chain.push(finished("a", "1"));
    let first = chain.push(request(EventId(uuid::Uuid::nil())));
    chain.push(answer(first, r#"[{"type":"text","text":"so"}]"#, "end_turn"));
    chain.push(TurnEnded { outcome: TurnOutcome::Completed, note: String::new() });
    let from_seq = chain.state.next_seq();
    chain.push(prompt("next"));
    let whole = chain.state.transcript.items().len();
    chain.push(ContextEpochStarted { number: 2, from_seq: 0, ..epoch() });
    assert_eq!(chain.state.transcript.items().len(), whole, "the conversation was cut");
    let carried = |item: &TranscriptItem| matches!(item, TranscriptItem::Answer { carried_over: true, .. });
    assert_eq!(chain.state.transcript.items().iter().filter(|item| carried(item)).count(), 2);
    let second = chain.push(request(EventId(uuid::Uuid::nil())));
    chain.push(answer(second, "[]", "end_turn"));
    let last = chain.state.transcript.items().last();
    assert!(matches!(last, Some(TranscriptItem::Answer { carried_over: false, .. })));
    chain.push(ContextEpochStarted { number: 3, from_seq, ..epoch() });
    let kept = chain.state.transcript.items();
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert!(matches!(&kept[0], TranscriptItem::Prompt { text, .. } if text == "next"));
}

#[test]
fn requests_are_counted_by_turn() {
    let (mut chain, _) = with_two_calls();
    assert_eq!(chain.state.turn.as_ref().unwrap().requests, 1);
    chain.push(TurnEnded { outcome: TurnOutcome::Completed, note: String::new() });
    chain.push(prompt("again"));
    assert_eq!(chain.state.turn.as_ref().unwrap().requests, 0);
}

#[test]
fn only_a_failure_makes_the_next_request_wait() {
    // Another machine's clock may be behind: what waits for a moment in this one's past waits for nothing.
    let (mut chain, _) = with_two_calls();
    chain.push(finished("a", "1"));
    chain.push(finished("b", "2"));
    assert_eq!(chain.stage(), &Stage::Ask { not_before: Timestamp(0) });
}

//! What to do next, as a table: every stage of a turn, every stop reason, budgets, and which calls run together.

use super::super::fullness::Fullness;
use super::super::next::{Next, Outlook, Summaries, next};
use super::super::title_of;
use crate::context::RENDERER;
use crate::permissions::Permissions;
use retrace_events::fold::{
    AskedCompaction, CallApproval, CallProgress, CameCompaction, Epoch, OpenCall, Stage, TurnState,
};
use retrace_events::payload::context::ContextEpochStarted;
use retrace_events::payload::settings::{Budget, Settings};
use retrace_events::payload::tool::ToolEffect;
use retrace_events::payload::turn::{TurnAnswered, TurnFailure, TurnOutcome, Usage};
use retrace_events::testing::{EventMaker, example_stream};
use retrace_events::{CallId, Event, EventId, SessionState, Timestamp};

const NOW: Timestamp = Timestamp(100_000);

fn id() -> EventId {
    EventId(uuid::Uuid::nil())
}

fn epoch() -> Epoch {
    let start = ContextEpochStarted {
        number: 1,
        renderer: RENDERER,
        model: "m".into(),
        model_row: "{}".into(),
        system: "[]".into(),
        tools: "[]".into(),
        max_tokens: 1,
        thinking: None,
        output_config: None,
        seed: Vec::new(),
        from_seq: 0,
        why: String::new(),
        compacted: None,
    };
    Epoch { event: id(), seq: 0, start }
}

fn settings(budget: Budget) -> Settings {
    Settings {
        model: "m".into(),
        max_tokens: 1,
        thinking: None,
        effort: None,
        base_url: String::new(),
        sandbox: "auto".into(),
        approvals: "auto".into(),
        budget,
        tree_budget: Budget::default(),
        command_timeout_ms: 1,
        max_attempts: 1,
    }
}

/// A session in an epoch, with a turn at `stage` that began 60 s ago.
fn at(stage: Stage) -> SessionState {
    let turn = TurnState {
        prompt: id(),
        started_at: Timestamp(40_000),
        stage,
        failed_attempts: 0,
        cut_answers: 0,
        requests: 1,
        recoveries: 0,
        warned: Vec::new(),
        files_told: false,
    };
    SessionState {
        epoch: Some(epoch()),
        turn: Some(turn),
        settings: Some(settings(Budget::default())),
        ..SessionState::default()
    }
}

/// The session with an answer of this epoch.
fn answered(mut state: SessionState) -> SessionState {
    let answer = TurnAnswered {
        request: id(),
        content: r#"[{"type":"text","text":"hm"}]"#.to_owned(),
        model: "m".to_owned(),
        stop_reason: "end_turn".to_owned(),
        stop_details: None,
        usage: Usage::default(),
        cost_microusd: 0,
        request_id: None,
        duration_ms: 0,
    };
    let envelope = EventMaker::new(example_stream("answered"), 1).payload(&answer.into(), None);
    state.apply(&Event::decode(envelope).unwrap());
    state
}

/// What is next in a sandbox, attended, with nothing else to think of.
fn step(state: &SessionState) -> Next {
    next(state, &outlook(&Permissions::builtin(true)))
}

fn outlook(permissions: &Permissions) -> Outlook<'_> {
    Outlook {
        now: NOW,
        permissions,
        attended: true,
        family: None,
        outdated: None,
        fullness: None,
        summaries: Summaries::default(),
    }
}

fn ask() -> Stage {
    Stage::Ask { not_before: Timestamp(7) }
}

fn outcome(next: &Next) -> Option<TurnOutcome> {
    match next {
        Next::End { outcome, .. } => Some(*outcome),
        Next::Idle
        | Next::Prompt(_)
        | Next::BeginEpoch { .. }
        | Next::Compact { .. }
        | Next::AwaitSummary
        | Next::SettleCompaction(_)
        | Next::BeginCompacted
        | Next::Request { .. }
        | Next::SettleRequest { .. }
        | Next::Run(_)
        | Next::Part(..)
        | Next::EndParts(_)
        | Next::SettleCall(_)
        | Next::Deny { .. }
        | Next::AskApproval { .. }
        | Next::AskQuestion(_)
        | Next::AwaitWord
        | Next::Warn { .. } => None,
    }
}

#[test]
fn without_a_turn_there_is_nothing_to_do() {
    assert_eq!(step(&SessionState::default()), Next::Idle);
}

#[test]
fn the_first_request_needs_an_epoch() {
    let state = SessionState { epoch: None, ..at(ask()) };
    assert_eq!(step(&state), Next::BeginEpoch { why: "the session begins".to_owned() });
    assert_eq!(step(&at(ask())), Next::Request { not_before: Timestamp(7), attempt: 1 });
}

#[test]
fn a_retry_is_the_next_attempt() {
    let mut state = at(ask());
    state.turn.as_mut().unwrap().failed_attempts = 2;
    assert_eq!(step(&state), Next::Request { not_before: Timestamp(7), attempt: 3 });
}

#[test]
fn an_unanswered_request_is_settled_first() {
    let state = at(Stage::Waiting { request: id(), cost_bound_microusd: 9 });
    assert_eq!(step(&state), Next::SettleRequest { request: id(), cost_bound_microusd: 9 });
}

#[test]
fn every_stop_reason_has_its_end() {
    for (reason, expected) in [
        ("end_turn", TurnOutcome::Completed),
        ("stop_sequence", TurnOutcome::Completed),
        ("refusal", TurnOutcome::Refused),
        ("max_tokens", TurnOutcome::AnswerTooLong),
        ("something_new", TurnOutcome::Completed),
    ] {
        let stage = Stage::Answered { stop_reason: reason.to_owned() };
        assert_eq!(outcome(&step(&at(stage))), Some(expected), "{reason}");
    }
}

#[test]
fn what_a_fresh_context_cures_is_tried_once() {
    let gave_up = |failure, message: &str| Stage::GaveUp { failure, message: message.to_owned() };
    let cured = [
        (Stage::Answered { stop_reason: "model_context_window_exceeded".to_owned() }, TurnOutcome::ContextFull),
        (
            gave_up(TurnFailure::InvalidRequest, "prompt is too long: 210000 tokens > 200000 maximum"),
            TurnOutcome::RequestFailed,
        ),
        (
            gave_up(TurnFailure::InvalidRequest, "messages.3: The block is bound to a different conversation"),
            TurnOutcome::RequestFailed,
        ),
        (gave_up(TurnFailure::TooLarge, "Request exceeds the maximum size"), TurnOutcome::RequestFailed),
    ];
    for (stage, end) in cured {
        assert!(
            !matches!(step(&at(gave_up(TurnFailure::TooLarge, ""))), Next::BeginEpoch { .. }),
            "nothing to leave behind"
        );
        let mut state = answered(at(stage.clone()));
        state.turn.as_mut().unwrap().stage = stage.clone();
        assert!(matches!(step(&state), Next::BeginEpoch { .. }), "{stage:?}");
        state.turn.as_mut().unwrap().recoveries = 1;
        assert_eq!(outcome(&step(&state)), Some(end), "{stage:?}");
    }
    for (failure, message) in [
        (TurnFailure::InvalidRequest, "messages.0: something else"),
        (TurnFailure::Overloaded, "prompt is too long"),
        (TurnFailure::Authentication, "no"),
    ] {
        let mut state = answered(at(ask()));
        state.turn.as_mut().unwrap().stage = gave_up(failure, message);
        assert_eq!(outcome(&step(&state)), Some(TurnOutcome::RequestFailed), "{message}");
    }
}

fn fullness(tokens: u64, idle_ms: u64) -> Fullness {
    Fullness { tokens, budget_tokens: 100_000, window_tokens: 500_000, idle_ms, can_shrink: true }
}

#[test]
fn a_full_context_begins_afresh_and_earlier_when_the_cache_is_cold() {
    const MINUTE: u64 = 60_000;
    let due = |fullness: Fullness| {
        let permissions = Permissions::builtin(true);
        next(&at(ask()), &Outlook { fullness: Some(fullness), ..outlook(&permissions) })
    };
    for (tokens, idle_ms) in [(100_000, 0), (75_000, 5 * MINUTE), (50_000, 60 * MINUTE), (400_000, 0)] {
        let next = due(fullness(tokens, idle_ms));
        assert!(matches!(&next, Next::BeginEpoch { why } if why.contains("tokens")), "{tokens} {idle_ms}: {next:?}");
    }
    for (tokens, idle_ms) in [(99_999, 0), (99_999, 4 * MINUTE), (74_999, 59 * MINUTE), (49_999, 600 * MINUTE)] {
        assert!(matches!(due(fullness(tokens, idle_ms)), Next::Request { .. }), "{tokens} {idle_ms}");
    }
    // An epoch that has nothing to leave behind goes on until the window ends.
    let fresh = |tokens| Fullness { can_shrink: false, ..fullness(tokens, 0) };
    assert!(matches!(due(fresh(400_000)), Next::Request { .. }));
    let end = due(fresh(500_001));
    assert!(matches!(&end, Next::End { outcome: TurnOutcome::ContextFull, note } if note.contains("hint:")), "{end:?}");
}

#[test]
fn a_summary_is_asked_for_early_waited_for_late_and_put_in_place_at_once() {
    let permissions = Permissions::builtin(true);
    let with = |state: &SessionState, tokens, summaries| {
        next(state, &Outlook { fullness: Some(fullness(tokens, 0)), summaries, ..outlook(&permissions) })
    };
    let (can, on_its_way) = (
        Summaries { can_be_asked: true, ..Summaries::default() },
        Summaries { on_its_way: true, ..Summaries::default() },
    );
    let state = at(ask());
    assert!(matches!(with(&state, 84_999, can), Next::Request { .. }));
    assert!(matches!(with(&state, 85_000, can), Next::Compact { .. }));
    assert!(matches!(with(&state, 100_000, can), Next::Compact { .. }));
    assert!(matches!(with(&state, 99_999, on_its_way), Next::Request { .. }));
    assert_eq!(with(&state, 100_000, on_its_way), Next::AwaitSummary);
    assert!(matches!(with(&state, 100_000, Summaries::default()), Next::BeginEpoch { .. }));
    // On the user's word at any time.
    let wished = Summaries { wished: true, ..Summaries::default() };
    assert!(matches!(with(&state, 10, wished), Next::BeginEpoch { why } if why.contains("the user asked")));
    assert!(matches!(with(&state, 10, Summaries { wished: true, ..can }), Next::Compact { .. }));
    // One that has come is put in place, and one whose process is gone is settled, however full the context is.
    let mut came = at(ask());
    came.compaction.came = Some(CameCompaction { event: id(), until_seq: 3, block: "{}".into() });
    assert_eq!(with(&came, 10, can), Next::BeginCompacted);
    let mut gone = at(ask());
    let asked = AskedCompaction { request: id(), until_seq: 3, cost_bound_microusd: 5 };
    gone.compaction.asked = Some(asked);
    assert_eq!(with(&gone, 10, Summaries::default()), Next::SettleCompaction(asked));
    assert!(matches!(with(&gone, 10, on_its_way), Next::Request { .. }));
    // What was paused is gone on with first.
    let stage = Stage::Answered { stop_reason: "pause_turn".to_owned() };
    let mut paused = at(stage);
    assert!(matches!(with(&paused, 90_000, can), Next::Request { .. }));
    paused.compaction.came = came.compaction.came;
    assert!(matches!(with(&paused, 90_000, can), Next::Request { .. }));
}

#[test]
fn a_request_with_a_summary_that_the_api_does_not_take_is_made_again_without() {
    let mut state = answered(at(ask()));
    let (failure, message) = (TurnFailure::InvalidRequest, "messages.0: whatever".to_owned());
    state.turn.as_mut().unwrap().stage = Stage::GaveUp { failure, message };
    assert_eq!(outcome(&step(&state)), Some(TurnOutcome::RequestFailed));
    state.epoch.as_mut().unwrap().start.compacted = Some("{}".into());
    assert!(matches!(step(&state), Next::BeginEpoch { why } if why.contains("summary")));
}

#[test]
fn a_paused_turn_is_sent_back() {
    let stage = Stage::Answered { stop_reason: "pause_turn".to_owned() };
    assert_eq!(step(&at(stage)), Next::Request { not_before: Timestamp(0), attempt: 1 });
}

#[test]
fn giving_up_says_why() {
    let stage = Stage::GaveUp { failure: TurnFailure::Authentication, message: "invalid x-api-key".into() };
    let Next::End { outcome, note } = step(&at(stage)) else { panic!("it goes on") };
    assert_eq!(outcome, TurnOutcome::RequestFailed);
    assert!(note.contains("Authentication") && note.contains("invalid x-api-key"), "{note}");
}

#[test]
fn answers_cut_again_and_again_end_the_turn() {
    let mut state = at(ask());
    state.turn.as_mut().unwrap().cut_answers = 2;
    assert_eq!(outcome(&step(&state)), None);
    state.turn.as_mut().unwrap().cut_answers = 3;
    assert_eq!(outcome(&step(&state)), Some(TurnOutcome::AnswerTooLong));
}

#[test]
fn each_budget_stops_at_its_limit_and_not_before() {
    let none = Budget::default();
    let cases = [
        (Budget { max_steps: Some(5), ..none }, true, "5 of 5 steps"),
        (Budget { max_steps: Some(6), ..none }, false, ""),
        (Budget { max_tokens: Some(300), ..none }, true, "300 of 300 tokens"),
        (Budget { max_tokens: Some(301), ..none }, false, ""),
        (Budget { max_cost_microusd: Some(1_234_500), ..none }, true, "$1.2345 of $1.2345"),
        (Budget { max_cost_microusd: Some(1_234_501), ..none }, false, ""),
        (Budget { max_time_ms: Some(90_000), ..none }, true, "90 s of 90 s"),
        (Budget { max_time_ms: Some(90_001), ..none }, false, ""),
        (none, false, ""),
    ];
    for (budget, stops, words) in cases {
        let mut state = at(ask());
        state.settings = Some(settings(budget));
        state.totals.steps = 5;
        state.totals.usage = Usage { input_tokens: 100, cache_read_tokens: 50, output_tokens: 150, ..Usage::default() };
        state.totals.cost_microusd = 1_000_000;
        state.totals.unknown_cost_microusd = 234_500;
        state.totals.turn_time_ms = 30_000;
        let next = step(&state);
        assert_eq!(outcome(&next), stops.then_some(TurnOutcome::BudgetReached), "{budget:?}");
        if let Next::End { note, .. } = next {
            assert!(note.contains(words), "{note}");
        }
    }
}

fn call(name: &str, tool: &str, progress: CallProgress) -> OpenCall {
    let (id, tool, input) = (CallId(name.to_owned()), tool.to_owned(), "{}".to_owned());
    OpenCall { id, tool, input, progress, approval: CallApproval::Undecided }
}

/// What runs next, by the calls' names; `!` marks a call that is settled.
fn runs(calls: Vec<OpenCall>) -> String {
    let state = SessionState { calls, ..at(Stage::Calls) };
    match step(&state) {
        Next::Run(calls) => calls.iter().map(|(call, _)| call.id.0.clone()).collect(),
        Next::SettleCall(call) => format!("!{}", call.id),
        other @ (Next::Idle
        | Next::Prompt(_)
        | Next::BeginEpoch { .. }
        | Next::Compact { .. }
        | Next::AwaitSummary
        | Next::SettleCompaction(_)
        | Next::BeginCompacted
        | Next::Request { .. }
        | Next::SettleRequest { .. }
        | Next::Part(..)
        | Next::EndParts(_)
        | Next::Deny { .. }
        | Next::AskApproval { .. }
        | Next::AskQuestion(_)
        | Next::AwaitWord
        | Next::Warn { .. }
        | Next::End { .. }) => {
            format!("{other:?}")
        }
    }
}

#[test]
fn calls_that_only_look_run_together_and_others_alone_in_their_place() {
    use CallProgress::{Asked, Begun, Done};
    let read = |name, progress| call(name, "read_file", progress);
    let bash = |name, progress| call(name, "bash", progress);
    assert_eq!(runs(vec![read("a", Asked), read("b", Asked), bash("c", Asked), read("d", Asked)]), "ab");
    assert_eq!(runs(vec![read("a", Done), read("b", Done), bash("c", Asked), read("d", Asked)]), "c");
    assert_eq!(runs(vec![bash("a", Asked), bash("b", Asked)]), "a");
    assert_eq!(runs(vec![bash("a", Done), call("b", "no_such_tool", Asked)]), "b");
    // After a crash: what only looks is run again, what may have had an effect is settled.
    assert_eq!(runs(vec![read("a", Begun(ToolEffect::ReadOnly)), read("b", Asked)]), "ab");
    assert_eq!(runs(vec![read("a", Done), bash("b", Begun(ToolEffect::Writes)), bash("c", Asked)]), "!b");
}

#[test]
fn a_title_is_one_short_line() {
    assert_eq!(title_of("  fix\n\tthe bug "), "fix the bug");
    let long = title_of(&"word ".repeat(100));
    assert_eq!(long.chars().count(), 80);
    assert!(long.ends_with('…'));
}

//! What to do next, as a pure function of the session's state.

use super::approvals::NOBODY;
use super::budget;
use super::family::FamilyUsage;
use super::fullness::Fullness;
use super::recovery::{recovery, recovery_of_answer};
use super::stuck::{Stuck, detect};
use crate::context::RENDERER;
use crate::permissions::{Asked, Permissions, Verdict};
use crate::tools;
use retrace_events::fold::{
    AskedCompaction, CallApproval, CallProgress, OpenCall, PartedCall, QueuedPrompt, Stage, StepText, TurnState,
};
use retrace_events::payload::tool::ToolEffect;
use retrace_events::payload::turn::TurnOutcome;
use retrace_events::{CallId, EventId, SessionState, Timestamp};

/// How many answers in a row may be cut at their token limit before the turn ends.
const MAX_CUT_ANSWERS: u32 = 3;

/// What the decision depends on besides the session's own events.
pub(super) struct Outlook<'a> {
    /// The time, for the budget of time.
    pub(super) now: Timestamp,
    /// Which calls may be carried out.
    pub(super) permissions: &'a Permissions,
    /// Whether somebody can be asked.
    pub(super) attended: bool,
    /// What the session's relatives have used, where they share a budget.
    pub(super) family: Option<&'a FamilyUsage>,
    /// Why the present epoch does not fit the settings any more.
    pub(super) outdated: Option<String>,
    /// How full the present epoch is, where a request is to be made.
    pub(super) fullness: Option<Fullness>,
    /// What is known of summaries by the API.
    pub(super) summaries: Summaries,
}

/// What is known of summaries by the API, beside the session's own events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Summaries {
    /// Whether one can be asked for now.
    pub(super) can_be_asked: bool,
    /// Whether this process waits for one.
    pub(super) on_its_way: bool,
    /// Whether the user wants the context to begin afresh.
    pub(super) wished: bool,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing: no turn is open, and no prompt waits.
    Idle,
    /// Begin a turn with the prompt that has waited longest.
    Prompt(Box<QueuedPrompt>),
    /// Begin an epoch.
    BeginEpoch { why: String },
    /// Ask the API for a summary, and go on meanwhile.
    Compact { why: String },
    /// Wait for the summary that is on its way.
    AwaitSummary,
    /// A summary was asked for by a process that is gone: settle its cost.
    SettleCompaction(AskedCompaction),
    /// Begin an epoch with the summary that has come.
    BeginCompacted,
    /// Make a request, not before the given moment.
    Request { not_before: Timestamp, attempt: u32 },
    /// The request was sent by a process that is gone: settle its cost.
    SettleRequest { request: EventId, cost_bound_microusd: u64 },
    /// Carry out calls, all at once; more may follow. Each with the rule that allows it, when one does.
    Run(Vec<(OpenCall, Option<String>)>),
    /// The call was begun by a process that is gone, and may have done something.
    SettleCall(OpenCall),
    /// A rule, or the lack of somebody to ask, forbids the call.
    Deny { call: CallId, by: String, content: String },
    /// Ask somebody whether the call may be carried out.
    AskApproval { call: OpenCall, why: String },
    /// Begin a call that is made of others, with the rule that allows it, when one does.
    Part(OpenCall, Option<String>),
    /// All that a call is made of is done: give it its result.
    EndParts(CallId),
    /// Put the call's question to the user.
    AskQuestion(OpenCall),
    /// Wait for what somebody says.
    AwaitWord,
    /// Tell the model that it goes round in circles.
    Warn { rule: &'static str, note: String },
    /// End the turn.
    End { outcome: TurnOutcome, note: String },
}

/// Decides what to do next.
pub(super) fn next(state: &SessionState, outlook: &Outlook<'_>) -> Next {
    let Some(turn) = &state.turn else {
        return state.queue.front().map_or(Next::Idle, |queued| Next::Prompt(Box::new(queued.clone())));
    };
    match &turn.stage {
        Stage::Ask { not_before } => ask(state, turn, *not_before, outlook),
        Stage::Waiting { request, cost_bound_microusd } => {
            Next::SettleRequest { request: *request, cost_bound_microusd: *cost_bound_microusd }
        }
        Stage::Calls => calls(state, outlook),
        Stage::Answered { stop_reason } => answered(state, turn, stop_reason, outlook),
        Stage::GaveUp { failure, message } => match recovery(state, turn, *failure, message) {
            Some(why) => Next::BeginEpoch { why },
            None => Next::End { outcome: TurnOutcome::RequestFailed, note: format!("{failure:?}: {message}") },
        },
    }
}

fn ask(state: &SessionState, turn: &TurnState, not_before: Timestamp, outlook: &Outlook<'_>) -> Next {
    let Some(epoch) = &state.epoch else {
        return Next::BeginEpoch { why: "the session begins".to_owned() };
    };
    if let Some(note) = budget::reached(state, outlook.now, outlook.family) {
        return Next::End { outcome: TurnOutcome::BudgetReached, note };
    }
    if turn.cut_answers >= MAX_CUT_ANSWERS {
        let note = format!("{MAX_CUT_ANSWERS} answers in a row were cut at their token limit");
        return Next::End { outcome: TurnOutcome::AnswerTooLong, note };
    }
    // Thinking is bound to the epoch's settings, so they change only where no thinking is needed: before a turn's first request.
    if let Some(why) = outlook.outdated.clone().filter(|_| turn.requests == 0) {
        return Next::BeginEpoch { why };
    }
    if let Some(next) = afresh(state, turn, outlook) {
        return next;
    }
    if let Some(note) = outlook.fullness.and_then(|fullness| fullness.too_large()) {
        return Next::End { outcome: TurnOutcome::ContextFull, note };
    }
    if epoch.start.renderer == RENDERER
        && let Some(next) = circles(state, turn)
    {
        return next;
    }
    Next::Request { not_before, attempt: turn.failed_attempts + 1 }
}

/// Whether the context begins afresh, and how. A summary that has come is put in place with the next request: thinking that is
/// given behind it is bound to it.
fn afresh(state: &SessionState, turn: &TurnState, outlook: &Outlook<'_>) -> Option<Next> {
    let (known, summaries) = (&state.compaction, outlook.summaries);
    // What was paused has to be gone on with as it is.
    let paused = !matches!(turn.stage, Stage::Ask { .. });
    if let Some(asked) = known.asked.filter(|_| !summaries.on_its_way) {
        return Some(Next::SettleCompaction(asked));
    }
    if known.came.is_some() && !paused {
        return Some(Next::BeginCompacted);
    }
    let fullness = outlook.fullness?;
    let wished = (summaries.wished && fullness.can_shrink).then(|| "the user asked for it".to_owned());
    let due = fullness.due().or(wished);
    match due {
        Some(_) if summaries.on_its_way => Some(Next::AwaitSummary),
        Some(why) if summaries.can_be_asked && !paused => Some(Next::Compact { why }),
        Some(why) => Some(Next::BeginEpoch { why }),
        None if fullness.soon() && summaries.can_be_asked && !paused => {
            let why = format!("the context has about {} of its {} tokens", fullness.tokens, fullness.budget_tokens);
            Some(Next::Compact { why })
        }
        None => None,
    }
}

/// A warning comes before a stop, however the detector's rules take turns.
fn circles(state: &SessionState, turn: &TurnState) -> Option<Next> {
    let Stuck { rule, stop, note } = detect(state.steps.iter().map(StepText::record).collect::<Vec<_>>().iter())?;
    if !turn.warned.iter().any(|warned| warned == rule) {
        return Some(Next::Warn { rule, note });
    }
    stop.then_some(Next::End { outcome: TurnOutcome::Stuck, note })
}

/// What the permissions say of a call, where nobody has decided on it yet.
enum Leave {
    Given(Option<String>),
    Ask(String),
    Denied { by: String, content: String },
}

/// Calls that only look run at once, as far as they stand together; one that may change something runs alone, in its
/// place. A call that was begun by a process that is gone is run again if it only looks, and settled otherwise.
fn calls(state: &SessionState, outlook: &Outlook<'_>) -> Next {
    // A call that is made of others is over when these are.
    let is_open = |call: &&OpenCall| {
        call.progress != CallProgress::Done && state.parted_call(&call.id).is_none_or(PartedCall::is_complete)
    };
    let open: Vec<&OpenCall> = state.calls.iter().filter(is_open).collect();
    let Some(first) = open.first().copied() else { return Next::Idle };
    if state.parted_call(&first.id).is_some() {
        return Next::EndParts(first.id.clone());
    }
    if first.progress == CallProgress::Begun(ToolEffect::Writes) {
        return Next::SettleCall(first.clone());
    }
    let mut together = Vec::new();
    let is_one = |call: &&OpenCall| only_looks(call) && !waits_for_user(call, outlook) && !tools::is_batch(&call.tool);
    for call in open.iter().copied().take_while(is_one) {
        match leave(state, call, outlook) {
            Leave::Given(by) => together.push((call.clone(), by)),
            Leave::Ask(_) | Leave::Denied { .. } => break,
        }
    }
    if together.is_empty() { alone(state, first, outlook) } else { Next::Run(together) }
}

fn alone(state: &SessionState, call: &OpenCall, outlook: &Outlook<'_>) -> Next {
    match leave(state, call, outlook) {
        Leave::Denied { by, content } => Next::Deny { call: call.id.clone(), by, content },
        Leave::Ask(_) if call.approval == CallApproval::Asked => Next::AwaitWord,
        Leave::Ask(why) => Next::AskApproval { call: call.clone(), why },
        Leave::Given(_) if waits_for_user(call, outlook) => match call.progress {
            CallProgress::Begun(_) => Next::AwaitWord,
            CallProgress::Asked | CallProgress::Done => Next::AskQuestion(call.clone()),
        },
        Leave::Given(by) if call.progress == CallProgress::Asked && may_be_parted(call) => Next::Part(call.clone(), by),
        Leave::Given(by) => Next::Run(vec![(call.clone(), by)]),
    }
}

fn leave(state: &SessionState, call: &OpenCall, outlook: &Outlook<'_>) -> Leave {
    if call.approval == CallApproval::Given || call.progress != CallProgress::Asked {
        return Leave::Given(None);
    }
    // A rule that forbids comes first: what is denied is told as denied. Nobody is asked about what cannot work.
    let effect = tools::effect_of(&call.tool);
    let asked = Asked { tool: &call.tool, input: &call.input, effect, session_rules: &state.rules };
    match outlook.permissions.decide(&asked) {
        Verdict::Allow { by } => Leave::Given(by),
        Verdict::Deny { by, content } => Leave::Denied { by, content },
        Verdict::Ask { .. } if tools::cannot_work(&call.tool, &call.input) => Leave::Given(None),
        Verdict::Ask { why } if outlook.attended => Leave::Ask(why),
        Verdict::Ask { why } => Leave::Denied {
            by: NOBODY.to_owned(),
            content: format!(
                "Not carried out: a person has to allow this call ({why}), and nobody can be asked in this run. Find \
another way, or say at the end what you would need."
            ),
        },
    }
}

fn may_be_parted(call: &OpenCall) -> bool {
    tools::is_batch(&call.tool) && !tools::cannot_work(&call.tool, &call.input)
}

fn waits_for_user(call: &OpenCall, outlook: &Outlook<'_>) -> bool {
    outlook.attended && tools::waits_for_user(&call.tool) && !tools::cannot_work(&call.tool, &call.input)
}

fn only_looks(call: &OpenCall) -> bool {
    match call.progress {
        CallProgress::Begun(effect) => effect == ToolEffect::ReadOnly,
        CallProgress::Asked => tools::effect_of(&call.tool) == ToolEffect::ReadOnly,
        CallProgress::Done => false,
    }
}

fn answered(state: &SessionState, turn: &TurnState, stop_reason: &str, outlook: &Outlook<'_>) -> Next {
    let end = |outcome, note: &str| Next::End { outcome, note: note.to_owned() };
    if let Some(why) = recovery_of_answer(turn, stop_reason) {
        return Next::BeginEpoch { why };
    }
    match stop_reason {
        "end_turn" | "stop_sequence" | "tool_use" => end(TurnOutcome::Completed, "done"),
        "max_tokens" => end(TurnOutcome::AnswerTooLong, "the answer was cut at its token limit"),
        // The API asks for the same turn to be sent back so that it can go on.
        "pause_turn" => ask(state, turn, Timestamp(0), outlook),
        other => match broke_off(other) {
            Some((outcome, note)) => end(outcome, note),
            None => end(
                TurnOutcome::Completed,
                &format!("the model stopped for a reason this version does not know: {other}"),
            ),
        },
    }
}

/// How a turn ends whose answer stopped for a reason after which nothing of it may be carried out, calls included.
pub(super) fn broke_off(stop_reason: &str) -> Option<(TurnOutcome, &'static str)> {
    match stop_reason {
        "refusal" => Some((TurnOutcome::Refused, "the model declined to answer")),
        "model_context_window_exceeded" => Some((TurnOutcome::ContextFull, "the model's context window is full")),
        _ => None,
    }
}

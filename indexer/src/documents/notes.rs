//! Events that are neither prompt nor answer nor call, in words: how turns ended, what failed, what was planned, allowed and
//! stopped. Kinds with nothing to say, and those that repeat another event, are none.

use super::unit::Unit;
use retrace_events::payload::session::PlanStatus;
use retrace_events::payload::tool::ToolExit;
use retrace_events::payload::turn::{TurnEnded, TurnFailed, TurnFailure, TurnOutcome};
use retrace_events::payload::{Context, Sandbox, Session};

/// How the holder of a session notes in it that somebody gave a name to an event.
const TAGGED: &str = "tagged `";

/// What an event of a session's life says. A title is the beginning of the first prompt, as a rule, and says nothing new.
pub(super) fn session_unit(event: &Session) -> Option<Unit> {
    match event {
        Session::Configured(configured) if !configured.why.is_empty() => {
            Some(Unit::note(format!("settings changed: {}", configured.why)))
        }
        Session::Closed(closed) => Some(Unit::note(format!("session closed: {}", closed.why))),
        Session::RuleAdded(added) => {
            Some(Unit::note(format!("allowed for this session: {} (by {})", added.rule, added.by)))
        }
        Session::Planned(planned) => {
            let items = planned.items.iter().map(|item| format!("{}: {}", status(item.status), item.text));
            let text = items.collect::<Vec<_>>().join("\n");
            (!text.is_empty()).then(|| Unit::note(format!("plan\n{text}")))
        }
        Session::ControlHandled(handled) if handled.accepted && handled.note.starts_with(TAGGED) => {
            Some(Unit::note(handled.note.clone()))
        }
        Session::Imported(imported) => {
            Some(Unit::note(format!("imported from {}, session {}", imported.source, imported.source_session)))
        }
        Session::Started(_) | Session::Forked(_) | Session::Configured(_) | Session::ControlHandled(_) => None,
    }
}

/// What was noticed about a sandbox.
pub(super) fn sandbox_unit(event: &Sandbox) -> Option<Unit> {
    match event {
        Sandbox::LimitHit(hit) => Some(Unit::failure(format!("limit hit: {}: {}", hit.limit, hit.detail))),
        Sandbox::NetworkAttempted(attempt) if attempt.allowed => {
            Some(Unit::note(format!("network: reached {}", attempt.destination)))
        }
        Sandbox::NetworkAttempted(attempt) => {
            Some(Unit::failure(format!("network: {} refused by policy", attempt.destination)))
        }
        Sandbox::Connection(used) if used.allowed => {
            Some(Unit::note(format!("network: reached {}:{}", used.host, used.port)))
        }
        Sandbox::Connection(used) => {
            Some(Unit::failure(format!("network: {}:{} refused: {}", used.host, used.port, used.why)))
        }
        Sandbox::Stopped(stopped) if stopped.unexpected => {
            Some(Unit::failure(format!("the sandbox is gone: {}", stopped.why)))
        }
        Sandbox::Stopped(_) | Sandbox::Started(_) => None,
    }
}

/// What goes into requests stands elsewhere already, but for the name of an image that came with a prompt, and for a summary
/// that took the place of the conversation.
pub(super) fn context_unit(event: &Context) -> Option<Unit> {
    match event {
        Context::ImageAttached(image) if image.call.is_none() => {
            Some(Unit::note(format!("image {} ({})", image.name, image.media_type)))
        }
        Context::Compacted(compacted) => {
            Some(Unit::note(format!("conversation summed up by {}\n{}", compacted.by, compacted.summary)))
        }
        Context::ImageAttached(_)
        | Context::EpochStarted(_)
        | Context::Retrieved(_)
        | Context::CompactionRequested(_)
        | Context::CompactionAnswered(_)
        | Context::CompactionFailed(_) => None,
    }
}

/// A failed attempt at a request.
pub(super) fn failed_unit(failed: &TurnFailed) -> Unit {
    let status = failed.status.map_or_else(String::new, |status| format!(" (HTTP {status})"));
    Unit::failure(format!("request failed: {}{status}: {}", failure(failed.failure), failed.message))
}

/// The end of a turn; that it did what it should is nothing to note.
pub(super) fn ended_unit(ended: &TurnEnded) -> Option<Unit> {
    let completed = ended.outcome == TurnOutcome::Completed;
    if completed && ended.note.trim().is_empty() {
        return None;
    }
    let text = format!("turn ended: {}: {}", outcome(ended.outcome), ended.note);
    Some(Unit { is_error: !completed, ..Unit::note(text) })
}

/// An exit as a shell would say it.
pub(super) fn exit_code(exit: ToolExit) -> Option<i64> {
    match exit {
        ToolExit { timed_out: true, .. } => Some(124),
        ToolExit { code: Some(code), .. } => Some(code.into()),
        ToolExit { signal: Some(signal), .. } => Some(128 + i64::from(signal)),
        ToolExit { code: None, signal: None, .. } => None,
    }
}

const fn status(status: PlanStatus) -> &'static str {
    match status {
        PlanStatus::Pending => "to do",
        PlanStatus::InProgress => "in progress",
        PlanStatus::Done => "done",
    }
}

const fn outcome(outcome: TurnOutcome) -> &'static str {
    match outcome {
        TurnOutcome::Completed => "completed",
        TurnOutcome::Refused => "refused",
        TurnOutcome::AnswerTooLong => "answer too long",
        TurnOutcome::ContextFull => "context full",
        TurnOutcome::BudgetReached => "budget reached",
        TurnOutcome::RequestFailed => "request failed",
        TurnOutcome::RuntimeFailed => "runtime failed",
        TurnOutcome::Stuck => "stuck: it went round in circles",
    }
}

const fn failure(failure: TurnFailure) -> &'static str {
    match failure {
        TurnFailure::RateLimited => "rate limited",
        TurnFailure::Overloaded => "overloaded",
        TurnFailure::Server => "server error",
        TurnFailure::Timeout => "timeout",
        TurnFailure::Connection => "no connection",
        TurnFailure::Stream => "error in mid-stream",
        TurnFailure::Unfinished => "unfinished stream",
        TurnFailure::InvalidRequest => "invalid request",
        TurnFailure::Authentication => "authentication",
        TurnFailure::Permission => "permission",
        TurnFailure::NotFound => "not found",
        TurnFailure::TooLarge => "too large",
        TurnFailure::Cancelled => "cancelled",
        TurnFailure::Lost => "lost: retrace ended while waiting",
    }
}

//! What becomes of the errors of the other rooms.

use crate::agent::AgentError;
use crate::cli::{CliError, Exit};
use crate::replaying::ReplayError;
use retrace_events::log::LogError;
use retrace_events::payload::turn::{TurnFailure, TurnOutcome};
use retrace_events::testing::example_stream;
use retrace_sandbox::SandboxError;
use std::collections::BTreeSet;

#[test]
fn codes_are_what_the_help_says_and_no_two_alike() {
    let codes: Vec<u8> = Exit::ALL.iter().map(|(exit, _)| exit.code()).collect();
    assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 130]);
    assert_eq!(codes.iter().collect::<BTreeSet<_>>().len(), codes.len());
}

#[test]
fn outcomes() {
    let cases = [
        (TurnOutcome::Completed, 0),
        (TurnOutcome::Refused, 3),
        (TurnOutcome::AnswerTooLong, 4),
        (TurnOutcome::ContextFull, 4),
        (TurnOutcome::BudgetReached, 4),
        (TurnOutcome::RequestFailed, 5),
        (TurnOutcome::RuntimeFailed, 1),
    ];
    for (outcome, code) in cases {
        assert_eq!(Exit::of_outcome(outcome).code(), code, "{outcome:?}");
    }
}

fn log_errors() -> Vec<LogError> {
    let (location, why, what) = ("here".to_owned(), "so".to_owned(), "it".to_owned());
    vec![
        LogError::Fenced { stream: example_stream("s"), tried: 1, actual_next: 2 },
        LogError::Damaged { stream: "s".to_owned(), seq: 4, what: what.clone() },
        LogError::DamagedStore { location: location.clone(), what: what.clone() },
        LogError::Newer { what },
        LogError::NoParent { session: "s".to_owned(), parent: "p".to_owned() },
        LogError::Full { location: location.clone(), why: why.clone() },
        LogError::Unavailable { location: location.clone(), why: why.clone() },
        LogError::Unfit { location, why: format!("{why}\nhint: do this") },
    ]
}

#[test]
fn log_errors_are_six_and_say_what_to_do() {
    for error in log_errors() {
        let words = error.to_string();
        let error = CliError::from(error);
        assert_eq!(error.exit, Exit::Log, "{words}");
        assert!(error.hint.is_some(), "{words}");
        assert!(!error.message.contains('\n') && words.starts_with(&error.message), "{words}");
    }
    for error in log_errors() {
        assert_eq!(CliError::from(AgentError::Log(error)).exit, Exit::Log);
    }
    for error in log_errors() {
        assert_eq!(CliError::from(ReplayError::Log(error)).exit, Exit::Log);
    }
}

#[test]
fn other_errors() {
    let stream = || example_stream("s");
    let cases = [
        (CliError::from(AgentError::NoSuchSession(stream())), Exit::NotFound),
        (CliError::from(ReplayError::NoSuchSession(stream())), Exit::NotFound),
        (CliError::from(AgentError::Newer { stream: stream(), what: "x".to_owned() }), Exit::Log),
        (CliError::from(AgentError::Closed(stream())), Exit::Usage),
        (CliError::from(AgentError::EmptyPrompt), Exit::Usage),
        (CliError::from(AgentError::Workspace { path: "/x".into(), why: "y".to_owned() }), Exit::Usage),
        (CliError::from(AgentError::Sandbox(SandboxError::BubblewrapMissing)), Exit::Sandbox),
        (CliError::from(SandboxError::RuntimeIgnored { kernel: "6.1".to_owned() }), Exit::Sandbox),
    ];
    for (error, exit) in cases {
        assert_eq!(error.exit, exit, "{error:?}");
    }
}

#[test]
fn hints_stand_on_a_line_of_their_own() {
    let error = CliError::new(Exit::Failed, "this\nhint: do that");
    assert_eq!(error.lines(), "error: this\nhint: do that\n");
    let hostile = CliError::new(Exit::Failed, "a\u{1b}[2J\nb\u{202e}").hint("c\nd");
    assert_eq!(hostile.lines(), "error: a␛[2J⏎b\nhint: c⏎d\n");
}

#[test]
fn every_failure_the_user_can_do_something_about_has_a_hint() {
    use crate::cli::exit::failure_hint;
    let all = [
        TurnFailure::RateLimited,
        TurnFailure::Overloaded,
        TurnFailure::Server,
        TurnFailure::Timeout,
        TurnFailure::Connection,
        TurnFailure::Stream,
        TurnFailure::Unfinished,
        TurnFailure::InvalidRequest,
        TurnFailure::Authentication,
        TurnFailure::Permission,
        TurnFailure::NotFound,
        TurnFailure::TooLarge,
        TurnFailure::Lost,
    ];
    assert!(all.iter().all(|failure| failure_hint(*failure).is_some()));
    assert_eq!(failure_hint(TurnFailure::Cancelled), None);
}

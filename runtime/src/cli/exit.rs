//! Exit codes, and errors as people and programs see them: one line that says what and where, and a hint.

use super::render::clean;
use crate::agent::AgentError;
use crate::claude::ClientError;
use crate::config::{ConfigError, LoggedError};
use crate::replaying::ReplayError;
use crate::travelling::ShareError;
use retrace_events::LogError;
use retrace_events::payload::turn::{TurnFailure, TurnOutcome};
use retrace_sandbox::SandboxError;
use retrace_sandbox::snapshot::SnapshotError;
use serde_json::{Value, json};

/// How a command ends. The numbers are documented in `retrace --help` and never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// What was asked is done.
    Done,
    /// It is not done, or a check found something.
    Failed,
    /// The command line or the configuration is wrong, or the key is missing.
    Usage,
    /// The model refused.
    Refused,
    /// A budget, the context window or the answer's limit is used up.
    Budget,
    /// The API did not answer, or not to this key.
    Request,
    /// The log cannot be used: unreachable, full, damaged, written by somebody else.
    Log,
    /// There is no sandbox as asked for.
    Sandbox,
    /// There is no such session or event.
    NotFound,
    /// A snapshot cannot be used, or the folder it is for was changed since.
    Snapshot,
    /// Somebody stopped it.
    Interrupted,
}

impl Exit {
    /// All of them, with what `--help` says.
    pub const ALL: [(Self, &'static str); 11] = [
        (Self::Done, "done"),
        (Self::Failed, "failed, or a check found something"),
        (Self::Usage, "wrong command line or configuration, or no API key"),
        (Self::Refused, "the model refused"),
        (Self::Budget, "a budget or limit of the session was reached"),
        (Self::Request, "the API did not answer, or rejected the request or the key"),
        (Self::Log, "the event log cannot be used"),
        (Self::Sandbox, "no sandbox as asked for"),
        (Self::NotFound, "no such session or event"),
        (Self::Snapshot, "a snapshot of the workspace cannot be used, or the folder was changed since"),
        (Self::Interrupted, "interrupted"),
    ];

    /// The process's exit code.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Budget => 4,
            Self::Request => 5,
            Self::Log => 6,
            Self::Sandbox => 7,
            Self::NotFound => 8,
            Self::Snapshot => 9,
            Self::Interrupted => 130,
        }
    }

    /// For a turn that ended by itself.
    #[must_use]
    pub const fn of_outcome(outcome: TurnOutcome) -> Self {
        match outcome {
            TurnOutcome::Completed => Self::Done,
            TurnOutcome::Refused => Self::Refused,
            TurnOutcome::AnswerTooLong | TurnOutcome::ContextFull | TurnOutcome::BudgetReached | TurnOutcome::Stuck => {
                Self::Budget
            }
            TurnOutcome::RequestFailed => Self::Request,
            TurnOutcome::RuntimeFailed => Self::Failed,
        }
    }
}

/// What to do about a request that failed, when the user can do something.
#[must_use]
pub(crate) fn failure_hint(failure: TurnFailure) -> Option<&'static str> {
    match failure {
        TurnFailure::Authentication | TurnFailure::Permission => {
            Some("check the key: `retrace config show` says where it came from, `retrace doctor` tries it")
        }
        TurnFailure::NotFound => Some("check the model's name (--model) and the base URL"),
        TurnFailure::RateLimited | TurnFailure::Overloaded | TurnFailure::Server | TurnFailure::Timeout => {
            Some("nothing is lost: go on later with `retrace resume --last \"go on\"`")
        }
        TurnFailure::Connection | TurnFailure::Stream | TurnFailure::Unfinished | TurnFailure::Lost => {
            Some("nothing is lost: check the network and the base URL, then `retrace resume --last \"go on\"`")
        }
        TurnFailure::InvalidRequest | TurnFailure::TooLarge => Some("`retrace show` has the API's words"),
        TurnFailure::Cancelled => None,
    }
}

/// Why a command did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliError {
    /// The exit code.
    pub exit: Exit,
    /// What and where, in one line.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Nothing is printed: whoever read the output went away.
    pub quiet: bool,
}

impl CliError {
    /// An error without a hint. Messages of this project carry their hint behind a line break; it is taken off here.
    #[must_use]
    pub fn new(exit: Exit, message: impl AsRef<str>) -> Self {
        let message = message.as_ref();
        let (what, hint) = message.split_once("\nhint: ").map_or((message, None), |(what, hint)| (what, Some(hint)));
        Self { exit, message: clean::line(what), hint: hint.map(clean::line), quiet: false }
    }

    /// This error with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl AsRef<str>) -> Self {
        self.hint = Some(clean::line(hint.as_ref()));
        self
    }

    /// The reader of the output went away, as `head` does when it has enough.
    #[must_use]
    pub const fn reader_gone() -> Self {
        Self { exit: Exit::Done, message: String::new(), hint: None, quiet: true }
    }

    /// The lines for people.
    #[must_use]
    pub fn lines(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!("hint: {hint}\n")).unwrap_or_default();
        format!("error: {}\n{hint}", self.message)
    }

    /// The object for programs.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({ "error": { "message": self.message, "hint": self.hint, "exit_code": self.exit.code() } })
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        let plain = Self::new(Exit::Usage, error.to_string());
        match error.hint() {
            Some(hint) => plain.hint(hint),
            None => plain,
        }
    }
}

impl From<LoggedError> for CliError {
    fn from(error: LoggedError) -> Self {
        Self::new(Exit::Usage, error.to_string()).hint(error.hint())
    }
}

impl From<ClientError> for CliError {
    fn from(error: ClientError) -> Self {
        Self::new(Exit::Usage, error.to_string())
    }
}

impl From<LogError> for CliError {
    fn from(error: LogError) -> Self {
        let plain = Self::new(Exit::Log, error.to_string());
        if plain.hint.is_some() {
            return plain;
        }
        match error {
            LogError::Fenced { .. } => plain.hint("another process runs this session; wait for it, or stop it"),
            LogError::Damaged { .. } | LogError::DamagedStore { .. } => {
                plain.hint("`retrace log verify` says what is sound; restore the rest from a copy")
            }
            LogError::NoParent { parent, .. } => plain.hint(format!(
                "bring session {parent} here too: `retrace export` it where it is, and `retrace import`"
            )),
            LogError::Newer { .. } => plain.hint("use the newer version of retrace"),
            LogError::Deleted { .. } => {
                plain.hint("an export of it, where there is one, brings it back: `retrace import`")
            }
            LogError::Full { .. } => plain.hint("make space, then `retrace resume`: nothing is lost"),
            LogError::Unavailable { .. } => plain.hint("`retrace doctor` looks closer; `--log` names another log"),
            LogError::Unfit { .. } | LogError::NoSuchBlob(_) | LogError::InvalidBatch(_) | LogError::Codec(_) => plain,
        }
    }
}

impl From<SandboxError> for CliError {
    fn from(error: SandboxError) -> Self {
        let plain = Self::new(Exit::Sandbox, error.to_string());
        if plain.hint.is_some() { plain } else { plain.hint("`retrace doctor` shows what this machine can do") }
    }
}

impl From<ShareError> for CliError {
    fn from(error: ShareError) -> Self {
        match error {
            ShareError::Log(error) => error.into(),
            ShareError::Store(error) => error.into(),
            ShareError::Missing { .. } | ShareError::Damaged { .. } => Self::new(Exit::Snapshot, error.to_string()),
            ShareError::Io { .. } => Self::new(Exit::Failed, error.to_string()),
        }
    }
}

impl From<SnapshotError> for CliError {
    fn from(error: SnapshotError) -> Self {
        Self::new(if error.is_no_space() { Exit::Failed } else { Exit::Snapshot }, error.to_string())
    }
}

impl From<AgentError> for CliError {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::Log(error) => error.into(),
            AgentError::Sandbox(error) => error.into(),
            AgentError::Held { .. } => Self::new(Exit::Log, error.to_string()).hint(
                "`retrace show --follow` watches it, `retrace send` says something to it; it is free when that process ends",
            ),
            AgentError::Snapshot(error) => error.into(),
            AgentError::Share(error) => error.into(),
            AgentError::NoSuchSession(_) => Self::new(Exit::NotFound, error.to_string()),
            AgentError::Newer { .. } => {
                Self::new(Exit::Log, error.to_string()).hint("use the newer version of retrace")
            }
            AgentError::Workspace { .. }
            | AgentError::EmptyPrompt
            | AgentError::Images(_)
            | AgentError::Closed(_) => {
                Self::new(Exit::Usage, error.to_string())
            }
            AgentError::Render(_) | AgentError::Epoch(_) => Self::new(Exit::Failed, error.to_string()),
        }
    }
}

impl From<ReplayError> for CliError {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::Log(error) => error.into(),
            ReplayError::NoSuchSession(_) => Self::new(Exit::NotFound, error.to_string()),
            ReplayError::Render { .. } => Self::new(Exit::Failed, error.to_string()),
        }
    }
}

//! Values that are a choice: the sandbox, approvals, thinking, effort, summaries, the place of the log.

use super::raw::{Misfit, Raw};
use crate::claude::ModelRow;
use crate::permissions::ApprovalMode;
use retrace_events::log::LogLocation;
use retrace_sandbox::SandboxChoice;
use std::fmt;
use std::path::Path;

/// The sandbox that `raw` asks for, given what holds so far: `true` (as in `USE_SANDBOX=true`) wants some sandbox and
/// never weakens one.
pub(super) fn sandbox(raw: &Raw, so_far: SandboxChoice) -> Result<SandboxChoice, Misfit> {
    if let Raw::Text(text) = raw
        && let Ok(choice) = text.trim().parse()
    {
        return Ok(choice);
    }
    match raw.switch() {
        Ok(false) => Ok(SandboxChoice::None),
        Ok(true) if so_far == SandboxChoice::None => Ok(SandboxChoice::Auto),
        Ok(true) => Ok(so_far),
        Err(_) => Err("must be one of auto, krun, container, process, none".to_owned()),
    }
}

/// Whether `one` is at least as strict as `other` whatever the machine turns out to prove. `auto` may end up as weak as
/// `process` and as strong as `krun`.
pub(super) fn surely_as_strict(one: SandboxChoice, other: SandboxChoice) -> bool {
    use SandboxChoice::{Auto, Container, Krun, None, Process};
    match (one, other) {
        (_, None) | (Krun, _) | (Auto, Auto) | (Container, Container) => true,
        (Auto | Container | Process, Process) => true,
        (None | Process | Auto | Container, _) => false,
    }
}

/// When a person is asked.
pub(super) fn approvals(raw: &Raw) -> Result<ApprovalMode, Misfit> {
    match raw {
        Raw::Text(text) => text.parse().map_err(|why: crate::permissions::UnknownMode| why.to_string()),
        Raw::Integer(_) | Raw::Decimal(_) | Raw::Bool(_) | Raw::List(_) => Err("must be auto, ask or allow".to_owned()),
    }
}

/// The API's words for effort.
const EFFORTS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];

/// How much effort is asked for.
pub(super) fn effort(raw: &Raw) -> Result<String, Misfit> {
    match raw {
        Raw::Text(text) if EFFORTS.contains(&text.trim()) => Ok(text.trim().to_owned()),
        _ => Err(format!("must be one of {}", EFFORTS.join(", "))),
    }
}

/// Whether and how the model thinks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThinkingChoice {
    /// As the model's row of the table says.
    Auto,
    /// Not at all, where the model lets itself be told.
    Off,
    /// As much as the model thinks fit.
    Adaptive,
    /// A fixed number of tokens.
    Budget(u32),
}

impl ThinkingChoice {
    pub(super) fn parse(raw: &Raw) -> Result<Self, Misfit> {
        let misfit = || "must be auto, off, adaptive, or a number of tokens from 1024 on".to_owned();
        if let Raw::Text(text) = raw {
            match text.trim() {
                "auto" => return Ok(Self::Auto),
                "off" => return Ok(Self::Off),
                "adaptive" => return Ok(Self::Adaptive),
                _ => {}
            }
        }
        match raw.number::<u32>() {
            Ok(tokens) if tokens >= 1_024 => Ok(Self::Budget(tokens)),
            _ => Err(misfit()),
        }
    }

    /// The request's `thinking` field, as raw JSON; `None` leaves it out.
    #[must_use]
    pub fn field(&self, row: &ModelRow, max_tokens: u32) -> Option<String> {
        match self {
            Self::Auto => row.thinking_field(u64::from(max_tokens)).map(|field| field.to_string()),
            // Models that cannot be told to be silent answer 400 to the field.
            Self::Off => {
                let accepted = row.thinking.accepts.contains(&crate::claude::ThinkingType::Disabled);
                accepted.then(|| r#"{"type":"disabled"}"#.to_owned())
            }
            Self::Adaptive => Some(r#"{"type":"adaptive","display":"summarized"}"#.to_owned()),
            Self::Budget(tokens) => Some(format!(r#"{{"type":"enabled","budget_tokens":{tokens}}}"#)),
        }
    }
}

impl fmt::Display for ThinkingChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Off => f.write_str("off"),
            Self::Adaptive => f.write_str("adaptive"),
            Self::Budget(tokens) => write!(f, "{tokens}"),
        }
    }
}

/// Who sums the older part of a conversation up when the context begins afresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionChoice {
    /// retrace itself, out of the session's events.
    Off,
    /// The API, where the model has it. That is one more request.
    Api,
}

impl CompactionChoice {
    pub(super) fn parse(raw: &Raw) -> Result<Self, Misfit> {
        match raw {
            Raw::Text(text) if text.trim() == "off" => Ok(Self::Off),
            Raw::Text(text) if text.trim() == "api" => Ok(Self::Api),
            _ => Err("must be off or api".to_owned()),
        }
    }
}

impl fmt::Display for CompactionChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Api => "api",
        })
    }
}

/// Whether snapshots of the workspace are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotChoice {
    /// None: forks of such sessions have no files of their own.
    Off,
    /// Before a turn's first call that may write, and after each; without what `.gitignore` names.
    On,
    /// As `On`, with what `.gitignore` names, as far as it is small.
    WithIgnored,
}

impl SnapshotChoice {
    pub(super) fn parse(raw: &Raw) -> Result<Self, Misfit> {
        match raw {
            Raw::Text(text) if text.trim() == "off" => Ok(Self::Off),
            Raw::Text(text) if text.trim() == "on" => Ok(Self::On),
            Raw::Text(text) if text.trim() == "with-ignored" => Ok(Self::WithIgnored),
            _ => Err("must be on, off or with-ignored".to_owned()),
        }
    }
}

impl fmt::Display for SnapshotChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::On => "on",
            Self::WithIgnored => "with-ignored",
        })
    }
}

/// Who writes the summaries of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryChoice {
    /// Nobody: they are picked out of the events.
    Extractive,
    /// A model, for the upper levels. That costs money.
    Claude,
}

impl SummaryChoice {
    pub(super) fn parse(raw: &Raw) -> Result<Self, Misfit> {
        match raw {
            Raw::Text(text) if text.trim() == "extractive" => Ok(Self::Extractive),
            Raw::Text(text) if text.trim() == "claude" => Ok(Self::Claude),
            _ => Err("must be extractive or claude".to_owned()),
        }
    }
}

impl fmt::Display for SummaryChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Extractive => "extractive",
            Self::Claude => "claude",
        })
    }
}

/// Where the event log is, as it was asked for. Shown without the password an address may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogChoice {
    /// In the user's state folder.
    Embedded,
    /// In another folder, or on a NATS server.
    At(LogLocation),
}

impl LogChoice {
    pub(super) fn parse(raw: &Raw, base: &Path) -> Result<Self, Misfit> {
        let text = raw.line(4_096)?;
        if text == "embedded" {
            return Ok(Self::Embedded);
        }
        match text.parse() {
            Ok(LogLocation::Embedded(_)) => raw.path(base).map(|folder| Self::At(LogLocation::Embedded(folder))),
            Ok(server @ LogLocation::Nats(_)) => Ok(Self::At(server)),
            // The reason is dropped with the text, which may hold a password.
            Err(_) => Err("must be `embedded`, a folder, or an address like nats://host:4222".to_owned()),
        }
    }
}

impl fmt::Display for LogChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => f.write_str("embedded"),
            Self::At(location) => location.fmt(f),
        }
    }
}

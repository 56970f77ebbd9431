//! [`AuditRow`]: one line of the record, with all that belongs to it.

use retrace_events::payload::sandbox::{SandboxConnection, SandboxNetworkAttempted, SandboxStarted, SandboxStopped};
use retrace_events::payload::tool::ToolExit;
use retrace_events::{CallId, EventId, StreamId, Timestamp};

/// One line of the record.
#[derive(Debug, Clone)]
pub(crate) struct AuditRow {
    /// The event that says so first, by its stream and number.
    pub(crate) event: (StreamId, u64),
    /// Its place in the history.
    pub(crate) place: u64,
    /// When.
    pub(crate) at: Timestamp,
    /// What.
    pub(crate) kind: RowKind,
}

/// What a line is about.
#[derive(Debug, Clone)]
pub(crate) enum RowKind {
    /// A call.
    Call(Box<AuditedCall>),
    /// A sandbox was started.
    Started(SandboxStarted),
    /// It is gone.
    Stopped(SandboxStopped),
    /// Files were changed, and by no call.
    ByHand(FilesBehind),
    /// A connection of which nobody says which call it belongs to.
    Network(NetworkUse),
    /// A limit that was hit outside of any call.
    Limit(String, String),
}

/// A call and what came of it.
#[derive(Debug, Clone)]
pub(crate) struct AuditedCall {
    /// The model's id of it, or that of a part.
    pub(crate) call: CallId,
    /// The call it is a part of.
    pub(crate) part_of: Option<CallId>,
    /// The tool; empty when nobody knows.
    pub(crate) tool: String,
    /// Its input as raw JSON.
    pub(crate) input: String,
    /// Whether it is made of others, which stand for themselves.
    pub(crate) is_whole: bool,
    /// Who allowed it, where that was worth a word.
    pub(crate) allowed_by: Vec<String>,
    /// Files it used, by their names in its input and result.
    pub(crate) files: Vec<(FileHow, String)>,
    /// What the snapshots around it say of the files.
    pub(crate) behind: FilesBehind,
    /// How it ended.
    pub(crate) end: AuditEnd,
    /// The result that was repeated in place of carrying it out.
    pub(crate) repeats: Option<EventId>,
    /// What it wanted and did not get: the kind, and in words.
    pub(crate) refused: Vec<(String, String)>,
    /// Limits that it hit: the limit, and in words.
    pub(crate) limits: Vec<(String, String)>,
    /// Connections.
    pub(crate) network: Vec<NetworkUse>,
}

/// What a call did with a file through its tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FileHow {
    /// Its contents were shown.
    Read,
    /// It was written.
    Written,
    /// A folder was listed.
    Listed,
    /// A file or folder was searched.
    Searched,
}

impl FileHow {
    /// In one word.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Written => "written",
            Self::Listed => "listed",
            Self::Searched => "searched",
        }
    }
}

/// What the log says of the workspace's files behind a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FilesBehind {
    /// The call only looks, or was not carried out.
    Untouched,
    /// They are what they were.
    Same,
    /// From one tree of the store to another.
    Changed {
        /// The tree before; `None` when it is not known.
        before: Option<String>,
        /// The tree behind it.
        after: String,
    },
    /// No snapshot says.
    Unknown(String),
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AuditEnd {
    /// It has no result.
    Open,
    /// It was carried out.
    Finished {
        /// Whether the model was told that it failed.
        failed: bool,
        /// How the command ended, when there was one.
        exit: Option<ToolExit>,
        /// In milliseconds.
        duration_ms: u64,
    },
    /// It was not carried out.
    Denied {
        /// Who said so.
        by: String,
        /// What the model was told.
        why: String,
    },
    /// Nobody knows.
    Unknown(String),
}

/// A connection, or an attempt at one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NetworkUse {
    /// Through the proxy.
    Connection(SandboxConnection),
    /// Seen by the sandbox.
    Attempt(SandboxNetworkAttempted),
}

impl NetworkUse {
    /// Whether it was let through.
    pub(crate) const fn allowed(&self) -> bool {
        match self {
            Self::Connection(connection) => connection.allowed,
            Self::Attempt(attempt) => attempt.allowed,
        }
    }

    /// Host and port.
    pub(crate) fn destination(&self) -> String {
        match self {
            Self::Connection(connection) => format!("{}:{}", connection.host, connection.port),
            Self::Attempt(attempt) => attempt.destination.clone(),
        }
    }
}

impl AuditedCall {
    /// Whether something of it was not let through.
    pub(crate) fn was_refused(&self) -> bool {
        matches!(self.end, AuditEnd::Denied { .. })
            || !self.refused.is_empty()
            || !self.limits.is_empty()
            || self.network.iter().any(|network| !network.allowed())
    }

    /// The command, of a call that runs one.
    pub(crate) fn command(&self) -> Option<String> {
        let input: serde_json::Value = serde_json::from_str(&self.input).ok()?;
        (self.tool == "bash").then(|| input["command"].as_str().map(str::to_owned)).flatten()
    }
}

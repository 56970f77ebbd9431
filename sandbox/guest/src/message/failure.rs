//! How the guest says that a request failed: a kind for programs and a line for people.

use serde::{Deserialize, Serialize};

/// The kinds of failure that callers tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The request itself makes no sense (bad pattern, bad glob, id used twice, …).
    BadRequest,
    /// The path leads out of the workspace.
    OutsideWorkspace,
    /// There is nothing at that path.
    NotFound,
    /// The path is not a regular file (a folder, fifo, socket or device).
    NotAFile,
    /// The path is not a folder.
    NotADirectory,
    /// The operating system forbids it.
    Denied,
    /// More data than a request may carry.
    TooLarge,
    /// The disk or the quota is full.
    NoSpace,
    /// Too many requests or processes at once.
    Busy,
    /// The command could not be started.
    SpawnFailed,
    /// The host ended the request.
    Cancelled,
    /// Anything else the operating system reports.
    Io,
}

/// A failed request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// For programs.
    pub kind: FailureKind,
    /// For people: what and where, in one line.
    pub message: String,
}

impl Failure {
    /// A failure with its line.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

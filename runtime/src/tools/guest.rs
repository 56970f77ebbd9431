//! The tools' side of the sandbox: requests to its guest agent, and what their failures mean to a call.
//!
//! A refusal (no such file, leads out of the workspace) is told to the model; a guest that is gone ends the call.

use super::output::visible;
use super::{ToolContext, ToolFailure, ToolResult};
use retrace_sandbox::{Failure, FailureKind, SandboxError};

/// Why a request came to nothing.
#[derive(Debug)]
pub(super) enum GuestError {
    /// The guest said no, and why: for the model.
    Refused(Failure),
    /// The call cannot go on.
    Failed(ToolFailure),
}

impl GuestError {
    /// What it means for the whole call.
    pub(super) fn settled(self) -> Result<ToolResult, ToolFailure> {
        match self {
            Self::Refused(failure) => {
                let refused = refusal(&failure);
                Ok(ToolResult { refused, ..ToolResult::error(failure.message) })
            }
            Self::Failed(failure) => Err(failure),
        }
    }
}

/// What a failure was that nobody may have, and in words; `None` for any other failure.
pub(super) fn refusal(failure: &Failure) -> Option<(String, String)> {
    let what = match failure.kind {
        FailureKind::OutsideWorkspace => "outside_workspace",
        FailureKind::Denied => "forbidden",
        FailureKind::BadRequest
        | FailureKind::NotFound
        | FailureKind::NotAFile
        | FailureKind::NotADirectory
        | FailureKind::TooLarge
        | FailureKind::NoSpace
        | FailureKind::Busy
        | FailureKind::SpawnFailed
        | FailureKind::Cancelled
        | FailureKind::Io => return None,
    };
    Some((what.to_owned(), failure.message.clone()))
}

/// Whether the sandbox shows nothing of the file at `path`, whatever is in it.
pub(super) fn is_masked(context: &ToolContext, path: &str) -> bool {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    context.masked.iter().any(|masked| masked == name)
}

/// What the model is told of such a file.
pub(super) fn masked(path: &str) -> ToolResult {
    let path = visible(path);
    let detail =
        format!("{path} is masked: files of this name may hold secrets, and the sandbox shows nothing of them");
    let text = format!("{detail}\nhint: do without it, or ask the user for what you need of it");
    ToolResult { refused: Some(("masked".to_owned(), detail)), ..ToolResult::error(text) }
}

impl From<SandboxError> for GuestError {
    fn from(error: SandboxError) -> Self {
        match error {
            SandboxError::Guest(failure) => Self::Refused(failure),
            other => Self::Failed(ToolFailure::SandboxGone(other.to_string())),
        }
    }
}

/// Carries out `work` that only looks, until the call is cancelled.
pub(super) async fn settle_look(
    context: &ToolContext,
    work: impl Future<Output = Result<ToolResult, GuestError>>,
) -> Result<ToolResult, ToolFailure> {
    // In this order: work that is done is not thrown away, and none is begun for a call that is cancelled already.
    if context.cancel.is_cancelled() {
        return Err(ToolFailure::Cancelled);
    }
    tokio::select! {
        biased;
        result = work => result.or_else(GuestError::settled),
        () = context.cancel.cancelled() => Err(ToolFailure::Cancelled),
    }
}

/// Carries out `work` that writes a file. Once begun it goes to its end, which is near: a write that was given up
/// half-way would have an unknown outcome.
pub(super) async fn settle_write(
    context: &ToolContext,
    work: impl Future<Output = Result<ToolResult, GuestError>>,
) -> Result<ToolResult, ToolFailure> {
    if context.cancel.is_cancelled() {
        return Err(ToolFailure::Cancelled);
    }
    work.await.or_else(GuestError::settled)
}

/// A path as it stands in lists of changed files: without `.` in it. Nothing is looked up.
pub(super) fn plain_path(path: &str) -> String {
    path.split('/').filter(|part| !part.is_empty() && *part != ".").collect::<Vec<_>>().join("/")
}

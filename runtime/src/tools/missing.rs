//! What to tell the model when a path is not what it took it for: names that are nearly it, or the right tool.

use super::guest::{self, GuestError};
use super::{ToolContext, ToolResult};
use retrace_sandbox::{FailureKind, SandboxError};
use std::fmt::Write as _;

/// How many names are looked at.
const MAX_NAMES: u32 = 10_000;
/// How many names are suggested.
const MAX_SUGGESTED: usize = 5;
/// How similar (0 to 1) a name must be to be suggested.
const CUTOFF: f32 = 0.6;

/// The result for `path` after `error`: what the guest said, and a hint.
pub(super) async fn explain(context: &ToolContext, path: &str, error: GuestError) -> Result<ToolResult, GuestError> {
    let GuestError::Refused(failure) = error else {
        return Err(error);
    };
    // A file over which the sandbox has put an empty one cannot be replaced either.
    if failure.kind == FailureKind::Denied && guest::is_masked(context, path) {
        return Ok(guest::masked(path));
    }
    let refused = guest::refusal(&failure);
    let hint = match failure.kind {
        FailureKind::NotFound => suggestion(context, path).await?,
        FailureKind::NotAFile => Some("only regular files can be read; for a folder use list_dir".to_owned()),
        FailureKind::NotADirectory => Some("this is no folder; for a file use read_file".to_owned()),
        FailureKind::OutsideWorkspace => Some("paths are relative to the workspace and stay in it".to_owned()),
        FailureKind::BadRequest
        | FailureKind::Denied
        | FailureKind::TooLarge
        | FailureKind::NoSpace
        | FailureKind::Busy
        | FailureKind::SpawnFailed
        | FailureKind::Cancelled
        | FailureKind::Io => None,
    };
    let mut text = failure.message;
    if let Some(hint) = hint {
        // Writing to a String cannot fail.
        let _ = write!(text, "\nhint: {hint}");
    }
    Ok(ToolResult { refused, ..ToolResult::error(text) })
}

/// Files of the same name elsewhere, else those with nearly that path; `None` when there are none.
async fn suggestion(context: &ToolContext, path: &str) -> Result<Option<String>, GuestError> {
    let listing = match context.sandbox.list("", None, true, MAX_NAMES).await {
        Ok(listing) => listing.entries,
        // The hint is a courtesy: the workspace itself being unreadable is not the news here.
        Err(SandboxError::Guest(_)) => return Ok(None),
        Err(broken) => return Err(broken.into()),
    };
    let names: Vec<String> = listing.iter().map(|entry| entry.path.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(nearest(&names, path).map(|near| format!("did you mean {}?", near.join(" or "))))
}

/// The names most like `path`: first those that end in the same file name, then those that are spelt nearly so.
pub(super) fn nearest<'a>(names: &[&'a str], path: &str) -> Option<Vec<&'a str>> {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    let file = |path: &str| path.rsplit('/').next().unwrap_or_default().to_lowercase();
    let wanted = file(path);
    if wanted.is_empty() || path.len() > 500 {
        return None;
    }
    let mut near: Vec<&str> = names.iter().copied().filter(|name| file(name) == wanted).take(MAX_SUGGESTED).collect();
    if near.is_empty() {
        near = similar::get_close_matches(path, names, MAX_SUGGESTED - 2, CUTOFF);
    }
    (!near.is_empty()).then_some(near)
}

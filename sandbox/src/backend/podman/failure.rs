//! What an engine's refusals mean for the user.

use bollard::errors::Error;

use crate::error::SandboxError;

/// The most of a message that is passed on, in characters.
const MAX_CHARS: usize = 600;

/// Says what went wrong while the engine was to do `what`.
pub(super) fn explain(what: &'static str, error: &Error) -> SandboxError {
    let detail = match error {
        Error::DockerResponseServerError { message, .. } => message.clone(),
        Error::RequestTimeoutError => "no answer in time".to_owned(),
        other => with_sources(other),
    };
    let line: String = detail.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_CHARS).collect();
    SandboxError::Engine { what, detail: line }
}

/// Whether the engine says that there is no such thing. Of a container that it is just removing Podman says so with the
/// status 500.
pub(super) fn is_not_found(error: &Error) -> bool {
    matches!(error, Error::DockerResponseServerError { status_code, message }
        if *status_code == 404 || message.contains("no such container"))
}

/// Errors of the connection tell their reason only in what they come from.
fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let words = cause.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        source = cause.source();
    }
    text
}

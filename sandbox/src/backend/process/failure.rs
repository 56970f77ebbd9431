//! What bubblewrap's complaints mean for the user.

use crate::error::SandboxError;

/// Explains why the guest did not say hello, from what was written to stderr.
pub(super) fn explain(stderr: &str, otherwise: String) -> SandboxError {
    let line = stderr.lines().find(|line| line.starts_with("bwrap:")).unwrap_or_default();
    let detail = line.trim().to_owned();
    let namespaces = [
        "No permissions to create new namespace",
        "No permissions to creating new namespace",
        "Creating new namespace failed",
        "setting up uid map",
        "need to be set up setuid",
        "loopback: Failed",
        "max_user_namespaces",
    ];
    if namespaces.iter().any(|text| line.contains(text)) {
        SandboxError::NamespacesForbidden { detail }
    } else if line.contains("Unknown option") {
        SandboxError::BubblewrapTooOld { detail }
    } else if detail.is_empty() {
        SandboxError::Handshake { detail: otherwise }
    } else {
        SandboxError::Start { backend: "process", detail }
    }
}

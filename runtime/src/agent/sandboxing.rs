//! Starts the sandbox that a session's settings ask for, and says what it proved as an event.

use retrace_events::payload::sandbox::{SandboxProof, SandboxStarted};
use retrace_events::payload::settings::Settings;
use retrace_sandbox::{Limits, Policy, Sandbox, SandboxChoice, SandboxError};
use std::path::{Path, PathBuf};

/// What a sandbox is asked to be.
pub(crate) struct SandboxWish<'a> {
    pub(crate) workspace: &'a Path,
    pub(crate) settings: &'a Settings,
    pub(crate) guest_dir: &'a Path,
    pub(crate) expose: &'a [PathBuf],
    pub(crate) mask: &'a [String],
}

/// Starts it; it is only returned when its isolation was proven.
pub(crate) async fn start(wish: &SandboxWish<'_>) -> Result<Sandbox, SandboxError> {
    let choice: SandboxChoice = wish.settings.sandbox.parse().map_err(|error: retrace_sandbox::ChoiceError| {
        SandboxError::Start { backend: "configured", detail: error.to_string() }
    })?;
    let mut policy = Policy::new(wish.workspace);
    policy.expose.extend_from_slice(wish.expose);
    policy.masked_names = masked_names(wish.mask);
    let limits = Limits { command_timeout_ms: wish.settings.command_timeout_ms, ..Limits::default() };
    Sandbox::start(choice, policy, limits, wish.guest_dir).await
}

/// Names of files that the sandbox shows nothing of: the usual ones, and those of the settings.
pub(crate) fn masked_names(mask: &[String]) -> Vec<String> {
    let mut names = Policy::new("").masked_names;
    let more: Vec<String> = mask.iter().filter(|name| !names.contains(name)).cloned().collect();
    names.extend(more);
    names
}

/// The same names, as tools are told of them: without a sandbox nothing is masked.
pub(crate) fn masked_in(sandbox: &Sandbox, mask: &[String]) -> std::sync::Arc<[String]> {
    if sandbox.backend_name() == "none" { std::sync::Arc::default() } else { masked_names(mask).into() }
}

/// What it proved, for the log.
pub(super) fn started(sandbox: &Sandbox) -> SandboxStarted {
    let proof = |proof: &retrace_sandbox::Proof| SandboxProof {
        name: proof.name.clone(),
        passed: proof.passed,
        detail: proof.detail.clone(),
    };
    let limits = sandbox.limits().describe().into_iter().map(|(name, words)| (name.to_owned(), words));
    SandboxStarted {
        backend: sandbox.backend_name().to_owned(),
        level: sandbox.level().to_string(),
        proofs: sandbox.proofs().iter().map(proof).collect(),
        limits: limits.collect(),
    }
}

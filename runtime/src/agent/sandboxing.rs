//! Starts the sandbox that a session's settings ask for, and says what it proved as an event.

use crate::config::Values;
use retrace_events::payload::sandbox::{SandboxProof, SandboxStarted};
use retrace_events::payload::settings::Settings;
use retrace_sandbox::{Limits, Policy, Sandbox, SandboxChoice, SandboxError};
use std::path::{Path, PathBuf};

/// What the user's configuration says about sandboxes, whatever the session.
#[derive(Debug, Clone, Default)]
pub struct SandboxSetup {
    /// Host paths that the sandbox may read besides the usual ones.
    pub expose: Vec<PathBuf>,
    /// Names in the workspace that the sandbox must not read, such as `.env`.
    pub mask: Vec<String>,
    /// What it may use.
    pub limits: Limits,
}

impl SandboxSetup {
    /// What `values` say.
    #[must_use]
    pub fn of(values: &Values) -> Self {
        Self {
            expose: values.expose.value.clone(),
            mask: values.mask.iter().map(|name| name.value.clone()).collect(),
            limits: values.sandboxes.limits(),
        }
    }
}

/// What a sandbox is asked to be.
pub(crate) struct SandboxWish<'a> {
    pub(crate) workspace: &'a Path,
    pub(crate) settings: &'a Settings,
    pub(crate) guest_dir: &'a Path,
    pub(crate) setup: &'a SandboxSetup,
}

/// Starts it; it is only returned when its isolation was proven.
pub(crate) async fn start(wish: &SandboxWish<'_>) -> Result<Sandbox, SandboxError> {
    let choice: SandboxChoice = wish.settings.sandbox.parse().map_err(|error: retrace_sandbox::ChoiceError| {
        SandboxError::Start { backend: "configured", detail: error.to_string() }
    })?;
    let mut policy = Policy::new(wish.workspace);
    policy.expose.extend_from_slice(&wish.setup.expose);
    for name in &wish.setup.mask {
        if !policy.masked_names.contains(name) {
            policy.masked_names.push(name.clone());
        }
    }
    let limits = Limits { command_timeout_ms: wish.settings.command_timeout_ms, ..wish.setup.limits.clone() };
    Sandbox::start(choice, policy, limits, wish.guest_dir).await
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

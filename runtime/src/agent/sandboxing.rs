//! Starts the sandbox that a session's settings ask for, and says what it proved as an event.

use crate::config::{NetworkCredential, Values};
use retrace_events::payload::sandbox::{SandboxProof, SandboxStarted};
use retrace_events::payload::settings::Settings;
use retrace_sandbox::{
    AllowList, Credential, EngineOptions, Limits, Network, Policy, Sandbox, SandboxChoice, SandboxError, Secret,
};
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
    /// Where containers and microVMs come from.
    pub engine: EngineOptions,
    /// The domains that commands may reach.
    pub network: Vec<String>,
    /// What the proxy adds to requests to them.
    pub credentials: Vec<NetworkCredential>,
}

impl SandboxSetup {
    /// What `values` say.
    #[must_use]
    pub fn of(values: &Values) -> Self {
        Self {
            expose: values.expose.value.clone(),
            mask: values.masked(),
            limits: values.sandboxes.limits(),
            engine: EngineOptions {
                socket: values.sandboxes.engine.value.clone(),
                image: values.sandboxes.image.value.clone(),
            },
            network: values.sandboxes.network.value.clone(),
            credentials: values.sandboxes.credentials.value.clone(),
        }
    }

    /// What may be seen of the host from over `workspace`.
    ///
    /// # Errors
    /// When a credential cannot be used.
    pub(crate) fn policy(&self, workspace: &Path) -> Result<Policy, SandboxError> {
        let mut policy = Policy::new(workspace);
        policy.expose.extend_from_slice(&self.expose);
        policy.masked_names = masked_names(&self.mask);
        policy.engine = self.engine.clone();
        policy.network = self.allowed().map_err(|detail| SandboxError::Network { detail })?;
        Ok(policy)
    }

    fn allowed(&self) -> Result<Network, String> {
        if self.network.is_empty() && self.credentials.is_empty() {
            return Ok(Network::None);
        }
        let mut list = AllowList::parse(&self.network).map_err(|error| error.to_string())?;
        for NetworkCredential { domain, header, prefix, variable } in &self.credentials {
            let secret = Secret::from_variable(variable).map_err(|error| error.to_string())?.prefixed(prefix);
            let credential = Credential::new(domain, header, &secret).map_err(|error| error.to_string())?;
            list = list.with_credential(credential).map_err(|error| error.to_string())?;
        }
        Ok(Network::Allow(list))
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
    let mut policy = wish.setup.policy(wish.workspace)?;
    if choice == SandboxChoice::None {
        // There the host's own network is open anyway.
        policy.network = Network::None;
    }
    let limits = Limits { command_timeout_ms: wish.settings.command_timeout_ms, ..wish.setup.limits.clone() };
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
pub(super) fn started(sandbox: &Sandbox, setup: &SandboxSetup) -> SandboxStarted {
    let proof = |proof: &retrace_sandbox::Proof| SandboxProof {
        name: proof.name.clone(),
        passed: proof.passed,
        detail: proof.detail.clone(),
    };
    let limits = sandbox.limits().describe().into_iter().map(|(name, words)| (name.to_owned(), words));
    // A result depends on what is installed where the command runs.
    let image = setup.engine.image.clone().filter(|_| matches!(sandbox.backend_name(), "container" | "krun"));
    let image = image.map(|image| ("image".to_owned(), image));
    SandboxStarted {
        backend: sandbox.backend_name().to_owned(),
        level: sandbox.level().to_string(),
        proofs: sandbox.proofs().iter().map(proof).collect(),
        limits: limits.chain(image).collect(),
    }
}

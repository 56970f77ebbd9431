//! All backends, tried one after the other: which can be used here, and why the others cannot.

use std::path::Path;
use std::time::Instant;

use crate::backend::{Backend, Flavour, PodmanBackend, ProcessBackend};
use crate::error::SandboxError;
use crate::limits::Limits;
use crate::policy::Policy;
use crate::proof::{IsolationLevel, Proof};
use crate::sandbox::Sandbox;

/// One backend, tried.
#[derive(Debug)]
pub struct Surveyed {
    /// Its name, as in `--sandbox`.
    pub backend: &'static str,
    /// What was proven, or why it cannot be used (with a hint, where there is something to do).
    pub outcome: Result<Usable, SandboxError>,
}

/// A backend that can be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Usable {
    /// The level of isolation that was proven.
    pub level: IsolationLevel,
    /// Everything that was proven.
    pub proofs: Vec<Proof>,
    /// Release of the kernel inside.
    pub kernel: String,
    /// Until the guest said hello, in milliseconds.
    pub launch_ms: f64,
    /// From then until everything was proven, in milliseconds.
    pub probe_ms: f64,
    /// Until nothing of it was left again, in milliseconds.
    pub shutdown_ms: f64,
}

/// Starts a sandbox on each backend, strongest first, proves its isolation and ends it.
pub async fn survey(policy: &Policy, limits: &Limits, guest_dir: &Path) -> Vec<Surveyed> {
    let (krun, container) = (PodmanBackend::new(Flavour::Krun), PodmanBackend::new(Flavour::Container));
    let process = ProcessBackend::default();
    let backends: [&dyn Backend; 3] = [&krun, &container, &process];
    let mut surveyed = Vec::new();
    for backend in backends {
        let outcome = try_out(backend, policy, limits, guest_dir).await;
        surveyed.push(Surveyed { backend: backend.name(), outcome });
    }
    surveyed
}

async fn try_out(
    backend: &dyn Backend,
    policy: &Policy,
    limits: &Limits,
    guest_dir: &Path,
) -> Result<Usable, SandboxError> {
    let sandbox = Sandbox::start_on(backend, policy, limits, guest_dir, Vec::new()).await?;
    let (launch_ms, probe_ms) = sandbox.timings_ms();
    let ending = Instant::now();
    sandbox.shutdown().await;
    Ok(Usable {
        level: sandbox.level(),
        proofs: sandbox.proofs().to_vec(),
        kernel: sandbox.kernel().to_owned(),
        launch_ms,
        probe_ms,
        shutdown_ms: ending.elapsed().as_secs_f64() * 1000.0,
    })
}

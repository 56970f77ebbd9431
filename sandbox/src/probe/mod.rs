//! The isolation probe: tries from inside what must not work, and compares with what is known from outside.
//!
//! The host lays out bait (listeners, canary files), runs `retrace-guest probe` as an ordinary command, and judges its
//! report. A guest that lies is not the threat here: a backend that does not isolate is.

mod bait;
mod judge;

use std::path::Path;
use std::time::Duration;

use retrace_guest::probe::{Observations, ProbePlan};
use retrace_guest::raw_path::RawPath;
use tokio::time::timeout;

use crate::backend::{Inside, LaunchPlan};
use crate::cgroup::start_ticks;
use crate::error::SandboxError;
use crate::exec::ExecRequest;
use crate::proof::Proof;
use crate::sandbox::Sandbox;
use bait::Bait;

/// How long the probe may take, whatever time commands are given.
const PROBE_TIME: Duration = Duration::from_secs(60);
/// The most bytes its report may have.
const MAX_REPORT_BYTES: u64 = 1024 * 1024;

/// Runs the probe; proofs that failed are in the list, an error means that it could not be carried out.
pub(crate) async fn prove(
    sandbox: &Sandbox,
    plan: &LaunchPlan<'_>,
    inside: &Inside,
) -> Result<Vec<Proof>, SandboxError> {
    let fail = |detail: String| SandboxError::Probe { backend: sandbox.backend_name(), detail };
    let bait = Bait::lay(plan).map_err(|error| fail(format!("cannot lay out bait: {error}")))?;
    let probe_plan = ProbePlan {
        tcp: bait.tcp_addresses(),
        abstract_socket: bait.abstract_name().to_owned(),
        canaries: bait.canaries().iter().map(RawPath::from).collect(),
        write_dirs: write_dirs(plan, inside),
        marker: bait.marker().to_owned(),
        masked: inside.masked.iter().map(RawPath::from).collect(),
        sockets: inside.sockets.iter().map(RawPath::from).collect(),
        host_process: Some((std::process::id(), start_ticks(std::process::id()).unwrap_or_default())),
    };
    let stdin = serde_json::to_vec(&probe_plan).map_err(|error| fail(error.to_string()))?;
    let guest = inside.guest.to_string_lossy().into_owned();
    let request = ExecRequest {
        stdin: Some(stdin.into()),
        endless: true,
        max_output_bytes: Some(MAX_REPORT_BYTES),
        ..ExecRequest::argv([guest, "probe".to_owned()])
    };
    let probing = sandbox.exec(request).await?.output();
    let output =
        timeout(PROBE_TIME, probing).await.map_err(|_| fail(format!("no report in {} s", PROBE_TIME.as_secs())))??;
    if !output.result.succeeded() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(fail(format!("the probe ended with {:?}: {said}", output.result.code)));
    }
    let seen: Observations = serde_json::from_slice(&output.stdout).map_err(|error| fail(error.to_string()))?;
    let known = judge::Known {
        level: sandbox.level(),
        inside,
        exec_limits: sandbox.exec_limits(),
        memory_bytes: plan.limits.memory(),
    };
    let mut proofs = judge::judge(&seen, &known);
    proofs.push(bait.untouched());
    Ok(proofs)
}

/// Where writing must fail: the root, the host's folders, and what is shown read-only.
fn write_dirs(plan: &LaunchPlan<'_>, inside: &Inside) -> Vec<RawPath> {
    let mut dirs: Vec<&Path> =
        ["/", "/usr", "/usr/bin", "/etc", "/opt", "/home", "/proc/sys/kernel"].map(Path::new).to_vec();
    dirs.extend(inside.guest.parent());
    // Inside, folders for temporary files are others than the host's.
    let is_own = |folder: &Path| ["/tmp", "/var/tmp"].iter().any(|own| folder.starts_with(own));
    dirs.extend(plan.policy.workspace.parent().filter(|parent| !is_own(parent)));
    dirs.extend(plan.policy.expose.iter().map(std::path::PathBuf::as_path).filter(|path| path.is_dir()));
    dirs.into_iter().map(RawPath::from).collect()
}

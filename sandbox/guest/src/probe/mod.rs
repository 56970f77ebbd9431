//! What a command can really do here: the inside half of the isolation probe.
//!
//! It runs as an ordinary command (`retrace-guest probe`), tries everything that must not work, and reports what it
//! saw as JSON. It judges nothing: the host compares the observations with what it knows from outside.

mod attempts;
mod status;

use std::io::{self, Read, Write};
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::raw_path::RawPath;

/// The most bytes a plan may have.
const MAX_PLAN_BYTES: u64 = 256 * 1024;

/// What to try.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ProbePlan {
    /// Listeners on the host that must not be reachable.
    pub tcp: Vec<SocketAddr>,
    /// Name of an abstract unix socket on the host that must not be reachable.
    pub abstract_socket: String,
    /// Files on the host that must not be visible.
    pub canaries: Vec<RawPath>,
    /// Folders in which creating `marker` is tried.
    pub write_dirs: Vec<RawPath>,
    /// Name of the files to create.
    pub marker: String,
    /// Files that must read as empty.
    pub masked: Vec<RawPath>,
    /// Sockets in the host's file system that must not be reachable.
    #[serde(default)]
    pub sockets: Vec<RawPath>,
    /// A process of the host: its id, and its start time in clock ticks since boot.
    pub host_process: Option<(u32, u64)>,
}

/// How one attempt went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attempt {
    /// It worked.
    Succeeded,
    /// It failed, with the system's error number (0 when there is none) and text.
    Failed {
        /// The error number.
        errno: i32,
        /// What it means.
        text: String,
    },
}

impl Attempt {
    /// True when it worked.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        matches!(self, Self::Succeeded)
    }
}

/// A soft limit of the command, in its own unit; `None` when there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rlimits {
    /// Processes.
    pub processes: Option<u64>,
    /// Private writable memory, in bytes.
    pub data_bytes: Option<u64>,
    /// File size, in bytes.
    pub file_size_bytes: Option<u64>,
    /// CPU time, in seconds.
    pub cpu_seconds: Option<u64>,
}

/// What the probe saw.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Observations {
    /// The real and the effective user id.
    pub uids: (u32, u32),
    /// The effective capabilities, as in `/proc/self/status`.
    pub cap_eff: Option<u64>,
    /// The bounding set.
    pub cap_bnd: Option<u64>,
    /// `NoNewPrivs`.
    pub no_new_privs: Option<u64>,
    /// `Seccomp` (2: a filter is in force).
    pub seccomp: Option<u64>,
    /// Identity of this run of the kernel.
    pub boot_id: String,
    /// Memory of the machine that this kernel sees, in bytes.
    pub memory_bytes: Option<u64>,
    /// The root is mounted read-only.
    pub root_read_only: bool,
    /// Identity of each namespace, by name, as in `/proc/self/ns`.
    pub namespaces: Vec<(String, String)>,
    /// Network interfaces.
    pub interfaces: Vec<String>,
    /// Connecting to each of `tcp`.
    pub tcp: Vec<Attempt>,
    /// Connecting to the abstract socket.
    pub abstract_socket: Option<Attempt>,
    /// Connecting to each of `sockets`.
    pub sockets: Vec<(RawPath, Attempt)>,
    /// Opening each of `canaries`.
    pub canaries: Vec<(RawPath, Attempt)>,
    /// Creating a file in each of `write_dirs`.
    pub writes: Vec<(RawPath, Attempt)>,
    /// Size that each of `masked` reads as; `None` when it cannot be read at all.
    pub masked: Vec<(RawPath, Option<u64>)>,
    /// The host's process is visible.
    pub host_process_visible: bool,
    /// `unshare(CLONE_NEWUSER)`.
    pub unshare: Option<Attempt>,
    /// `mount`, of a file system that does not exist: succeeded means that only that was the reason to fail.
    pub mount: Option<Attempt>,
    /// `ptrace(PTRACE_TRACEME)`.
    pub ptrace: Option<Attempt>,
    /// Opening kernel settings for writing.
    pub kernel_settings: Vec<(RawPath, Attempt)>,
    /// Names of all environment variables.
    pub env_names: Vec<String>,
    /// The limits.
    pub rlimits: Rlimits,
}

/// Why the probe could not report.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The plan cannot be read.
    #[error("bad probe plan: {source}")]
    Plan {
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The observations cannot be written.
    #[error("cannot report: {source}")]
    Report {
        /// What the system says.
        source: serde_json::Error,
    },
    /// Writing the last byte failed.
    #[error("cannot report: {source}")]
    Flush {
        /// What the system says.
        source: io::Error,
    },
}

/// Reads a plan, tries it, writes the observations.
///
/// # Errors
/// When the plan is not one, or the report cannot be written.
pub fn run(plan: impl Read, mut report: impl Write) -> Result<(), ProbeError> {
    let plan: ProbePlan =
        serde_json::from_reader(plan.take(MAX_PLAN_BYTES)).map_err(|source| ProbeError::Plan { source })?;
    let observations = observe(&plan);
    serde_json::to_writer(&mut report, &observations).map_err(|source| ProbeError::Report { source })?;
    report.flush().map_err(|source| ProbeError::Flush { source })
}

fn observe(plan: &ProbePlan) -> Observations {
    let mut seen = Observations::default();
    status::observe(&mut seen);
    attempts::observe(plan, &mut seen);
    seen
}

#[cfg(test)]
mod tests;

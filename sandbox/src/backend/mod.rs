//! Backends: ways to start a guest somewhere isolated.
//!
//! A backend only has to produce the stdin, stdout and stderr of a running guest, and something that knows when it
//! ends. Whether the result *is* isolated is not its word: the probe decides.

mod marked;
mod masks;
mod none;
mod podman;
mod process;
pub(crate) mod seccomp;

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use retrace_guest::message::ExecLimits;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::error::SandboxError;
use crate::guest_file::GuestFiles;
use crate::limits::{Limits, PROCESS_MEMORY_BYTES};
use crate::policy::Policy;
use crate::proof::{IsolationLevel, Proof};

#[cfg(any(test, fuzzing))]
pub(crate) use none::NoMeter;
pub(crate) use none::NoneBackend;
pub(crate) use podman::{Flavour, PodmanBackend};
pub(crate) use process::ProcessBackend;

/// Arguments of a guest that is started with a pipe from this process: it ends with us, so that no silence has to be
/// taken for our death, and a program that was only stopped for a while finds its sandbox again. Where an engine holds
/// the pipe, the guest's own bound ([`retrace_guest::DEFAULT_SILENCE_MS`]) stays in force.
pub(crate) const PIPE_ENDS_WITH_US: [&str; 2] = ["--silence-ms", "0"];

/// Everything a backend needs to start a guest.
#[derive(Debug)]
pub(crate) struct LaunchPlan<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) limits: &'a Limits,
    pub(crate) files: &'a GuestFiles,
    /// Marks all processes of this sandbox.
    pub(crate) sandbox_id: String,
}

/// A running guest.
pub(crate) struct Launched {
    pub(crate) stdin: Box<dyn AsyncWrite + Send + Unpin>,
    pub(crate) stdout: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) stderr: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) lifeline: Box<dyn Lifeline>,
    pub(crate) meter: Arc<dyn Meter>,
    pub(crate) inside: Inside,
    /// What has to be complete before anything may run in the guest; goes on while it starts. Results in the limits
    /// that every command gets.
    pub(crate) ready: Pin<Box<dyn Future<Output = Result<ExecLimits, SandboxError>> + Send>>,
}

/// How things look from inside.
#[derive(Debug)]
pub(crate) struct Inside {
    /// Where the guest's own executable is.
    pub(crate) guest: PathBuf,
    /// Where the workspace is.
    pub(crate) workspace: PathBuf,
    /// Files that must read as empty.
    pub(crate) masked: Vec<PathBuf>,
    /// Names of the environment variables that were set.
    pub(crate) env_names: Vec<String>,
    /// Sockets of the host that must not be reachable.
    pub(crate) sockets: Vec<PathBuf>,
}

/// Starts guests.
#[async_trait]
pub(crate) trait Backend: Send + Sync {
    /// Its name, as in `--sandbox`.
    fn name(&self) -> &'static str;

    /// The level it reaches when every proof passes.
    fn level(&self) -> IsolationLevel;

    /// Memory of a sandbox when nothing else is said, in bytes.
    fn default_memory_bytes(&self) -> u64 {
        PROCESS_MEMORY_BYTES
    }

    /// What it means that the guest said no hello, given what was written to stderr.
    fn explain(&self, stderr: &str, otherwise: String) -> SandboxError {
        let stderr = stderr.trim();
        let detail = if stderr.is_empty() { otherwise } else { format!("{otherwise}: {stderr}") };
        SandboxError::Handshake { detail }
    }

    /// Starts a guest.
    async fn launch(&self, plan: &LaunchPlan<'_>) -> Result<Launched, SandboxError>;
}

/// Knows when a guest ends, and can end it.
#[async_trait]
pub(crate) trait Lifeline: Send {
    /// Waits for the end; says what happened, in one line. May be called again afterwards.
    async fn wait(&mut self) -> String;

    /// Kills the guest with everything in it; its end is then waited for with `wait`.
    fn kill(&mut self);

    /// Removes what the sandbox leaves on the host.
    async fn clean_up(&mut self);
}

/// How often the sandbox as a whole ran into limits; only ever grows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    /// Processes killed because memory ran out.
    pub(crate) memory_kills: u64,
    /// Processes that could not be started.
    pub(crate) pids_refused: u64,
}

/// Reads a sandbox's counters, from outside.
pub(crate) trait Meter: Send + Sync {
    /// The counters now.
    fn read(&self) -> Counters;

    /// What can be shown from outside about the limits of the whole sandbox.
    fn proofs(&self) -> Vec<Proof>;
}

/// Release of this machine's kernel.
pub(crate) fn host_kernel() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

/// Finds a program in the host's `PATH`.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|dir| dir.join(name)).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

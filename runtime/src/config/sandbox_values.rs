//! The values that are about sandboxes: what they may use, where containers come from, and what they may reach.

use super::origin::Sourced;
use retrace_sandbox::Limits;

/// What a sandbox may use and reach. `None` is no limit where nothing else is said.
#[derive(Debug, Clone)]
pub struct SandboxValues {
    /// Memory of everything in it together, in bytes; `None` is what is usual for the backend.
    pub memory_bytes: Sourced<Option<u64>>,
    /// Processors' worth of time of everything in it together, in hundredths.
    pub cpus_percent: Sourced<Option<u32>>,
    /// Processes and threads in it.
    pub processes: Sourced<u64>,
    /// What commands may add to the workspace, in bytes.
    pub disk_bytes: Sourced<Option<u64>>,
    /// Size of `/tmp`, and of the home folder, in bytes.
    pub scratch_bytes: Sourced<u64>,
    /// Output of one command, in bytes.
    pub output_bytes: Sourced<u64>,
    /// CPU time of one process, in milliseconds.
    pub cpu_time_ms: Sourced<u64>,
    /// The longest time that a command may ask for, in milliseconds.
    pub command_time_ms: Sourced<u64>,
    /// After so long without work it ends, in milliseconds.
    pub idle_ms: Sourced<Option<u64>>,
    /// The image of containers and microVMs; `None` is retrace's own.
    pub image: Sourced<Option<String>>,
    /// The socket of the container engine; `None` looks at the usual places.
    pub engine: Sourced<Option<String>>,
    /// The domains that commands may reach.
    pub network: Sourced<Vec<String>>,
    /// What the proxy adds to requests to a domain: `api.example.com Authorization: Bearer $TOKEN`.
    pub credentials: Sourced<Vec<String>>,
}

impl Default for SandboxValues {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            memory_bytes: Sourced::default(None),
            cpus_percent: Sourced::default(None),
            processes: Sourced::default(limits.pids),
            disk_bytes: Sourced::default(limits.disk_bytes),
            scratch_bytes: Sourced::default(limits.tmp_bytes),
            output_bytes: Sourced::default(limits.output_bytes),
            cpu_time_ms: Sourced::default(limits.cpu_seconds.saturating_mul(1_000)),
            command_time_ms: Sourced::default(limits.wall_ms),
            idle_ms: Sourced::default(limits.idle_ms),
            image: Sourced::default(None),
            engine: Sourced::default(None),
            network: Sourced::default(Vec::new()),
            credentials: Sourced::default(Vec::new()),
        }
    }
}

impl SandboxValues {
    /// The limits of a sandbox.
    #[must_use]
    pub fn limits(&self) -> Limits {
        Limits {
            memory_bytes: self.memory_bytes.value,
            cpus: self.cpus_percent.value.map(|percent| f64::from(percent) / 100.0),
            pids: self.processes.value,
            cpu_seconds: self.cpu_time_ms.value.div_ceil(1_000),
            disk_bytes: self.disk_bytes.value,
            tmp_bytes: self.scratch_bytes.value,
            output_bytes: self.output_bytes.value,
            wall_ms: self.command_time_ms.value,
            idle_ms: self.idle_ms.value,
            ..Limits::default()
        }
    }
}

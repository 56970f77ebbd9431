//! The values that are about sandboxes: what they may use, where containers come from, and what they may reach.

use super::origin::Sourced;
use super::raw::{Misfit, Raw};
use retrace_sandbox::{AllowList, Limits};
use std::path::PathBuf;

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
    pub engine: Sourced<Option<PathBuf>>,
    /// The domains that commands may reach.
    pub network: Sourced<Vec<String>>,
    /// What the proxy adds to requests to a domain.
    pub credentials: Sourced<Vec<NetworkCredential>>,
}

/// A header with a secret that the proxy adds to requests to a domain: `api.example.com Authorization: Bearer $TOKEN`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkCredential {
    /// The domain, with a port where it is not the usual one.
    pub domain: String,
    /// The header.
    pub header: String,
    /// What stands before the secret in it.
    pub prefix: String,
    /// The variable of retrace's own environment that holds the secret.
    pub variable: String,
}

impl std::fmt::Display for NetworkCredential {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {}: {}${}", self.domain, self.header, self.prefix, self.variable)
    }
}

impl NetworkCredential {
    fn parse(line: &str) -> Result<Self, Misfit> {
        // A line that is wrong may hold the secret itself: it is not shown.
        let misfit = || "must be lines like `api.example.com Authorization: Bearer $TOKEN`".to_owned();
        let (domain, rest) = line.split_once(' ').ok_or_else(misfit)?;
        let (header, value) = rest.split_once(':').ok_or_else(misfit)?;
        let (prefix, variable) = value.split_once('$').ok_or_else(misfit)?;
        let is_name = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !is_name(variable) || header.trim().is_empty() {
            return Err(misfit());
        }
        let own = |text: &str| text.to_owned();
        let prefix = prefix.strip_prefix(' ').unwrap_or(prefix);
        Ok(Self { domain: own(domain), header: own(header.trim()), prefix: own(prefix), variable: own(variable) })
    }
}

/// Domains that commands may reach; a list that the proxy would not take is refused here.
pub(super) fn domains(raw: &Raw) -> Result<Vec<String>, Misfit> {
    let lines = raw.lines()?;
    match AllowList::parse(&lines) {
        Ok(_) => Ok(lines),
        Err(error) => Err(format!(
            "must be a list of domains like `crates.io` or `*.example.org:8443`; {:?} is none: {}",
            error.given, error.reason
        )),
    }
}

/// Headers that the proxy adds.
pub(super) fn credentials(raw: &Raw) -> Result<Vec<NetworkCredential>, Misfit> {
    raw.lines()?.iter().map(|line| NetworkCredential::parse(line)).collect()
}

/// The socket of an engine on this machine.
pub(super) fn engine(raw: &Raw) -> Result<PathBuf, Misfit> {
    let line = raw.line(4_096)?;
    let path = PathBuf::from(line.strip_prefix("unix://").unwrap_or(&line));
    if path.is_absolute() {
        Ok(path)
    } else {
        Err("must be the path of a socket, like `unix:///run/podman/podman.sock`".to_owned())
    }
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

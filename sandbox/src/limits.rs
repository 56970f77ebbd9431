//! What a sandbox and its commands may use, and which of it was hit.

use std::fmt;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const GIB: u64 = 1024 * MIB;
/// Memory of processes when nothing else is said.
pub(crate) const PROCESS_MEMORY_BYTES: u64 = 4 * GIB;
/// Memory of containers and microVMs when nothing else is said.
pub(crate) const CONTAINER_MEMORY_BYTES: u64 = 512 * MIB;
/// All folders in memory are at most two and a half such parts of it together.
const TMP_SHARE: u64 = 4;
/// The fewest and the most processors that can be asked for.
const CPUS: (f64, f64) = (0.01, 4096.0);

/// Bounds of one sandbox. The defaults are for compiling and testing real projects.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Memory of everything in the sandbox together, in bytes. Where no memory cgroup can be used: private memory of
    /// each process. `None`: as much as is usual for the backend, 4 GiB for processes and 512 MiB for containers and
    /// microVMs (which take it all from the host at once).
    pub memory_bytes: Option<u64>,
    /// Processes and threads in the sandbox.
    pub pids: u64,
    /// Processors' worth of time of everything in the sandbox together; as many as there are when `None`.
    pub cpus: Option<f64>,
    /// CPU time of each process, in seconds.
    pub cpu_seconds: u64,
    /// Size of any one file written, in bytes.
    pub file_size_bytes: u64,
    /// Open files of each process.
    pub open_files: u64,
    /// What commands may add to the workspace since the sandbox began, in bytes; `None` is no limit.
    pub disk_bytes: Option<u64>,
    /// Size of `/tmp`, and of the home folder, in bytes; a quarter of the memory at most, in which they are kept.
    pub tmp_bytes: u64,
    /// Output of a command that does not ask for another bound, in bytes.
    pub output_bytes: u64,
    /// Time of a command that does not ask for another, in milliseconds.
    pub command_timeout_ms: u64,
    /// The longest time any command may ask for, in milliseconds.
    pub wall_ms: u64,
    /// After so long without a command or file operation it ends, in milliseconds; `None` is never.
    pub idle_ms: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: None,
            pids: 512,
            cpus: None,
            cpu_seconds: 3600,
            file_size_bytes: 4 * GIB,
            open_files: 4096,
            disk_bytes: Some(16 * GIB),
            tmp_bytes: GIB,
            output_bytes: 64 * MIB,
            command_timeout_ms: 10 * 60 * 1000,
            wall_ms: 60 * 60 * 1000,
            idle_ms: Some(30 * 60 * 1000),
        }
    }
}

impl Limits {
    /// The same with everything said that was left to the backend, and nothing out of bounds.
    pub(crate) fn settled(&self, default_memory_bytes: u64) -> Self {
        let cpus = self.cpus.filter(|cpus| cpus.is_finite()).map(|cpus| cpus.clamp(CPUS.0, CPUS.1));
        let memory_bytes = self.memory_bytes.unwrap_or(default_memory_bytes);
        // What belongs to no process cannot be got back by killing one: full folders would end the sandbox.
        let tmp_bytes = self.tmp_bytes.min(memory_bytes / TMP_SHARE);
        Self { memory_bytes: Some(memory_bytes), tmp_bytes, cpus, ..self.clone() }
    }

    /// The memory of everything together, in bytes.
    #[must_use]
    pub fn memory(&self) -> u64 {
        self.memory_bytes.unwrap_or(PROCESS_MEMORY_BYTES)
    }

    /// All of them by name, in words, for the log and for people.
    #[must_use]
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let mut words = vec![
            ("memory", size(self.memory())),
            ("pids", self.pids.to_string()),
            ("cpu", format!("{} s", self.cpu_seconds)),
            ("file_size", size(self.file_size_bytes)),
            ("open_files", self.open_files.to_string()),
            ("tmp", size(self.tmp_bytes)),
            ("output", size(self.output_bytes)),
            ("time", format!("{} ms, at most {} ms", self.command_timeout_ms, self.wall_ms)),
        ];
        words.extend(self.disk_bytes.map(|bytes| ("disk", size(bytes))));
        words.extend(self.idle_ms.map(|idle_ms| ("idle", format!("{idle_ms} ms"))));
        words.extend(self.cpus.map(|cpus| ("cpus", cpus.to_string())));
        words
    }
}

/// A size for people, exact when it is a whole number of MiB or GiB.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes >= GIB && bytes.is_multiple_of(GIB) => format!("{} GiB", bytes / GIB),
        bytes if bytes >= MIB && bytes.is_multiple_of(MIB) => format!("{} MiB", bytes / MIB),
        bytes => format!("{bytes} bytes"),
    }
}

/// A limit that something ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LimitHit {
    /// Memory ran out, and the kernel killed something.
    Memory,
    /// No process could be started any more.
    Pids,
    /// The command ran too long.
    Time,
    /// The command wrote too much to stdout and stderr.
    Output,
    /// A process used too much CPU time.
    Cpu,
    /// A file became too large.
    FileSize,
    /// Commands added too much to the workspace, or the disk is nearly full.
    Disk,
    /// Nobody used the sandbox for a while.
    Idle,
}

impl LimitHit {
    /// The name, as in the event log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Pids => "pids",
            Self::Time => "time",
            Self::Output => "output",
            Self::Cpu => "cpu",
            Self::FileSize => "file_size",
            Self::Disk => "disk",
            Self::Idle => "idle",
        }
    }
}

impl fmt::Display for LimitHit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

//! Messages about running a command.

use serde::{Deserialize, Serialize};

use crate::raw_path::RawPath;

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// A program and its arguments; the program is looked up in `PATH`.
    Argv(Vec<String>),
    /// A script for `bash` (for `sh` where there is no bash).
    Shell(String),
}

/// Bounds of one command. Those of `ExecLimits` that are `None` are not set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecLimits {
    /// Past so many bytes of stdout and stderr together the command is killed.
    pub max_output_bytes: Option<u64>,
    /// Processes and threads of the user (`RLIMIT_NPROC`).
    pub processes: Option<u64>,
    /// Address space of each process, in bytes (`RLIMIT_AS`).
    pub address_space_bytes: Option<u64>,
    /// Private writable memory of each process, in bytes (`RLIMIT_DATA`).
    pub data_bytes: Option<u64>,
    /// Size of any one file written, in bytes (`RLIMIT_FSIZE`).
    pub file_size_bytes: Option<u64>,
    /// CPU time of each process, in seconds (`RLIMIT_CPU`).
    pub cpu_seconds: Option<u64>,
    /// Open files of each process (`RLIMIT_NOFILE`).
    pub open_files: Option<u64>,
}

/// The size of a terminal, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalSize {
    /// Lines.
    pub rows: u16,
    /// Characters of a line.
    pub columns: u16,
}

/// A command with everything it needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecSpec {
    /// What to run.
    pub command: Command,
    /// Where, relative to the workspace; the workspace itself when `None`.
    pub cwd: Option<RawPath>,
    /// Variables set on top of the guest's own environment.
    pub env: Vec<(String, String)>,
    /// `Data` frames with the command's stdin follow; otherwise stdin is empty.
    pub has_stdin: bool,
    /// It gets a terminal of this size, which is its controlling one: input and output go through it, and all output
    /// comes as `Stdout`. The end of stdin is then the end-of-file character, as a person would type it.
    #[serde(default)]
    pub terminal: Option<TerminalSize>,
    /// After so many milliseconds the command is killed.
    pub timeout_ms: Option<u64>,
    /// Its bounds.
    pub limits: ExecLimits,
}

/// What a command cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// User and system time of all its processes that have ended, in milliseconds.
    pub cpu_ms: u64,
    /// The largest resident set of any one of its processes, in KiB.
    pub max_rss_kb: u64,
}

/// How a command ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecEnd {
    /// Exit code, when it exited by itself.
    pub code: Option<i32>,
    /// The signal that killed it, otherwise.
    pub signal: Option<i32>,
    /// It ran into its time limit.
    pub timed_out: bool,
    /// The host asked for its end.
    pub killed: bool,
    /// It wrote more than `max_output_bytes`.
    pub output_limit_hit: bool,
    /// Processes that were still there when the main one had ended, and were killed.
    pub leftovers_killed: u32,
    /// Wall time from start to end, in milliseconds.
    pub duration_ms: u64,
    /// Bytes of stdout that were sent.
    pub stdout_bytes: u64,
    /// Bytes of stderr that were sent.
    pub stderr_bytes: u64,
    /// What it cost.
    pub usage: Usage,
    /// Processes killed meanwhile because memory ran out, where the guest bounds that itself (in a microVM).
    pub memory_kills: u64,
    /// Processes that could not be started meanwhile, where the guest bounds that itself.
    pub pids_refused: u64,
}

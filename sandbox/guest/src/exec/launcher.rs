//! Starts a command beneath its supervisor, with its limits, and keeps track of all supervisors.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command as Process, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::pipe::{PipeFlags, pipe_with};

use super::terminal::Terminal;
use super::{supervisor, tree};
use crate::CALL_ID_VARIABLE;
use crate::message::{Command, ExecLimits, ExecSpec, Failure, FailureKind};

/// What programs take a terminal of ours for.
const TERMINAL_KIND: &str = "xterm-256color";

/// A command that has been started, with our ends of its pipes.
#[derive(Debug)]
pub(super) struct Launched {
    /// The supervisor.
    pub(super) supervisor: Child,
    /// Where the supervisor reports.
    pub(super) status: Option<OwnedFd>,
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: Option<OwnedFd>,
    pub(super) stderr: Option<OwnedFd>,
    /// The command's end of its terminal; while it is held, the terminal does not hang up between two programs.
    pub(super) terminal: Option<OwnedFd>,
}

/// How long a supervisor may take to wait for what was killed below it.
const REAP_TIME: Duration = Duration::from_secs(5);

/// What may be left of a call when its pump stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remains {
    /// Nothing: the supervisor said so.
    None,
    /// Perhaps processes below the supervisor.
    Unknown,
    /// Perhaps processes that lost their supervisor.
    Strays,
}

/// Starts commands.
#[derive(Debug)]
pub(crate) struct Launcher {
    /// The guest's channel to the host, which no command may hold.
    channel: [RawFd; 2],
    /// Process ids of the supervisors; locked from a fork until the new id is in it.
    supervisors: Mutex<HashSet<i32>>,
}

impl Launcher {
    pub(crate) fn new(channel: [RawFd; 2]) -> Self {
        Self { channel, supervisors: Mutex::default() }
    }

    /// Starts the command; on return its program runs (or could not be started, which is the error).
    pub(super) fn launch(&self, id: u64, spec: &ExecSpec, cwd: &OwnedFd) -> Result<Launched, Failure> {
        let (mut process, name) = process_of(spec)?;
        process.env(CALL_ID_VARIABLE, id.to_string());
        if spec.terminal.is_some() {
            process.env("TERM", TERMINAL_KIND);
        }
        process.envs(spec.env.iter().map(|(name, value)| (name, value)));
        let spawn_failed = |error: &io::Error| spawn_failure(&name, error);
        let terminal = set_up_stdio(&mut process, spec).map_err(|error| spawn_failed(&error))?;
        let (status, status_writer) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| spawn_failed(&error.into()))?;
        let plan = supervisor::Plan {
            channel: self.channel,
            status: status_writer.as_raw_fd(),
            cwd: cwd.as_raw_fd(),
            has_terminal: terminal.is_some(),
            limits: rlimits(&spec.limits),
        };
        // SAFETY: the closure runs in the forked child and only makes async-signal-safe calls (see `supervisor`).
        unsafe { process.pre_exec(move || supervisor::split(&plan)) };

        // A hunt for strays waits until the new supervisor is known to be one.
        let mut supervisor = {
            let mut known = self.supervisors.lock().unwrap_or_else(PoisonError::into_inner);
            let child = process.spawn().map_err(|error| spawn_failed(&error))?;
            known.insert(pid_of(&child));
            child
        };
        drop(status_writer);
        let mut stdin = supervisor.stdin.take().map(OwnedFd::from);
        let mut stdout = supervisor.stdout.take().map(OwnedFd::from);
        let stderr = supervisor.stderr.take().map(OwnedFd::from);
        let terminal = terminal.map(|(input, pair)| {
            (stdin, stdout) = (input, Some(pair.ours));
            pair.theirs
        });
        Ok(Launched { supervisor, status: Some(status), stdin, stdout, stderr, terminal })
    }

    /// Ends a supervisor with all that is below it; returns how many processes were still there.
    pub(super) fn end(&self, supervisor: &mut Child, remains: Remains) -> u32 {
        let mut killed = match remains {
            Remains::None => 0,
            Remains::Unknown | Remains::Strays => tree::kill_descendants(pid_of(supervisor)),
        };
        // It ends by itself when it has waited for the last of them. Killed before that it would leave dead processes to us.
        let is_done = remains == Remains::None || ends_within(supervisor, REAP_TIME);
        let _ = supervisor.kill();
        let _ = supervisor.wait();
        let mut known = self.supervisors.lock().unwrap_or_else(PoisonError::into_inner);
        known.remove(&pid_of(supervisor));
        if remains == Remains::Strays || !is_done {
            // No command can be started meanwhile, so whatever is our child and not known is a stray.
            killed += tree::kill_strays(&known);
        }
        killed
    }

    /// Kills every process below the guest.
    pub(crate) fn kill_everything(&self) {
        tree::kill_descendants(std::process::id().cast_signed());
    }
}

fn ends_within(child: &mut Child, time: Duration) -> bool {
    let deadline = Instant::now() + time;
    loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(1)),
            ended => return matches!(ended, Ok(Some(_))),
        }
    }
}

pub(super) fn pid_of(child: &Child) -> i32 {
    child.id().cast_signed()
}

/// Pipes, or a terminal, which is returned with a second handle to our end of it where there is input.
fn set_up_stdio(process: &mut Process, spec: &ExecSpec) -> io::Result<Option<(Option<OwnedFd>, Terminal)>> {
    let Some(size) = spec.terminal else {
        process.stdin(if spec.has_stdin { Stdio::piped() } else { Stdio::null() });
        process.stdout(Stdio::piped()).stderr(Stdio::piped());
        return Ok(None);
    };
    let terminal = Terminal::open(size)?;
    let theirs = || terminal.theirs.try_clone();
    process.stdin(theirs()?).stdout(theirs()?).stderr(theirs()?);
    let input = if spec.has_stdin { Some(terminal.ours.try_clone()?) } else { None };
    Ok(Some((input, terminal)))
}

fn process_of(spec: &ExecSpec) -> Result<(Process, String), Failure> {
    match &spec.command {
        Command::Argv(argv) => {
            let Some((program, arguments)) = argv.split_first() else {
                return Err(Failure::new(FailureKind::BadRequest, "the command is empty"));
            };
            let mut process = Process::new(program);
            process.args(arguments);
            Ok((process, program.clone()))
        }
        Command::Shell(script) => {
            let shell = if Path::new("/bin/bash").exists() { "/bin/bash" } else { "/bin/sh" };
            let mut process = Process::new(shell);
            process.arg("-c").arg(script);
            Ok((process, shell.to_owned()))
        }
    }
}

fn spawn_failure(name: &str, error: &io::Error) -> Failure {
    let kind = match error.raw_os_error() {
        Some(libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE) => FailureKind::Busy,
        Some(libc::E2BIG) => FailureKind::TooLarge,
        _ if error.kind() == io::ErrorKind::InvalidInput => FailureKind::BadRequest,
        _ => FailureKind::SpawnFailed,
    };
    Failure::new(kind, format!("cannot start {name:?}: {error}"))
}

fn rlimits(limits: &ExecLimits) -> Vec<supervisor::Rlimit> {
    let soft_hard = |resource, value: Option<u64>, extra| {
        value.map(|soft| supervisor::Rlimit { resource, soft, hard: soft.saturating_add(extra) })
    };
    [
        soft_hard(libc::RLIMIT_CORE, Some(0), 0),
        soft_hard(libc::RLIMIT_NPROC, limits.processes, 0),
        soft_hard(libc::RLIMIT_AS, limits.address_space_bytes, 0),
        soft_hard(libc::RLIMIT_DATA, limits.data_bytes, 0),
        soft_hard(libc::RLIMIT_FSIZE, limits.file_size_bytes, 0),
        // A second between the signal that names the limit and the one that cannot be caught.
        soft_hard(libc::RLIMIT_CPU, limits.cpu_seconds, 1),
        soft_hard(libc::RLIMIT_NOFILE, limits.open_files, 0),
    ]
    .into_iter()
    .flatten()
    .collect()
}

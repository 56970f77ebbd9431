//! Running commands in a sandbox.

use std::path::PathBuf;

use bytes::{Bytes, BytesMut};
use retrace_guest::message::{
    CHUNK_COST_BYTES, Command, ExecEnd, ExecLimits, ExecSpec, Failure, FailureKind, INITIAL_CREDIT_BYTES,
    MAX_STDIN_BYTES, Request, Response, TerminalSize, Usage,
};
use retrace_guest::raw_path::RawPath;

use crate::activity::Occupied;
use crate::backend::Counters;
use crate::call::{Call, unexpected};
use crate::disk_watch::Watched;
use crate::error::SandboxError;
use crate::input::Input;
use crate::limits::LimitHit;
use crate::sandbox::Sandbox;

/// Granted back when so much has been taken.
const GRANT_BYTES: u64 = INITIAL_CREDIT_BYTES / 4;
/// Room for answers besides output.
const CLOSING_BYTES: u64 = 64 * 1024;

/// A command to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecRequest {
    /// What to run.
    pub command: Command,
    /// Where, relative to the workspace; the workspace itself when `None`.
    pub cwd: Option<PathBuf>,
    /// Variables on top of the sandbox's environment.
    pub env: Vec<(String, String)>,
    /// Its stdin; empty when `None`.
    pub stdin: Option<Bytes>,
    /// More stdin may follow, by [`Running::input`].
    pub open_stdin: bool,
    /// Gives it a terminal of this size, its controlling one: all output comes as `Stdout`, and killing it is what
    /// hanging up is.
    pub terminal: Option<TerminalSize>,
    /// Its time, in milliseconds; at most the sandbox's `wall_ms`. The sandbox's default when `None`.
    pub timeout_ms: Option<u64>,
    /// Without a `timeout_ms` it may run as long as the sandbox.
    pub endless: bool,
    /// Past so many bytes of output it is killed. The sandbox's default when `None`.
    pub max_output_bytes: Option<u64>,
}

impl ExecRequest {
    /// A shell script with the defaults.
    pub fn shell(script: impl Into<String>) -> Self {
        Self::new(Command::Shell(script.into()))
    }

    /// A program and its arguments with the defaults.
    pub fn argv<S: Into<String>>(argv: impl IntoIterator<Item = S>) -> Self {
        Self::new(Command::Argv(argv.into_iter().map(Into::into).collect()))
    }

    fn new(command: Command) -> Self {
        Self {
            command,
            cwd: None,
            env: Vec::new(),
            stdin: None,
            open_stdin: false,
            terminal: None,
            timeout_ms: None,
            endless: false,
            max_output_bytes: None,
        }
    }
}

/// A piece of output, as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chunk {
    /// From stdout.
    Stdout(Bytes),
    /// From stderr.
    Stderr(Bytes),
}

/// How a command ended. Nothing of it is left by then.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecResult {
    /// Exit code, when it exited by itself.
    pub code: Option<i32>,
    /// The signal that killed it, otherwise.
    pub signal: Option<i32>,
    /// It ran into its time limit.
    pub timed_out: bool,
    /// Its end was asked for.
    pub killed: bool,
    /// Processes that it had left behind, and that were killed.
    pub leftovers_killed: u32,
    /// Wall time, in milliseconds.
    pub duration_ms: u64,
    /// Bytes of stdout that came through.
    pub stdout_bytes: u64,
    /// Bytes of stderr that came through.
    pub stderr_bytes: u64,
    /// What it cost.
    pub usage: Usage,
    /// The limits that were hit while it ran, where that can be known. `Memory` and `Pids` are those of the whole
    /// sandbox, so with several commands at once another may have hit them.
    pub limits_hit: Vec<LimitHit>,
}

impl ExecResult {
    /// True when it exited with code 0.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.code == Some(0)
    }
}

/// All of a command's output, with its result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecOutput {
    /// From stdout.
    pub stdout: Vec<u8>,
    /// From stderr.
    pub stderr: Vec<u8>,
    /// How it ended.
    pub result: ExecResult,
}

/// A running command. Dropping it kills the command with everything it started.
#[derive(Debug)]
pub struct Running {
    sandbox: Sandbox,
    call: Call,
    input: Input,
    limits: ExecLimits,
    before: Counters,
    watched: Option<Watched>,
    _occupied: Occupied,
    taken_bytes: u64,
    end: Option<Result<ExecResult, SandboxError>>,
}

impl Running {
    pub(crate) async fn start(sandbox: &Sandbox, request: ExecRequest) -> Result<Self, SandboxError> {
        let stdin = request.stdin.unwrap_or_default();
        if stdin.len() as u64 > MAX_STDIN_BYTES {
            let message = format!("stdin of {} bytes is over the limit of {MAX_STDIN_BYTES}", stdin.len());
            return Err(Failure::new(FailureKind::TooLarge, message).into());
        }
        let defaults = sandbox.limits();
        let timeout_ms = match request.timeout_ms {
            None if request.endless => None,
            wanted => Some(wanted.unwrap_or(defaults.command_timeout_ms).min(defaults.wall_ms)),
        };
        let mut limits = sandbox.exec_limits().clone();
        limits.max_output_bytes = request.max_output_bytes.or(limits.max_output_bytes);
        // A terminal is told the end of its input, which a missing one would not be.
        let has_stdin = !stdin.is_empty() || request.open_stdin || request.terminal.is_some();
        let spec = ExecSpec {
            command: request.command,
            cwd: request.cwd.map(RawPath::from),
            // Later ones win, so a request can say otherwise.
            env: [sandbox.network_variables(), &request.env].concat(),
            has_stdin,
            terminal: request.terminal,
            timeout_ms,
            limits: limits.clone(),
        };
        let occupied = sandbox.activity().occupy()?;
        let before = sandbox.counters();
        let budget_bytes = INITIAL_CREDIT_BYTES + CLOSING_BYTES;
        let call = Call::start_with(sandbox.link(), &Request::Exec(spec), budget_bytes).await?;
        let (sent_bytes, line) = (stdin.len() as u64, call.line());
        if has_stdin {
            line.send_data(stdin, !request.open_stdin).await?;
        }
        let input = Input::new(line, sent_bytes, !request.open_stdin);
        let watched = sandbox.disk().map(|disk| disk.enter(call.killer()));
        Ok(Self {
            sandbox: sandbox.clone(),
            call,
            input,
            limits,
            before,
            watched,
            _occupied: occupied,
            taken_bytes: 0,
            end: None,
        })
    }

    /// The next piece of output; `None` when the command has ended (how, says [`Running::wait`]).
    pub async fn next(&mut self) -> Option<Chunk> {
        if self.end.is_some() {
            return None;
        }
        match self.call.next().await {
            Ok((Response::Stdout, bytes)) => {
                self.take(&bytes);
                Some(Chunk::Stdout(bytes))
            }
            Ok((Response::Stderr, bytes)) => {
                self.take(&bytes);
                Some(Chunk::Stderr(bytes))
            }
            Ok((Response::Exited(end), _)) => {
                self.end = Some(Ok(self.result(end)));
                None
            }
            Ok((other, _)) => {
                self.end = Some(Err(unexpected(&other)));
                None
            }
            Err(error) => {
                self.end = Some(Err(error));
                None
            }
        }
    }

    /// Waits for the end. Output that has not been taken is dropped.
    ///
    /// # Errors
    /// When the command could not be started, or the guest died.
    pub async fn wait(mut self) -> Result<ExecResult, SandboxError> {
        while self.next().await.is_some() {}
        self.end.take().unwrap_or_else(|| Ok(ExecResult::default()))
    }

    /// Takes all output and waits for the end.
    ///
    /// # Errors
    /// As [`Running::wait`].
    pub async fn output(mut self) -> Result<ExecOutput, SandboxError> {
        let (mut stdout, mut stderr) = (BytesMut::new(), BytesMut::new());
        while let Some(chunk) = self.next().await {
            match chunk {
                Chunk::Stdout(bytes) => stdout.extend_from_slice(&bytes),
                Chunk::Stderr(bytes) => stderr.extend_from_slice(&bytes),
            }
        }
        let result = self.wait().await?;
        Ok(ExecOutput { stdout: stdout.into(), stderr: stderr.into(), result })
    }

    /// The way to send it more input, also while someone waits for its output.
    #[must_use]
    pub fn input(&self) -> Input {
        self.input.clone()
    }

    /// Says that its terminal has another size now.
    pub fn resize(&self, size: TerminalSize) {
        self.input.resize(size);
    }

    /// Kills the command with everything it started; its end is then waited for as usual.
    pub fn kill(&self) {
        self.call.kill();
    }

    /// Asks the command and everything it started to end, and kills what is left after a little while; its end is then
    /// waited for as usual.
    pub fn terminate(&self) {
        self.call.terminate();
    }

    fn take(&mut self, bytes: &Bytes) {
        self.taken_bytes += bytes.len() as u64 + CHUNK_COST_BYTES;
        if self.taken_bytes >= GRANT_BYTES {
            self.call.grant(self.taken_bytes);
            self.taken_bytes = 0;
        }
    }

    fn result(&self, end: ExecEnd) -> ExecResult {
        let after = self.sandbox.counters();
        self.sandbox.link().tell(after);
        let mut limits_hit = limits_hit(&end, &self.limits, self.before, after);
        limits_hit.extend(self.watched.as_ref().is_some_and(Watched::was_hit).then_some(LimitHit::Disk));
        ExecResult {
            code: end.code,
            signal: end.signal,
            timed_out: end.timed_out,
            killed: end.killed,
            leftovers_killed: end.leftovers_killed,
            duration_ms: end.duration_ms,
            stdout_bytes: end.stdout_bytes,
            stderr_bytes: end.stderr_bytes,
            usage: end.usage,
            limits_hit,
        }
    }
}

fn limits_hit(end: &ExecEnd, limits: &ExecLimits, before: Counters, after: Counters) -> Vec<LimitHit> {
    // A shell reports a child's death by signal as 128 + signal.
    let died_of = |signal: i32| end.signal == Some(signal) || end.code == Some(128 + signal);
    let hits = [
        (LimitHit::Memory, after.memory_kills > before.memory_kills || end.memory_kills > 0),
        (LimitHit::Pids, after.pids_refused > before.pids_refused || end.pids_refused > 0),
        (LimitHit::Time, end.timed_out),
        (LimitHit::Output, end.output_limit_hit),
        (LimitHit::Cpu, limits.cpu_seconds.is_some() && died_of(libc::SIGXCPU)),
        (LimitHit::FileSize, limits.file_size_bytes.is_some() && died_of(libc::SIGXFSZ)),
    ];
    hits.into_iter().filter_map(|(limit, hit)| hit.then_some(limit)).collect()
}

#[cfg(test)]
#[path = "exec_tests.rs"]
mod exec_tests;

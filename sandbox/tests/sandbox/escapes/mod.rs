//! Attempts to get out, in the shape of small programs and file operations, on whichever backend is under test.
//!
//! Each is made inside, and judged twice: by what it says itself (a line `ESCAPED …` is a failure, `refused …` is well),
//! and from outside, by bait that must be as it was: files, listeners, a process, settings of the kernel. All attempts
//! are listed by [`all`]; the outcomes are printed (`--nocapture`).

mod bait;
mod files;
mod git;
mod kernel;
mod network;
mod plain;
mod processes;
mod resources;
mod tools;

use std::collections::HashSet;

use retrace_sandbox::{ExecOutput, ExecRequest, IsolationLevel, Limits, Sandbox};

use crate::support::{Place, limits_the_whole, prints, slowly, text};
use bait::Bait;

/// One attempt by a command.
pub(super) struct Attempt {
    /// What it tries.
    pub(super) name: &'static str,
    /// How.
    pub(super) script: Script,
    /// What must come of it, besides that nothing is seen outside.
    pub(super) expect: Expect,
}

/// What is run.
#[derive(Clone, Copy)]
pub(super) enum Script {
    /// By a shell, which knows the function `try`.
    Shell(&'static str),
    /// By Python, after [`PRELUDE`].
    Python(&'static str),
}

/// What must come of an attempt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    /// All of its steps are refused.
    Refused,
    /// It may do it, and it has no effect outside of the sandbox.
    Contained,
    /// It is ended by a limit, or what it asks for is refused; the sandbox goes on.
    Bounded,
}

/// For Python: says of each step whether it was refused.
const PRELUDE: &str = r#"
import ctypes, errno, mmap, os, platform, signal, socket, struct, subprocess, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
env = os.environ
CLOSED = ('EPERM', 'EACCES', 'ENOSYS', 'EAFNOSUPPORT', 'ENOENT', 'EROFS')
def refused(what, why): print('refused', what, why, flush=True)
def escaped(what, value=''): print('ESCAPED', what, value, flush=True)
def attempt(what, action):
    try: value = action()
    except Exception as error: refused(what, errno.errorcode.get(getattr(error, 'errno', None), type(error).__name__))
    else: escaped(what, repr(value)[:100])
def call(what, number, *arguments, closed=CLOSED):
    """A system call that must not even look at its arguments."""
    if platform.machine() != 'x86_64': return refused(what, 'other processor')
    ctypes.set_errno(0)
    if libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]) >= 0:
        return escaped(what)
    name = errno.errorcode.get(ctypes.get_errno(), '?')
    refused(what, name) if name in closed else escaped(what, 'reached the kernel: ' + name)
def opens(path, flags): return os.close(os.open(path, flags))
"#;

const SHELL: &str = r#"
try() {
  if said=$("$@" 2>&1 </dev/null); then echo "ESCAPED $* $said"; else echo "refused $1 $2 ($?)"; fi
}
"#;

impl Script {
    /// The command line.
    pub(super) fn argv(self) -> [String; 3] {
        match self {
            Self::Shell(script) => ["sh".to_owned(), "-c".to_owned(), format!("{SHELL}\n{script}")],
            Self::Python(script) => ["python3".to_owned(), "-c".to_owned(), format!("{PRELUDE}\n{script}")],
        }
    }
}

/// All attempts by commands. Those by the file tools are in [`tools`], those on the host's git in [`git`].
pub(super) fn all() -> impl Iterator<Item = &'static Attempt> {
    [files::ATTEMPTS, kernel::ATTEMPTS, network::ATTEMPTS, processes::ATTEMPTS, resources::ATTEMPTS]
        .into_iter()
        .flatten()
}

/// Why this is an escape, or in one line how it was refused.
fn judge(attempt: &Attempt, output: &ExecOutput, bait: &Bait) -> Result<String, String> {
    let (said, complained) = (text(&output.stdout), text(&output.stderr));
    bait.check(&[&said, &complained])?;
    if let Some(line) = said.lines().find(|line| line.starts_with("ESCAPED")) {
        return Err(line.to_owned());
    }
    let result = &output.result;
    let refusals: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("refused ")).collect();
    match attempt.expect {
        Expect::Refused if refusals.is_empty() => {
            Err(format!("it says nothing of a refusal: {result:?} {said:.300} {complained:.300}"))
        }
        Expect::Refused => Ok(format!("refused with {}", refusals.join(", "))),
        Expect::Contained => Ok(format!("no effect outside (exit {:?}, signal {:?})", result.code, result.signal)),
        Expect::Bounded if result.limits_hit.is_empty() && result.succeeded() && refusals.is_empty() => {
            Err(format!("no limit was hit: {result:?} {said:.300}"))
        }
        Expect::Bounded => Ok(format!(
            "ended with exit {:?}, signal {:?}, limits {:?}{}{}",
            result.code,
            result.signal,
            result.limits_hit,
            if refusals.is_empty() { "" } else { ", refused " },
            refusals.join(", ")
        )),
    }
}

/// Small enough that a hog is stopped before the machine feels it.
fn limits() -> Limits {
    Limits {
        memory_bytes: Some(256 << 20),
        pids: 100,
        tmp_bytes: 64 << 20,
        file_size_bytes: 32 << 20,
        output_bytes: 4 << 20,
        cpu_seconds: 30,
        command_timeout_ms: slowly(20_000),
        ..Limits::default()
    }
}

/// Makes the attempts one after another, in one sandbox; all that get out are named together.
async fn none_succeeds(attempts: &[Attempt]) {
    let place = Place::new();
    let bait = Bait::lay(&place);
    let mut sandbox = place.start_with(limits()).await;
    // Some of this would do real harm.
    assert!(sandbox.level() > IsolationLevel::None);
    let mut escapes = Vec::new();
    for attempt in attempts {
        if attempt.name.contains("all memory") && !limits_the_whole() {
            tell(
                attempt.name,
                &Ok("left out: without a control group memory is only limited for each process".to_owned()),
            );
            continue;
        }
        let request = ExecRequest { env: bait.told(&place), ..ExecRequest::argv(attempt.script.argv()) };
        let outcome = match sandbox.exec(request).await.unwrap().output().await {
            Ok(output) => judge(attempt, &output, &bait),
            // It may take its own sandbox down, when that ends with a limit.
            Err(error) if attempt.expect == Expect::Bounded => {
                bait.check(&[&error.to_string()]).map(|()| error.to_string())
            }
            Err(error) => Err(format!("the guest is gone: {error}")),
        };
        tell(attempt.name, &outcome);
        if let Err(how) = outcome {
            escapes.push(format!("{}: {how}", attempt.name));
        }
        if sandbox.gone().is_some() {
            sandbox.shutdown().await;
            sandbox = place.start_with(limits()).await;
        }
        assert_well(&sandbox, attempt.name).await;
    }
    sandbox.shutdown().await;
    if let Err(how) = bait.check_after_the_end(&place) {
        escapes.push(how);
    }
    assert!(escapes.is_empty(), "{} got out:\n{}", escapes.len(), escapes.join("\n"));
}

/// The guest answers, and nothing of the attempt is left inside.
async fn assert_well(sandbox: &Sandbox, after: &str) {
    let script = "ls -d /proc/[0-9]* | wc -l; echo well";
    let said = prints(sandbox, script).await;
    let (processes, well) = said.split_once('\n').unwrap();
    assert_eq!(well, "well", "after {after}");
    // The guest with what the engine puts before it, its supervisor, and this shell with its pipe.
    assert!(processes.trim().parse::<u32>().unwrap() <= 9, "{processes} processes after {after}");
}

#[allow(clippy::print_stdout, reason = "the summary is for people")]
pub(super) fn tell(name: &str, outcome: &Result<String, String>) {
    match outcome {
        Ok(how) => println!("{name:<58} {how:.160}"),
        Err(how) => println!("{name:<58} !!! GOT OUT: {how}"),
    }
}

#[test]
fn the_table_is_long_enough_and_no_name_is_there_twice() {
    let names: Vec<&str> = all().map(|attempt| attempt.name).chain(tools::NAMES).chain(git::NAMES).collect();
    assert!(names.len() >= 80, "{}", names.len());
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
}

#[tokio::test]
async fn by_files_and_mounts() {
    none_succeeds(files::ATTEMPTS).await;
}

#[tokio::test]
async fn by_the_kernel() {
    none_succeeds(kernel::ATTEMPTS).await;
}

#[tokio::test]
async fn by_the_network() {
    none_succeeds(network::ATTEMPTS).await;
}

#[tokio::test]
async fn by_processes_and_the_guest() {
    none_succeeds(processes::ATTEMPTS).await;
}

#[tokio::test]
async fn by_using_everything_up() {
    none_succeeds(resources::ATTEMPTS).await;
}

//! `retrace-guest confine`: gives up rights and variables, then becomes another program (the guest that serves).
//!
//! For places where nobody else does it: a container's engine adds variables of its own, and in a microVM everything
//! starts as root, whatever user was asked for. It only ever takes away.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::machine::{self, MachineLimits};

/// The largest filter the kernel takes: 4096 instructions.
const MAX_FILTER_BYTES: usize = 4096 * size_of::<libc::sock_filter>();
/// Stands before the program. A microVM's arguments come over its kernel's command line, which ends at a `--`.
pub const THEN: &str = "then";
/// Capabilities are numbered from 0; the kernel knows fewer than these.
const MAX_CAPABILITIES: libc::c_ulong = 64;

/// What to give up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confinement {
    /// The user and group to become, where this is root.
    pub user: Option<(u32, u32)>,
    /// The only variables to keep; all of them when `None`.
    pub env_only: Option<BTreeSet<OsString>>,
    /// All variables there shall be, whatever there are: a microVM may lose those that it was given.
    pub env: Option<Vec<(OsString, OsString)>>,
    /// A file with a system call filter, as the kernel takes it.
    pub filter: Option<PathBuf>,
    /// Bounds to set in a microVM, where this is root.
    pub machine: Option<MachineLimits>,
    /// The only folders that stay writable in a microVM.
    pub writable: Vec<PathBuf>,
}

/// Why it could not be confined.
#[derive(Debug, thiserror::Error)]
pub enum ConfineError {
    /// The arguments are not ours.
    #[error(
        "usage: retrace-guest confine [--user <uid>:<gid>] [--env-only <name>,… | --env <name>:<hex>,…] [--filter <file>] \
         [--machine <memory>:<pids>:<shm>] [--writable <folder>]… then <program> …"
    )]
    Usage,
    /// The limits of a whole machine cannot be set. The kernel's release tells the host whose machine it is.
    #[error("cannot limit a machine with the kernel {kernel}: {source}")]
    Machine {
        /// The kernel's release.
        kernel: String,
        /// What the system says.
        source: io::Error,
    },
    /// One of the steps failed.
    #[error("cannot {step}: {source}")]
    Step {
        /// What was to be done.
        step: &'static str,
        /// What the system says.
        source: io::Error,
    },
}

impl Confinement {
    /// Reads the options; returns them with the program that follows.
    ///
    /// # Errors
    /// When they are not ours.
    pub fn parse(arguments: &[OsString]) -> Result<(Self, &[OsString]), ConfineError> {
        let mut confinement = Self::default();
        let mut rest = arguments;
        loop {
            match rest {
                [end, program @ ..] if (end == THEN || end == "--") && !program.is_empty() => {
                    return Ok((confinement, program));
                }
                [option, value, after @ ..] if option == "--user" => {
                    confinement.user = Some(ids(value).ok_or(ConfineError::Usage)?);
                    rest = after;
                }
                [option, value, after @ ..] if option == "--env-only" => {
                    let names = value.as_bytes().split(|byte| *byte == b',');
                    let names = names.map(|name| OsStr::from_bytes(name).to_os_string());
                    confinement.env_only = Some(names.collect());
                    rest = after;
                }
                [option, value, after @ ..] if option == "--env" => {
                    let parts = value.to_str().into_iter().flat_map(|text| text.split(','));
                    let variables = parts.map(variable).collect::<Option<Vec<_>>>();
                    confinement.env = Some(variables.ok_or(ConfineError::Usage)?);
                    rest = after;
                }
                [option, value, after @ ..] if option == "--filter" => {
                    confinement.filter = Some(value.into());
                    rest = after;
                }
                [option, value, after @ ..] if option == "--machine" => {
                    let limits = value.to_str().and_then(MachineLimits::parse);
                    confinement.machine = Some(limits.ok_or(ConfineError::Usage)?);
                    rest = after;
                }
                [option, value, after @ ..] if option == "--writable" => {
                    confinement.writable.push(value.into());
                    rest = after;
                }
                _ => return Err(ConfineError::Usage),
            }
        }
    }

    /// Gives everything up and becomes the program. Returns only when that failed.
    #[must_use]
    pub fn become_program(&self, program: &[OsString]) -> ConfineError {
        match self.try_become(program) {
            Ok(never) => match never {},
            Err(error) => error,
        }
    }

    fn try_become(&self, program: &[OsString]) -> Result<std::convert::Infallible, ConfineError> {
        if let Some(limits) = &self.machine {
            limits.enter().map_err(|source| ConfineError::Machine { kernel: kernel(), source })?;
            step("make the root read-only", machine::close_root(&self.writable))?;
            step("be the first process", machine::be_first())?;
        }
        if let Some((uid, gid)) = self.user.filter(|_| rustix::process::geteuid().is_root()) {
            drop_capabilities();
            step("change the user", change_user(uid, gid))?;
        }
        // SAFETY: a plain prctl call with integer arguments.
        step("forbid new privileges", check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }))?;
        if let Some(path) = &self.filter {
            step("install the system call filter", install_filter(path))?;
        }
        Err(ConfineError::Step { step: "start the program", source: self.execute(program) })
    }

    fn execute(&self, program: &[OsString]) -> io::Error {
        use std::os::unix::process::CommandExt as _;
        let Some((name, arguments)) = program.split_first() else { return io::ErrorKind::InvalidInput.into() };
        let mut command = std::process::Command::new(name);
        command.args(arguments);
        if let Some(variables) = &self.env {
            command.env_clear().envs(variables.iter().map(|(name, value)| (name, value)));
        } else if let Some(names) = &self.env_only {
            command.env_clear().envs(std::env::vars_os().filter(|(name, _)| names.contains(name)));
        }
        command.exec()
    }
}

/// Variables as `--env` takes them: values may hold what a kernel's command line cannot.
#[must_use]
pub fn encode_env(variables: &[(String, String)]) -> String {
    let hex = |value: &String| value.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    variables.iter().map(|(name, value)| format!("{name}:{}", hex(value))).collect::<Vec<_>>().join(",")
}

fn variable(text: &str) -> Option<(OsString, OsString)> {
    let (name, hex) = text.split_once(':').filter(|(name, hex)| !name.is_empty() && hex.is_ascii())?;
    let (digits, rest) = hex.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok().filter(|byte| *byte != 0);
    let value = digits.iter().map(byte).collect::<Option<Vec<u8>>>().filter(|_| rest.is_empty())?;
    Some((name.into(), OsStr::from_bytes(&value).to_os_string()))
}

fn ids(text: &OsString) -> Option<(u32, u32)> {
    let (uid, gid) = text.to_str()?.split_once(':')?;
    let pair = (uid.parse().ok()?, gid.parse().ok()?);
    // Root gives nothing up.
    (pair.0 != 0 && pair.1 != 0).then_some(pair)
}

/// What is not in the bounding set cannot be had again by any program. Those that the kernel does not know are none.
fn drop_capabilities() {
    for capability in 0..MAX_CAPABILITIES {
        // SAFETY: a plain prctl call with integer arguments.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
    }
}

/// The capabilities go with the last user id of root's.
fn change_user(uid: u32, gid: u32) -> io::Result<()> {
    // SAFETY: system calls on integers; the pointer is not read, since the list has no entries.
    unsafe {
        check(libc::setgroups(0, std::ptr::null()))?;
        check(libc::setresgid(gid, gid, gid))?;
        check(libc::setresuid(uid, uid, uid))
    }
}

/// A kernel without filters is left as it is: the host sees by its proof that there is none, and judges.
fn install_filter(path: &Path) -> io::Result<()> {
    let bytes = fs::read(path)?;
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, "it is not a filter");
    if bytes.is_empty() || bytes.len() > MAX_FILTER_BYTES {
        return Err(wrong());
    }
    let (instructions, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(wrong());
    }
    let mut filter: Vec<libc::sock_filter> = instructions
        .iter()
        .map(|[code_low, code_high, jt, jf, k @ ..]| libc::sock_filter {
            code: u16::from_ne_bytes([*code_low, *code_high]),
            jt: *jt,
            jf: *jf,
            k: u32::from_ne_bytes(*k),
        })
        .collect();
    let program =
        libc::sock_fprog { len: u16::try_from(filter.len()).map_err(|_| wrong())?, filter: filter.as_mut_ptr() };
    // SAFETY: the program and what it points to live until after the call, which copies them.
    let result =
        check(unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program, 0, 0) });
    match result {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) && !knows_filters() => Ok(()),
        result => result,
    }
}

fn knows_filters() -> bool {
    fs::read_to_string("/proc/self/status").map_or(true, |status| status.contains("\nSeccomp:"))
}

fn kernel() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

fn step(step: &'static str, result: io::Result<()>) -> Result<(), ConfineError> {
    result.map_err(|source| ConfineError::Step { step, source })
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
#[path = "confine_tests.rs"]
mod confine_tests;

//! The process between the guest and a command: a child subreaper that waits and reports.
//!
//! [`split`] runs in the child that `std::process` has forked, just before it would exec. It forks once more: the
//! grandchild returns and becomes the command, the child stays as supervisor. Between fork and exec only
//! async-signal-safe calls are allowed (the guest has threads), so everything here is a plain system call on memory
//! that was prepared before.

use std::io;
use std::os::fd::RawFd;

#[cfg(target_env = "gnu")]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
type Resource = libc::c_int;

/// One limit to set in the command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rlimit {
    pub(super) resource: Resource,
    pub(super) soft: u64,
    pub(super) hard: u64,
}

/// What the child needs to know, all of it prepared before the fork.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) channel: [RawFd; 2],
    pub(super) status: RawFd,
    pub(super) cwd: RawFd,
    /// Its stdin is a terminal, which becomes its controlling one.
    pub(super) has_terminal: bool,
    pub(super) limits: Vec<Rlimit>,
}

/// What the supervisor reports: when the command itself ends, and when nothing is left below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Report {
    /// The command's wait status; `None` in the last report.
    pub(super) main_status: Option<i32>,
    /// CPU time of all that has been waited for, in milliseconds.
    pub(super) cpu_ms: u64,
    /// The largest resident set of any of them, in KiB.
    pub(super) max_rss_kb: u64,
}

/// Bytes of a report on the pipe; far below `PIPE_BUF`, so it arrives whole.
pub(super) const REPORT_BYTES: usize = 32;

const KIND_MAIN: u64 = 1;
const KIND_LAST: u64 = 2;

impl Report {
    /// Decodes a report; `None` when it is not one.
    pub(super) fn decode(bytes: &[u8; REPORT_BYTES]) -> Option<Self> {
        let mut words = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word));
        let (kind, status) = (words.next()?, words.next()?);
        let main_status = match kind {
            KIND_MAIN => Some(i32::try_from(status).ok()?),
            KIND_LAST => None,
            _ => return None,
        };
        Some(Self { main_status, cpu_ms: words.next()?, max_rss_kb: words.next()? })
    }
}

/// Forks: returns in the command-to-be, never in the supervisor.
pub(super) fn split(plan: &Plan) -> io::Result<()> {
    // SAFETY: all calls are async-signal-safe and work on plain integers or on memory owned by `plan`.
    unsafe {
        // The signal comes when the guest's thread for this call ends, which is when the guest itself dies.
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0))?;
        check(libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))?;
        match libc::fork() {
            0 => become_command(plan),
            -1 => Err(io::Error::last_os_error()),
            main => supervise(main, plan.status),
        }
    }
}

unsafe fn become_command(plan: &Plan) -> io::Result<()> {
    // SAFETY: as in `split`.
    unsafe {
        for fd in plan.channel {
            libc::close(fd);
        }
        check(libc::setsid())?;
        if plan.has_terminal {
            check(libc::ioctl(0, libc::TIOCSCTTY, 0))?;
        }
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0))?;
        check(libc::fchdir(plan.cwd))?;
        prefer_as_oom_victim();
        for limit in &plan.limits {
            set_limit(*limit);
        }
        Ok(())
    }
}

/// Makes the kernel choose commands, not the guest, when memory runs out. Best effort.
unsafe fn prefer_as_oom_victim() {
    // SAFETY: as in `split`; the strings are static and end with a zero byte.
    unsafe {
        // `/proc/self` belongs to root while the process is not dumpable (which it inherited from the guest).
        libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0);
        let file = libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if file >= 0 {
            libc::write(file, c"1000".as_ptr().cast(), 4);
            libc::close(file);
        }
    }
}

/// Sets a limit, or the strictest that is allowed when the hard limit is lower already.
unsafe fn set_limit(limit: Rlimit) {
    // SAFETY: as in `split`; the structs live on this stack.
    unsafe {
        let mut current = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        if libc::getrlimit(limit.resource, &raw mut current) == 0 {
            let hard = limit.hard.min(current.rlim_max);
            let wanted = libc::rlimit { rlim_cur: limit.soft.min(hard), rlim_max: hard };
            libc::setrlimit(limit.resource, &raw const wanted);
        }
    }
}

/// Waits until nothing is left below, then exits.
unsafe fn supervise(main: libc::pid_t, status: RawFd) -> ! {
    // SAFETY: as in `split`; the structs live on this stack.
    unsafe {
        // A command may signal everything it can see; only SIGKILL may end the supervisor.
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
        // Every other fd (the command's pipes, the channel, std's exec pipe) must have no copy here.
        libc::dup2(status, 0);
        close_from(1);
        loop {
            let mut wait_status = 0;
            let pid = libc::wait4(-1, &raw mut wait_status, libc::__WALL, std::ptr::null_mut());
            if pid == main {
                report(KIND_MAIN, u64::from(wait_status.cast_unsigned()));
            } else if pid < 0 && *libc::__errno_location() != libc::EINTR {
                report(KIND_LAST, 0);
                libc::_exit(0);
            }
        }
    }
}

unsafe fn close_from(first: libc::c_uint) {
    // SAFETY: as in `split`.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) != 0 {
            // Kernels before 5.9; the guest's own limit is far below this.
            for fd in first.cast_signed()..4096 {
                libc::close(fd);
            }
        }
    }
}

unsafe fn report(kind: u64, status: u64) {
    // SAFETY: as in `split`; the structs live on this stack.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        let cpu_ms = milliseconds(usage.ru_utime).saturating_add(milliseconds(usage.ru_stime));
        let record = [kind, status, cpu_ms, usage.ru_maxrss.cast_unsigned()];
        libc::write(0, record.as_ptr().cast(), REPORT_BYTES);
    }
}

fn milliseconds(time: libc::timeval) -> u64 {
    time.tv_sec.cast_unsigned().saturating_mul(1000).saturating_add(time.tv_usec.cast_unsigned() / 1000)
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
#[path = "supervisor_tests.rs"]
mod supervisor_tests;

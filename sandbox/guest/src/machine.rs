//! Inside a microVM, while this is still root there: bounds that the host cannot set from outside.
//!
//! The host bounds the virtual machine as a whole, and when it reaches that bound all of it is gone. So memory and processes are
//! bounded inside as well, by control groups of the guest's own kernel: there only what is too much is killed, and
//! what they counted is told to the host. The root is made read-only here too (outside it is already), so that a command
//! hears at once that it cannot write there. The isolation rests on none of this: it is the virtual machine's.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr;

/// The group of everything that the guest starts, and where its counters are seen when `/sys` is covered.
const GROUP: &str = "/sys/fs/cgroup/retrace";
const COUNTERS: &str = "/dev/retrace-counters";
const HOST_NAME: &str = "retrace";
const TOP: &str = "/sys/fs/cgroup";
const SHARED_MEMORY: &str = "/dev/shm";

/// The bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MachineLimits {
    /// Memory of all processes together, in bytes.
    pub memory_bytes: u64,
    /// Processes and threads together.
    pub pids: u64,
    /// Shared memory (`/dev/shm`), in bytes.
    pub shm_bytes: u64,
}

impl MachineLimits {
    /// Reads `memory:pids:shm`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(':').map(|number| number.parse::<u64>().ok().filter(|number| *number > 0));
        let limits = Self { memory_bytes: numbers.next()??, pids: numbers.next()??, shm_bytes: numbers.next()?? };
        numbers.next().is_none().then_some(limits)
    }

    /// Puts them in force for this process and all that it starts.
    pub(crate) fn enter(&self) -> io::Result<()> {
        let write = |folder: &str, file: &str, value: &str| fs::write(Path::new(folder).join(file), value);
        write(TOP, "cgroup.subtree_control", "+memory +pids")?;
        fs::create_dir(GROUP)?;
        write(GROUP, "memory.max", &self.memory_bytes.to_string())?;
        write(GROUP, "pids.max", &self.pids.to_string())?;
        write(GROUP, "cgroup.procs", &std::process::id().to_string())?;
        // As on most hosts: what is too much is killed when it is used, not refused when it is asked for.
        let _ = fs::write("/proc/sys/vm/overcommit_memory", "1");
        // As on most hosts, too: the kernel's messages are for root.
        write_if_there("/proc/sys/kernel/dmesg_restrict", "1")?;
        // libkrun's kernel opens sockets for the internet on the host's side of the machine, where loopback is another one.
        write_if_there("/sys/module/kernel/parameters/tsi_hijack", "N")?;
        fs::create_dir(COUNTERS)?;
        mount(GROUP, COUNTERS.as_ref(), libc::MS_BIND, "")?;
        // As in a container: it describes the machine, and nothing in it is for commands.
        mount_kind("tmpfs", "/sys".as_ref(), libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NODEV, "size=4k")?;
        let options = format!("size={},mode=1777", self.shm_bytes);
        mount("", SHARED_MEMORY.as_ref(), libc::MS_REMOUNT | libc::MS_NOSUID | libc::MS_NODEV, &options)
    }
}

/// Changes a setting of the kernel; one that does not have it needs nothing.
fn write_if_there(setting: &str, value: &str) -> io::Result<()> {
    match fs::write(setting, value) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes the root read-only, but for these folders.
pub(crate) fn close_root(writable: &[PathBuf]) -> io::Result<()> {
    for folder in writable {
        mount(folder, folder, libc::MS_BIND | libc::MS_REC, "")?;
    }
    mount("", "/".as_ref(), libc::MS_REMOUNT | libc::MS_BIND | libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NODEV, "")
}

/// Goes on as the first process of a namespace of its own, as in a container: what it starts sees none but its own kind, and
/// can neither signal it nor, when it ends, outlive it. The network is its own too: nothing but loopback. Must be called while there is only one thread.
pub(crate) fn be_first() -> io::Result<()> {
    // SAFETY: plain system calls; there is one thread, so the new process may go on like this one.
    let child = unsafe {
        check(libc::sethostname(HOST_NAME.as_ptr().cast(), HOST_NAME.len()))?;
        check(libc::unshare(libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWNET))?;
        loopback_up()?;
        libc::fork()
    };
    match child {
        0 => mount_kind("proc", "/proc".as_ref(), libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC, ""),
        child if child < 0 => Err(io::Error::last_os_error()),
        child => wait_and_exit(child),
    }
}

fn loopback_up() -> io::Result<()> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0")?;
    // SAFETY: all of it may be zero; the name is shorter than its field, and the flags are of the union's kind that is asked for.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l'.cast_signed();
        request.ifr_name[1] = b'o'.cast_signed();
        request.ifr_ifru.ifru_flags = libc::c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or_default();
        check(libc::ioctl(std::os::fd::AsRawFd::as_raw_fd(&socket), libc::SIOCSIFFLAGS, &raw const request))
    }
}

/// Stays behind only to say how the other ended; its pipes are the other's.
fn wait_and_exit(child: libc::pid_t) -> ! {
    let mut status = 0;
    // SAFETY: system calls on integers, and on a number that lives here.
    unsafe {
        for descriptor in 0..3 {
            libc::close(descriptor);
        }
        while libc::waitpid(child, &raw mut status, 0) < 0
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
    }
    let code = if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) };
    std::process::exit(code)
}

fn mount(source: impl AsRef<Path>, target: &Path, flags: libc::c_ulong, options: &str) -> io::Result<()> {
    mount_any(source.as_ref(), target, None, flags, options)
}

fn mount_kind(kind: &str, target: &Path, flags: libc::c_ulong, options: &str) -> io::Result<()> {
    mount_any(kind.as_ref(), target, Some(kind), flags, options)
}

fn mount_any(source: &Path, target: &Path, kind: Option<&str>, flags: libc::c_ulong, options: &str) -> io::Result<()> {
    let source = CString::new(source.as_os_str().as_bytes())?;
    let target = CString::new(target.as_os_str().as_bytes())?;
    let kind = kind.map(CString::new).transpose()?;
    let options = CString::new(options)?;
    let kind = kind.as_ref().map_or(ptr::null(), |kind| kind.as_ptr());
    // SAFETY: the strings live until after the call.
    check(unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind, flags, options.as_ptr().cast()) })
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// What the group's limits have stopped so far; nothing where there is no such group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Stopped {
    pub(crate) memory_kills: u64,
    pub(crate) pids_refused: u64,
}

impl Stopped {
    pub(crate) fn now() -> Self {
        Self { memory_kills: event("memory.events", "oom_kill"), pids_refused: event("pids.events", "max") }
    }
}

fn event(file: &str, key: &str) -> u64 {
    let text = fs::read_to_string(Path::new(COUNTERS).join(file)).unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok()).unwrap_or_default()
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod machine_tests;

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

/// The group of everything that the guest starts.
const GROUP: &str = "/sys/fs/cgroup/retrace";
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
        let options = format!("size={},mode=1777", self.shm_bytes);
        mount("", SHARED_MEMORY.as_ref(), libc::MS_REMOUNT | libc::MS_NOSUID | libc::MS_NODEV, &options)
    }
}

/// Makes the root read-only, but for these folders.
pub(crate) fn close_root(writable: &[PathBuf]) -> io::Result<()> {
    for folder in writable {
        mount(folder, folder, libc::MS_BIND | libc::MS_REC, "")?;
    }
    mount("", "/".as_ref(), libc::MS_REMOUNT | libc::MS_BIND | libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NODEV, "")
}

fn mount(source: impl AsRef<Path>, target: &Path, flags: libc::c_ulong, options: &str) -> io::Result<()> {
    let source = CString::new(source.as_ref().as_os_str().as_bytes())?;
    let target = CString::new(target.as_os_str().as_bytes())?;
    let options = CString::new(options)?;
    // SAFETY: the strings live until after the call; no kind of file system is named, since none is mounted anew.
    let result = unsafe { libc::mount(source.as_ptr(), target.as_ptr(), ptr::null(), flags, options.as_ptr().cast()) };
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
    let text = fs::read_to_string(Path::new(GROUP).join(file)).unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok()).unwrap_or_default()
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod machine_tests;

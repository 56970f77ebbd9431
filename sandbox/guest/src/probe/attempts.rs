//! Trying what must not work. Everything that did work by mistake is undone again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::net::TcpStream;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::Path;
use std::time::Duration;

use super::{Attempt, Observations, ProbePlan};

/// Kernel settings that would give a root-owned process the host.
const KERNEL_SETTINGS: [&str; 3] =
    ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger"];
/// A connection that is going to work does so at once on loopback.
const CONNECT_TIME: Duration = Duration::from_millis(100);

/// Tries everything that the plan names.
pub(super) fn observe(plan: &ProbePlan, seen: &mut Observations) {
    seen.tcp = plan.tcp.iter().map(|address| attempt(TcpStream::connect_timeout(address, CONNECT_TIME))).collect();
    seen.abstract_socket = Some(attempt(
        SocketAddr::from_abstract_name(&plan.abstract_socket).and_then(|address| UnixStream::connect_addr(&address)),
    ));
    seen.canaries = plan.canaries.iter().map(|path| (path.clone(), attempt(File::open(path.as_path())))).collect();
    seen.writes = plan
        .write_dirs
        .iter()
        .map(|dir| (dir.clone(), attempt(create_and_remove(&dir.as_path().join(&plan.marker)))))
        .collect();
    seen.masked = plan.masked.iter().map(|path| (path.clone(), readable_bytes(path.as_path()).ok())).collect();
    seen.host_process_visible =
        plan.host_process.is_some_and(|(pid, started_ticks)| start_of(pid) == Some(started_ticks));
    seen.kernel_settings = KERNEL_SETTINGS
        .iter()
        .map(|path| (path.into(), attempt(OpenOptions::new().write(true).open(path))))
        .collect();
    // SAFETY: system calls on integers and static strings. They change this short-lived process at most.
    unsafe {
        seen.ptrace = Some(result_of(libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0)));
        let (name, kind) = (c"retrace-probe".as_ptr(), c"tmpfs".as_ptr());
        seen.mount = Some(result_of(libc::mount(name, c"/tmp".as_ptr(), kind, 0, std::ptr::null()).into()));
        seen.unshare = Some(result_of(libc::unshare(libc::CLONE_NEWUSER).into()));
    }
}

fn attempt<T>(result: io::Result<T>) -> Attempt {
    match result {
        Ok(_) => Attempt::Succeeded,
        Err(error) => Attempt::Failed { errno: error.raw_os_error().unwrap_or_default(), text: error.to_string() },
    }
}

fn result_of(result: libc::c_long) -> Attempt {
    attempt(if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) })
}

fn create_and_remove(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?;
    fs::remove_file(path)
}

fn readable_bytes(path: &Path) -> io::Result<u64> {
    let mut bytes = Vec::new();
    File::open(path)?.take(64 * 1024).read_to_end(&mut bytes)?;
    Ok(bytes.len() as u64)
}

/// When a process started, in clock ticks since boot; together with its id this names it uniquely.
fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(19)?.parse().ok()
}

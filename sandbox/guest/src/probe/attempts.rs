//! Trying what must not work. Each attempt is harmless where it does: this also runs when the isolation is broken.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::net::TcpStream;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Attempt, Observations, ProbePlan};
use crate::raw_path::RawPath;

/// Kernel settings that would give a root-owned process the host; more are looked for.
const KERNEL_SETTINGS: [&str; 3] =
    ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger"];
/// The most entries looked at below each folder of `/proc`, and the most files tried there.
const MAX_ENTRIES: usize = 200;
const MAX_TRIED: usize = 4;
/// A connection that is going to work does so at once on loopback.
const CONNECT_TIME: Duration = Duration::from_millis(100);

/// Tries everything that the plan names.
pub(super) fn observe(plan: &ProbePlan, seen: &mut Observations) {
    observe_files_and_sockets(plan, seen);
    observe_privileges(seen);
}

/// What leaves this process as it is.
pub(super) fn observe_files_and_sockets(plan: &ProbePlan, seen: &mut Observations) {
    seen.tcp = plan.tcp.iter().map(|address| attempt(TcpStream::connect_timeout(address, CONNECT_TIME))).collect();
    seen.abstract_socket = Some(attempt(
        SocketAddr::from_abstract_name(&plan.abstract_socket).and_then(|address| UnixStream::connect_addr(&address)),
    ));
    seen.sockets =
        plan.sockets.iter().map(|path| (path.clone(), attempt(UnixStream::connect(path.as_path())))).collect();
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
        .map(PathBuf::from)
        .chain(kernel_files())
        // Opening changes nothing; nothing is written, nor truncated.
        .map(|path| (RawPath::from(&path), attempt(OpenOptions::new().write(true).open(path))))
        .collect();
}

fn observe_privileges(seen: &mut Observations) {
    // SAFETY: system calls on integers and static strings. They change this short-lived process at most.
    unsafe {
        seen.ptrace = Some(result_of(libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0)));
        // No such file system exists, so where mounting is allowed this fails too, only otherwise: it must do no harm
        // where nothing is isolated.
        let (name, kind) = (c"retrace-probe".as_ptr(), c"retrace-no-such-fs".as_ptr());
        let mount = result_of(libc::mount(name, c"/".as_ptr(), kind, 0, std::ptr::null()).into());
        let denied = matches!(mount, Attempt::Failed { errno: libc::EPERM | libc::EACCES, .. });
        seen.mount = Some(if denied { mount } else { Attempt::Succeeded });
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

/// Files of `/proc` that are not about processes and whose mode allows writing: a few of each folder.
fn kernel_files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let is_process = entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit());
        if !is_process && entry.file_type().is_ok_and(|file_type| !file_type.is_symlink()) {
            found.extend(writable_files(entry.path()));
        }
    }
    found
}

fn writable_files(top: PathBuf) -> Vec<PathBuf> {
    let (mut found, mut open, mut entries) = (Vec::new(), vec![top], 0);
    while let Some(path) = open.pop() {
        entries += 1;
        if entries > MAX_ENTRIES || found.len() >= MAX_TRIED {
            break;
        }
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        if metadata.is_dir() {
            open.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else if metadata.is_file() && metadata.permissions().mode() & 0o222 != 0 {
            found.push(path);
        }
    }
    found
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

//! Groups of programs that died without cleaning up.
//!
//! A group's name holds the process id *and* start time of the program that made it, so that a reused id is not
//! mistaken for the old owner, and its pid namespace, since a process of another namespace cannot be seen from here.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::group::{kill_members, remove_dir};

const PREFIX: &str = "retrace-";

/// The name for a new group of this program.
pub(super) fn group_name(number: u64) -> String {
    format!("{PREFIX}{}-{number}", owner_mark())
}

/// Names this run of this program, for what it may leave behind.
pub(crate) fn owner_mark() -> String {
    let pid = std::process::id();
    format!("{}-{pid}-{}", pid_namespace(), start_ticks(pid).unwrap_or_default())
}

/// Whether a mark is of our namespace, and the program that made it is gone.
pub(crate) fn owner_is_gone(mark: &str) -> bool {
    is_gone(mark, pid_namespace(), start_of)
}

/// Removes the groups of dead programs.
pub(super) fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if is_stale(&name, pid_namespace(), start_of) {
            kill_members(&entry.path());
            // What does not go at once goes at the next start.
            remove_dir(&entry.path());
        }
    }
}

/// Whether a name is one of ours, of this namespace, and its owner is gone.
pub(super) fn is_stale(name: &str, namespace: u64, start_of: impl Fn(u32) -> io::Result<Option<u64>>) -> bool {
    let mark = name.strip_prefix(PREFIX).and_then(|rest| rest.rsplit_once('-'));
    mark.is_some_and(|(mark, _)| is_gone(mark, namespace, start_of))
}

fn is_gone(mark: &str, namespace: u64, start_of: impl Fn(u32) -> io::Result<Option<u64>>) -> bool {
    let parts: Vec<&str> = mark.split('-').collect();
    let [of_namespace, pid, started] = parts.as_slice() else { return false };
    match (of_namespace.parse::<u64>(), pid.parse(), started.parse()) {
        (Ok(of_namespace), Ok(pid), Ok(started)) if of_namespace == namespace => {
            // An owner that cannot be looked at, for want of a file descriptor perhaps, is not a dead one.
            start_of(pid).is_ok_and(|found| found != Some(started))
        }
        _ => false,
    }
}

/// The identity of our pid namespace.
fn pid_namespace() -> u64 {
    fs::metadata("/proc/self/ns/pid").map_or(0, |namespace| namespace.ino())
}

/// When a process started, in clock ticks since boot.
pub(crate) fn start_ticks(pid: u32) -> Option<u64> {
    start_of(pid).ok().flatten()
}

/// As [`start_ticks`]; `None` only when there is no such process.
pub(super) fn start_of(pid: u32) -> io::Result<Option<u64>> {
    let stat = match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat,
        // The second one when it ends in this moment.
        Err(error) if error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let ticks =
        stat.rsplit_once(')').and_then(|(_, after_name)| after_name.split_ascii_whitespace().nth(19)?.parse().ok());
    ticks.map(Some).ok_or_else(|| io::Error::other("no line about a process"))
}

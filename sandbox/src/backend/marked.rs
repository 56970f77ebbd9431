//! Processes that carry a sandbox's mark in their environment, however far they are from us in the tree.

use std::fs;

use retrace_guest::SANDBOX_ID_VARIABLE;
use rustix::process::{Pid, Signal, kill_process};

/// Kills the marked processes that are meant, by process and by sandbox; whether there were any.
pub(super) fn kill(is_meant: impl Fn(Pid, &str) -> bool) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|process| Pid::from_raw(process.file_name().to_str()?.parse().ok()?));
    let mut found_some = false;
    for pid in pids.filter(|pid| sandboxes_of(*pid).iter().any(|sandbox| is_meant(*pid, sandbox))) {
        found_some = true;
        // It may have ended by itself.
        let _ = kill_process(pid, Signal::KILL);
    }
    found_some
}

/// Whose environment cannot be read has no mark of ours.
fn sandboxes_of(pid: Pid) -> Vec<String> {
    let environ = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default();
    let entries = environ.split(|byte| *byte == 0).filter_map(|entry| str::from_utf8(entry).ok());
    let values = entries.filter_map(|entry| entry.strip_prefix(SANDBOX_ID_VARIABLE)?.strip_prefix('='));
    values.map(str::to_owned).collect()
}

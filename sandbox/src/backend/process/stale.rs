//! Removes what the sudden end of a program can leave of a sandbox that was just being made.
//!
//! bubblewrap's inner process waits for the outer one before it asks the kernel to end with it; when that one is killed in this
//! moment, it waits for ever. It is in no control group yet, so it is known by its environment.

use std::fs;
use std::sync::Once;

use retrace_guest::SANDBOX_ID_VARIABLE;
use rustix::process::{Pid, Signal, kill_process};

use crate::cgroup::owner_is_gone;

/// As the kernel calls it.
const COMMAND: &[u8] = b"bwrap\n";

/// Looks once in the life of this program.
pub(super) fn sweep_once() {
    static SWEPT: Once = Once::new();
    SWEPT.call_once(sweep);
}

pub(super) fn sweep() {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|process| process.file_name().to_str()?.parse::<i32>().ok());
    for pid in pids.filter(|pid| is_stale(*pid)).filter_map(Pid::from_raw) {
        // It may have ended by itself.
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn is_stale(pid: i32) -> bool {
    if fs::read(format!("/proc/{pid}/comm")).is_ok_and(|name| name != COMMAND) {
        return false;
    }
    let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let mut marks = environ.split(|byte| *byte == 0).filter_map(|entry| {
        let value = str::from_utf8(entry).ok()?.strip_prefix(SANDBOX_ID_VARIABLE)?.strip_prefix('=')?;
        Some(value.rsplit_once('-')?.0)
    });
    marks.any(owner_is_gone)
}

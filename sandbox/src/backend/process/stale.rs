//! Removes what the sudden end of a program can leave of a sandbox that was just being made.
//!
//! bubblewrap's inner process waits for the outer one before it asks the kernel to end with it; when that one is killed in this
//! moment, it waits for ever. It is in no control group yet, so it is known by its environment.

use std::fs;
use std::sync::Once;

use rustix::process::Pid;

use crate::backend::marked;
use crate::cgroup::owner_is_gone;

/// Looks once in the life of this program.
pub(super) fn sweep_once() {
    static SWEPT: Once = Once::new();
    SWEPT.call_once(sweep);
}

pub(super) fn sweep() {
    marked::kill(|pid, sandbox| {
        sandbox.rsplit_once('-').is_some_and(|(owner, _)| owner_is_gone(owner)) && is_bubblewrap(pid)
    });
}

fn is_bubblewrap(pid: Pid) -> bool {
    fs::read(format!("/proc/{}/comm", pid.as_raw_nonzero())).is_ok_and(|name| name == b"bwrap\n")
}

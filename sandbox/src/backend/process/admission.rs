//! Moves a sandbox's processes into its control group while it starts.
//!
//! Moving takes the kernel up to 15 ms, three times what the whole start takes, so it goes on beside it. Nothing runs
//! in the guest before it is complete, and what the guest starts afterwards is born in the group.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::pipe::{PipeFlags, pipe_with};
use serde::Deserialize;

use crate::cgroup::Doors;

/// The most bytes that bubblewrap reports about its child.
const MAX_INFO_BYTES: u64 = 4096;

/// What bubblewrap reports.
#[derive(Deserialize)]
struct Info {
    #[serde(rename = "child-pid")]
    child_pid: u32,
}

/// The guest's process id on the host, once it is known; 0 before.
#[derive(Debug, Clone, Default)]
pub(super) struct GuestPid(Arc<AtomicU32>);

impl GuestPid {
    pub(super) fn get(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }
}

/// A pipe for bubblewrap's report: our end, and the one for it.
pub(super) fn report_pipe() -> io::Result<(File, OwnedFd)> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok((File::from(reader), writer))
}

/// Moves the outer process, and the guest as soon as it is known, into the group. Blocks.
pub(super) fn admit_all(outer_pid: u32, report: File, mut doors: Doors, guest_pid: &GuestPid) -> io::Result<()> {
    doors.admit(outer_pid)?;
    // Not to the end of the pipe, of which another process may have a copy; one whole object is all there is.
    let mut objects = serde_json::Deserializer::from_reader(report.take(MAX_INFO_BYTES)).into_iter::<Info>();
    let info = objects.next().ok_or(io::ErrorKind::UnexpectedEof)??;
    doors.admit(info.child_pid)?;
    guest_pid.0.store(info.child_pid, Ordering::Release);
    Ok(())
}

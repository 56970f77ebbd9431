//! Tells at once when memory runs out in a control group of someone else's, who removes it soon after.
//!
//! The counters go with the group, and the news of a container's end may come later than that. The kernel tells of its
//! own accord: version 1 through an event descriptor for `memory.oom_control`
//! (<https://docs.kernel.org/admin-guide/cgroup-v1/memory.html#oom-control>), version 2 as a change of `memory.events`
//! (<https://docs.kernel.org/admin-guide/cgroup-v2.html#memory-interface-files>).

use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::inotify;
use tokio::io::unix::AsyncFd;

use super::group::Group;
use super::place::Version;

/// Rings when memory runs out in a group; also at the group's end, and in version 2 whenever the limit was met.
#[derive(Debug)]
pub(crate) struct Alarm {
    bell: AsyncFd<OwnedFd>,
    version: Version,
}

impl Alarm {
    pub(super) fn of(group: &Group) -> io::Result<Self> {
        let bell = match group.version {
            Version::V1 => {
                let bell = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
                let watched = fs::File::open(group.dir.join("memory.oom_control"))?;
                let order = format!("{} {}", bell.as_raw_fd(), watched.as_raw_fd());
                fs::write(group.dir.join("cgroup.event_control"), order)?;
                bell
            }
            Version::V2 => {
                let bell = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)?;
                inotify::add_watch(&bell, group.dir.join("memory.events"), inotify::WatchFlags::MODIFY)?;
                bell
            }
        };
        // SAFETY: it is owned, so it stays open and the same for as long as this is there.
        let bell = unsafe { AsyncFd::register(bell) }?;
        Ok(Self { bell, version: group.version })
    }

    /// Whether it rings before the kernel has killed and counted, not after.
    pub(crate) fn is_early(&self) -> bool {
        self.version == Version::V1
    }

    /// Waits until it rings.
    pub(crate) async fn rings(&self) -> io::Result<()> {
        loop {
            let mut ready = self.bell.readable().await?;
            // How often it rang does not matter, only that it did.
            let mut silenced = [0; 4096];
            match ready.try_io(|bell| Ok(rustix::io::read(bell, &mut silenced)?)) {
                Ok(result) => return result.map(|_| ()),
                Err(_would_block) => {}
            }
        }
    }
}

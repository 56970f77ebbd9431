//! A control group for one sandbox: limits of the whole process tree, where this user may set them.
//!
//! Versions 1 and 2 both exist in the wild; whichever is writable is used, each controller on its own. Without one the
//! caller falls back to limits per process. Groups that a dead program left behind are removed by the next one.

mod place;
mod stale;

pub(crate) use stale::start_ticks;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use place::{Controller, Place, Version};

use crate::backend::Counters;
use crate::limits::{Limits, size};
use crate::proof::Proof;

/// How often removing a group is tried while its processes are still being reaped.
const REMOVE_ATTEMPTS: u32 = 200;
const REMOVE_PAUSE: Duration = Duration::from_millis(5);
/// The same where nothing else can go on meanwhile.
const DROP_ATTEMPTS: u32 = 20;

/// The control group of one sandbox. Dropping it kills what is in it and removes it, as far as that goes at once.
#[derive(Debug, Default)]
pub(crate) struct Cgroup {
    memory: Option<Group>,
    pids: Option<Group>,
    limits: (u64, u64),
}

/// The open doors of a control group.
#[derive(Debug)]
pub(crate) struct Doors(Vec<File>);

impl Doors {
    /// Moves a process in. The first time in a while the kernel takes some 15 ms for it.
    pub(crate) fn admit(&mut self, pid: u32) -> io::Result<()> {
        self.0.iter_mut().try_for_each(|door| io::Write::write_all(door, pid.to_string().as_bytes()))
    }
}

/// A folder of our own in the control group file system.
#[derive(Debug, Clone)]
struct Group {
    version: Version,
    dir: PathBuf,
}

impl Cgroup {
    /// Makes what can be made; both parts may be missing.
    pub(crate) fn create(limits: &Limits) -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let name = stale::group_name(COUNTER.fetch_add(1, Ordering::Relaxed));
        let memory = make(Controller::Memory, &name, |group| group.limit_memory(limits.memory_bytes));
        let pids =
            make(Controller::Pids, &name, |group| fs::write(group.dir.join("pids.max"), limits.pids.to_string()));
        Self { memory, pids, limits: (limits.memory_bytes, limits.pids) }
    }

    /// As on a machine where no group can be made.
    #[cfg(test)]
    pub(crate) fn none(limits: &Limits) -> Self {
        Self { memory: None, pids: None, limits: (limits.memory_bytes, limits.pids) }
    }

    pub(crate) fn limits_memory(&self) -> bool {
        self.memory.is_some()
    }

    pub(crate) fn limits_pids(&self) -> bool {
        self.pids.is_some()
    }

    /// Files through which processes are moved in.
    pub(crate) fn doors(&self) -> io::Result<Doors> {
        let open = |dir: &Path| OpenOptions::new().write(true).open(dir.join("cgroup.procs"));
        Ok(Doors(self.dirs().into_iter().map(open).collect::<Result<_, _>>()?))
    }

    pub(crate) fn counters(&self) -> Counters {
        let read = |group: &Option<Group>, v1: &str, v2: &str, key: &str| {
            let group = group.as_ref()?;
            let file = if group.version == Version::V1 { v1 } else { v2 };
            keyed(&fs::read_to_string(group.dir.join(file)).ok()?, key)
        };
        Counters {
            memory_kills: read(&self.memory, "memory.oom_control", "memory.events", "oom_kill").unwrap_or_default(),
            pids_refused: read(&self.pids, "pids.events", "pids.events", "max").unwrap_or_default(),
        }
    }

    /// Shows that the process is in the groups and that their limits read as set.
    pub(crate) fn proofs(&self, pid: u32) -> Vec<Proof> {
        let mut proofs = Vec::new();
        let (memory_bytes, pids) = self.limits;
        if let Some(group) = &self.memory {
            let file = if group.version == Version::V1 { "memory.limit_in_bytes" } else { "memory.max" };
            // The kernel rounds to pages.
            let passed = group.holds(pid) && group.number(file).is_some_and(|limit| limit <= memory_bytes);
            proofs.push(Proof::new(
                "memory limit in force",
                passed,
                format!("{} for all together", size(memory_bytes)),
            ));
        }
        if let Some(group) = &self.pids {
            let passed = group.holds(pid) && group.number("pids.max") == Some(pids);
            proofs.push(Proof::new("process limit in force", passed, format!("{pids} for all together")));
        }
        proofs
    }

    /// Kills everything in it.
    pub(crate) fn kill(&self) {
        for dir in self.dirs() {
            kill_members(dir);
        }
    }

    /// Kills everything in it and removes it.
    pub(crate) async fn remove(&mut self) {
        for _ in 0..REMOVE_ATTEMPTS {
            self.kill();
            if self.try_remove() {
                return;
            }
            tokio::time::sleep(REMOVE_PAUSE).await;
        }
        tracing::warn!(groups = ?self.dirs(), "cannot remove a sandbox's control group");
    }

    fn try_remove(&mut self) -> bool {
        for group in [&mut self.memory, &mut self.pids] {
            if group.as_ref().is_some_and(|group| remove_dir(&group.dir)) {
                *group = None;
            }
        }
        self.memory.is_none() && self.pids.is_none()
    }

    fn dirs(&self) -> Vec<&Path> {
        let mut dirs: Vec<&Path> =
            [&self.memory, &self.pids].into_iter().flatten().map(|group| group.dir.as_path()).collect();
        dirs.dedup();
        dirs
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // Only reached when nobody could clean up in time, as at the end of a program.
        for _ in 0..DROP_ATTEMPTS {
            if self.dirs().is_empty() {
                return;
            }
            self.kill();
            if !self.try_remove() {
                std::thread::sleep(REMOVE_PAUSE);
            }
        }
    }
}

impl Group {
    fn limit_memory(&self, memory_bytes: u64) -> io::Result<()> {
        let (limit, swap, swap_value) = match self.version {
            Version::V1 => ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", memory_bytes),
            Version::V2 => ("memory.max", "memory.swap.max", 0),
        };
        fs::write(self.dir.join(limit), memory_bytes.to_string())?;
        // Missing where the kernel does not account for swap.
        let _ = OpenOptions::new()
            .write(true)
            .open(self.dir.join(swap))
            .and_then(|mut file| io::Write::write_all(&mut file, swap_value.to_string().as_bytes()));
        Ok(())
    }

    fn holds(&self, pid: u32) -> bool {
        members(&self.dir).contains(&pid.cast_signed())
    }

    fn number(&self, file: &str) -> Option<u64> {
        fs::read_to_string(self.dir.join(file)).ok()?.trim().parse().ok()
    }
}

/// Tries the places where a group with this controller could be, until one lets us set the limit and join.
fn make(controller: Controller, name: &str, limit: impl Fn(&Group) -> io::Result<()>) -> Option<Group> {
    for Place { version, parent } in place::candidates(controller) {
        stale::sweep(&parent);
        let dir = parent.join(name);
        let made = fs::create_dir(&dir).or_else(|error| match error.kind() {
            // Version 2 keeps both controllers in one folder.
            io::ErrorKind::AlreadyExists => Ok(()),
            _ => Err(error),
        });
        if made.is_err() {
            continue;
        }
        let group = Group { version, dir };
        if limit(&group).is_ok() && may_join(&group.dir) {
            return Some(group);
        }
        remove_dir(&group.dir);
    }
    None
}

/// Joining needs write access here and, in version 2, to the group that both have in common.
fn may_join(dir: &Path) -> bool {
    let open = |dir: &Path| File::options().write(true).open(dir.join("cgroup.procs")).is_ok();
    open(dir) && dir.parent().is_some_and(open)
}

fn members(dir: &Path) -> Vec<i32> {
    let list = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
    list.lines().filter_map(|line| line.trim().parse().ok()).collect()
}

fn kill_members(dir: &Path) {
    // Version 2 kills all at once; where that file is missing, one by one.
    if OpenOptions::new()
        .write(true)
        .open(dir.join("cgroup.kill"))
        .is_ok_and(|mut file| io::Write::write_all(&mut file, b"1").is_ok())
    {
        return;
    }
    for pid in members(dir).into_iter().filter(|pid| *pid > 1).filter_map(rustix::process::Pid::from_raw) {
        // It may have ended by itself.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

fn remove_dir(dir: &Path) -> bool {
    fs::remove_dir(dir).map_or_else(|error| error.kind() == io::ErrorKind::NotFound, |()| true)
}

/// The number after a key, in files with lines of `key number`.
fn keyed(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests;

//! A control group for one sandbox: limits of the whole process tree, where this user may set them.
//!
//! Versions 1 and 2 both exist in the wild; whichever is writable is used, each controller on its own. Without one the
//! caller falls back to limits per process. Groups that a dead program left behind are removed by the next one.

mod alarm;
mod group;
mod place;
mod stale;
mod watched;

pub(crate) use alarm::Alarm;
pub(crate) use stale::{owner_is_gone, owner_mark, start_ticks};
pub(crate) use watched::Watched;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use group::{Group, remove_dir};
use place::{Controller, Place};

use crate::backend::Counters;
use crate::limits::Limits;
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
    cpu: Option<Group>,
    limits: Limits,
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

impl Cgroup {
    /// Makes what can be made; both parts may be missing.
    pub(crate) fn create(limits: &Limits) -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let name = stale::group_name(COUNTER.fetch_add(1, Ordering::Relaxed));
        let memory = make(Controller::Memory, &name, |group| group.limit_memory(limits.memory()));
        let pids = make(Controller::Pids, &name, |group| group.limit_pids(limits.pids));
        let cpu = limits.cpus.and_then(|cpus| make(Controller::Cpu, &name, |group| group.limit_cpus(cpus)));
        Self { memory, pids, cpu, limits: limits.clone() }
    }

    /// As on a machine where no group can be made.
    #[cfg(test)]
    pub(crate) fn none(limits: &Limits) -> Self {
        Self { memory: None, pids: None, cpu: None, limits: limits.clone() }
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
        Counters {
            memory_kills: self.memory.as_ref().map_or(0, Group::memory_kills),
            pids_refused: self.pids.as_ref().map_or(0, Group::pids_refused),
        }
    }

    /// Shows that the process is in the groups and that their limits read as set.
    pub(crate) fn proofs(&self, pid: u32) -> Vec<Proof> {
        let mut proofs = Vec::new();
        if let Some(group) = &self.memory {
            proofs.push(group.memory_proof(self.limits.memory(), group.holds(pid)));
        }
        if let Some(group) = &self.pids {
            proofs.push(group.pids_proof(self.limits.pids, group.holds(pid)));
        }
        if let Some(cpus) = self.limits.cpus {
            proofs.push(match &self.cpu {
                Some(group) => group.cpus_proof(cpus, group.holds(pid)),
                None => group::no_cpu_group(),
            });
        }
        proofs
    }

    /// Kills everything in it.
    pub(crate) fn kill(&self) {
        for dir in self.dirs() {
            group::kill_members(dir);
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
        for group in [&mut self.memory, &mut self.pids, &mut self.cpu] {
            if group.as_ref().is_some_and(|group| remove_dir(&group.dir)) {
                *group = None;
            }
        }
        self.memory.is_none() && self.pids.is_none() && self.cpu.is_none()
    }

    fn dirs(&self) -> Vec<&Path> {
        let mut dirs: Vec<&Path> =
            [&self.memory, &self.pids, &self.cpu].into_iter().flatten().map(|group| group.dir.as_path()).collect();
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

#[cfg(test)]
mod tests;

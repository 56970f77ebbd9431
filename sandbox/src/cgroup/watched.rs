//! The control groups of a container, which someone else made: read, and written only to give a microVM its room.
//!
//! They may be several, one in another, and which of them is limited differs: crun 1.8 with systemd leaves the scope that
//! bears the container's name unlimited, and limits a group `container` in it.

use std::io;

use super::alarm::Alarm;
use super::group::{Group, no_cpu_group};
use super::place::{Controller, marked};
use crate::backend::Counters;
use crate::limits::Limits;
use crate::proof::Proof;

/// The groups of one container by controller, the outermost first; none where they cannot be seen from here.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    pub(super) memory: Vec<Group>,
    pub(super) pids: Vec<Group>,
    pub(super) cpu: Vec<Group>,
}

impl Watched {
    /// Those of this process, from the one whose name holds the container's id.
    pub(crate) fn of(pid: u32, container_id: &str) -> Self {
        let find = |controller| {
            let places = marked(controller, pid, container_id).into_iter();
            places.map(|place| Group { version: place.version, dir: place.parent }).collect()
        };
        Self { memory: find(Controller::Memory), pids: find(Controller::Pids), cpu: find(Controller::Cpu) }
    }

    /// As of a container whose group, of version 2, is this folder.
    #[cfg(test)]
    pub(crate) fn at(dir: &std::path::Path) -> Self {
        let group = Group { version: super::place::Version::V2, dir: dir.to_path_buf() };
        Self { memory: vec![group], ..Self::default() }
    }

    /// Allows more memory than its maker did.
    pub(crate) fn raise_memory(&self, memory_bytes: u64) -> io::Result<()> {
        let is_below = |group: &&Group| group.memory_limit().is_some_and(|limit| limit < memory_bytes);
        self.memory.iter().filter(is_below).try_for_each(|group| group.raise_memory(memory_bytes))
    }

    pub(crate) fn counters(&self) -> Counters {
        // Whether a group counts what happens in those below depends on the kernel, so they are not to be added up.
        let most = |groups: &[Group], read: fn(&Group) -> u64| groups.iter().map(read).max().unwrap_or_default();
        Counters {
            memory_kills: most(&self.memory, Group::memory_kills),
            pids_refused: most(&self.pids, Group::pids_refused),
        }
    }

    /// Rings when memory runs out in any of them; none where that cannot be told.
    pub(crate) fn alarm(&self) -> Option<Alarm> {
        // The kernel tells of a group together with those around it that are full.
        let innermost = self.memory.last()?;
        let told = |error: &io::Error| tracing::debug!(%error, "no word of the kernel when memory runs out");
        Alarm::of(innermost).inspect_err(told).ok()
    }

    /// False once they have been removed.
    pub(crate) fn exist(&self) -> bool {
        self.memory.iter().all(|group| group.dir.exists())
    }

    /// What the kernel says about the limits; nothing when the groups cannot be seen at all.
    pub(crate) fn proofs(&self, limits: &Limits) -> Vec<Proof> {
        let (Some(memory), Some(pids)) =
            (tightest(&self.memory, Group::memory_limit), tightest(&self.pids, Group::pids_limit))
        else {
            return Vec::new();
        };
        let mut proofs = vec![memory.memory_proof(limits.memory(), true), pids.pids_proof(limits.pids, true)];
        if let Some(cpus) = limits.cpus {
            let cpu = tightest(&self.cpu, Group::cpu_limit_us);
            proofs.push(cpu.map_or_else(no_cpu_group, |group| group.cpus_proof(cpus, true)));
        }
        proofs
    }
}

/// The group whose limit holds.
fn tightest(groups: &[Group], limit: fn(&Group) -> Option<u64>) -> Option<&Group> {
    groups.iter().min_by_key(|group| limit(group).unwrap_or(u64::MAX))
}

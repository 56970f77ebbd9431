//! The control groups of a container, which someone else made: read, and written only to give a microVM its room.

use std::io;

use super::group::{Group, no_cpu_group};
use super::place::{Controller, marked};
use crate::backend::Counters;
use crate::limits::Limits;
use crate::proof::Proof;

/// The groups of one container; nothing where they cannot be seen from here.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    memory: Option<Group>,
    pids: Option<Group>,
    cpu: Option<Group>,
}

impl Watched {
    /// Those of this process whose names hold the container's id.
    pub(crate) fn of(pid: u32, container_id: &str) -> Self {
        let find = |controller| {
            let place = marked(controller, pid, container_id)?;
            Some(Group { version: place.version, dir: place.parent })
        };
        Self { memory: find(Controller::Memory), pids: find(Controller::Pids), cpu: find(Controller::Cpu) }
    }

    /// Allows more memory than its maker did.
    pub(crate) fn raise_memory(&self, memory_bytes: u64) -> io::Result<()> {
        self.memory.as_ref().map_or(Ok(()), |group| group.raise_memory(memory_bytes))
    }

    pub(crate) fn counters(&self) -> Counters {
        Counters {
            memory_kills: self.memory.as_ref().map_or(0, Group::memory_kills),
            pids_refused: self.pids.as_ref().map_or(0, Group::pids_refused),
        }
    }

    /// What the kernel says about the limits; nothing when the groups cannot be seen at all.
    pub(crate) fn proofs(&self, limits: &Limits) -> Vec<Proof> {
        let (Some(memory), Some(pids)) = (&self.memory, &self.pids) else { return Vec::new() };
        let mut proofs = vec![memory.memory_proof(limits.memory(), true), pids.pids_proof(limits.pids, true)];
        if let Some(cpus) = limits.cpus {
            proofs.push(self.cpu.as_ref().map_or_else(no_cpu_group, |group| group.cpus_proof(cpus, true)));
        }
        proofs
    }
}

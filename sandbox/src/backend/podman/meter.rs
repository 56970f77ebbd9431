//! A container's limits and counters, as seen from outside.
//!
//! On the engine's own machine its control groups are read, as the kernel has them. The engine's word is taken only
//! where they cannot be found.

use std::fs;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bollard::query_parameters::{InspectContainerOptions, StatsOptions};
use futures::StreamExt as _;
use retrace_guest::message::ExecLimits;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::Flavour;
use super::engine::{ANSWER_TIME, Engine, ask};
use crate::backend::{Counters, Meter};
use crate::cgroup::{Alarm, Watched};
use crate::error::SandboxError;
use crate::limits::{Limits, size};
use crate::proof::Proof;

/// What the process of a microVM needs besides its guest's memory, in bytes (about 60 MB were seen).
const MONITOR_BYTES: u64 = 128 * 1024 * 1024;

/// How long the kernel may take from running out of memory to having killed for it, and how often that is looked for.
const KILL_TIME: Duration = Duration::from_secs(1);
const KILL_PAUSE: Duration = Duration::from_millis(1);

#[derive(Debug, Default)]
pub(super) struct ContainerMeter {
    seen: Arc<Mutex<Seen>>,
    /// Reads when memory has run out: nothing can be read any more when the container is gone.
    reader: Mutex<JoinSet<()>>,
}

#[derive(Debug, Default)]
struct Seen {
    groups: Watched,
    proofs: Vec<Proof>,
    /// The highest counters so far.
    counters: Counters,
}

impl Seen {
    fn read(&mut self) -> Counters {
        let now = self.groups.counters();
        let Counters { memory_kills, pids_refused } = &mut self.counters;
        *memory_kills = now.memory_kills.max(*memory_kills);
        *pids_refused = now.pids_refused.max(*pids_refused);
        self.counters
    }
}

impl ContainerMeter {
    /// Finds the container's control groups, and sees whether it is as limited as it should be.
    pub(super) async fn look(
        &self,
        engine: &Engine,
        id: &str,
        limits: &Limits,
        flavour: Flavour,
    ) -> Result<ExecLimits, SandboxError> {
        let inspected =
            ask("inspect the container", engine.docker.inspect_container(id, None::<InspectContainerOptions>)).await?;
        let pid = inspected.state.and_then(|state| state.pid).and_then(|pid| u32::try_from(pid).ok());
        let groups = pid.map(|pid| Watched::of(pid, id)).unwrap_or_default();
        let mut outside = limits.clone();
        if flavour == Flavour::Krun {
            // What was asked for is the guest's memory. The machine's process needs some besides; without it all would be
            // killed before the guest reaches its own limit. Where that may not be changed it stays as it is.
            let bytes = limits.memory().saturating_add(MONITOR_BYTES);
            outside.memory_bytes = Some(bytes);
            if let Err(error) = groups.raise_memory(bytes) {
                tracing::debug!(%error, "the microVM has no memory besides its guest's");
            }
        }
        let mut proofs = groups.proofs(&outside);
        if proofs.is_empty() {
            proofs = told(engine, id, limits).await;
        } else {
            // The groups carry the container's name, so the number means the same process here as to the engine.
            proofs.extend(pid.and_then(unprivileged));
        }
        self.watch(groups, proofs);
        Ok(ExecLimits {
            max_output_bytes: Some(limits.output_bytes),
            processes: None,
            address_space_bytes: None,
            data_bytes: None,
            file_size_bytes: Some(limits.file_size_bytes),
            cpu_seconds: Some(limits.cpu_seconds),
            open_files: Some(limits.open_files),
        })
    }

    fn watch(&self, groups: Watched, proofs: Vec<Proof>) {
        let alarm = groups.alarm();
        *locked(&self.seen) = Seen { groups, proofs, counters: Counters::default() };
        if let Some(alarm) = alarm {
            locked(&self.reader).spawn(read_at(alarm, Arc::clone(&self.seen)));
        }
    }
}

impl Meter for ContainerMeter {
    fn read(&self) -> Counters {
        locked(&self.seen).read()
    }

    fn proofs(&self) -> Vec<Proof> {
        locked(&self.seen).proofs.clone()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the counters whenever the alarm rings, as long as there are any.
async fn read_at(alarm: Alarm, seen: Arc<Mutex<Seen>>) {
    while alarm.rings().await.is_ok() {
        let before = locked(&seen).counters;
        let until = Instant::now() + KILL_TIME;
        while locked(&seen).read() == before && alarm.is_early() && Instant::now() < until {
            if !locked(&seen).groups.exist() {
                return;
            }
            sleep(KILL_PAUSE).await;
        }
    }
}

/// What the engine says about the limits in force.
async fn told(engine: &Engine, id: &str, limits: &Limits) -> Vec<Proof> {
    let options = StatsOptions { stream: false, one_shot: true };
    let mut answers = Box::pin(engine.docker.stats(id, Some(options)));
    let stats = match timeout(ANSWER_TIME, answers.next()).await {
        Ok(Some(Ok(stats))) => stats,
        Ok(Some(Err(_)) | None) | Err(_) => Default::default(),
    };
    let memory = stats.memory_stats.and_then(|memory| memory.limit);
    let pids = stats.pids_stats.and_then(|pids| pids.limit);
    let words =
        |found: Option<String>| found.map_or("cannot be seen".to_owned(), |found| format!("{found}, says the engine"));
    vec![
        Proof::new(
            "memory limit in force",
            memory.is_some_and(|bytes| bytes <= limits.memory()),
            words(memory.map(size)),
        ),
        Proof::new(
            "process limit in force",
            pids.is_some_and(|count| count <= limits.pids),
            words(pids.map(|count| count.to_string())),
        ),
    ]
}

/// What the host's kernel says about the container's first process; nothing where it cannot be seen from here.
fn unprivileged(pid: u32) -> Option<Proof> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let uids = field("Uid:")?;
    let capabilities = field("CapEff:")?;
    let is_root = uids.split_ascii_whitespace().any(|uid| uid == "0");
    let passed = !is_root && u64::from_str_radix(capabilities, 16) == Ok(0);
    let uid = uids.split_ascii_whitespace().next().unwrap_or_default();
    Some(Proof::new("without rights on the host", passed, format!("uid {uid}, capabilities {capabilities}")))
}

#[cfg(test)]
#[path = "meter_tests.rs"]
mod tests;

//! [`MemorySamples`]: how much memory a run of the command has while it works, by how far its work is.

use crate::world::World;
use std::fs;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::Command;

/// How often it is looked.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// No run may take longer.
const LIMIT: Duration = Duration::from_secs(1_200);

/// The memory of a process at moments of its work: steps that were done, and KiB that belong to it and to no file.
#[derive(Debug, Default)]
pub(crate) struct MemorySamples(Vec<(u32, u64)>);

impl MemorySamples {
    /// Runs a command of `world` whose work counts its steps in the file `n`.
    pub(crate) fn of(world: &World, mut command: Command) -> (ExitStatus, Self) {
        let work = async {
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            let status = format!("/proc/{}/status", child.id().unwrap());
            let (mut samples, mut look) = (Self::default(), tokio::time::interval(LOOK_EVERY));
            loop {
                tokio::select! {
                    ended = child.wait() => return (ended.unwrap(), samples),
                    _ = look.tick() => {
                        let kib = fs::read_to_string(&status).ok().as_deref().and_then(anonymous_kib);
                        let step = world.read("n").trim().parse();
                        samples.0.extend(step.ok().zip(kib));
                    }
                }
            }
        };
        let ended = world.runtime.block_on(async { tokio::time::timeout(LIMIT, work).await });
        ended.expect("the command takes too long")
    }

    /// The usual memory in each third of `steps`, in KiB: half of the samples are above it. What is needed for a moment does
    /// not count, and what stays does.
    pub(crate) fn thirds(&self, steps: u32) -> [u64; 3] {
        [0, 1, 2].map(|third| {
            let within = steps * third / 3..steps * (third + 1) / 3;
            let mut kib: Vec<u64> =
                self.0.iter().filter(|(step, _)| within.contains(step)).map(|(_, kib)| *kib).collect();
            kib.sort_unstable();
            assert!(kib.len() > 4, "too few samples in steps {within:?}");
            kib[kib.len() / 2]
        })
    }
}

fn anonymous_kib(status: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?.split_whitespace().next()?.parse().ok()
}

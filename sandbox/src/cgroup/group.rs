//! One folder in the control group file system, of either version.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::place::Version;
use crate::limits::size;
use crate::proof::Proof;

/// The time in which a share of the processors is given out, in microseconds: the kernel's own default.
const CPU_PERIOD_US: u64 = 100_000;

/// A group.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) version: Version,
    pub(super) dir: PathBuf,
}

impl Group {
    pub(super) fn limit_memory(&self, memory_bytes: u64) -> io::Result<()> {
        let (swap, swap_value) = match self.version {
            Version::V1 => ("memory.memsw.limit_in_bytes", memory_bytes),
            Version::V2 => ("memory.swap.max", 0),
        };
        fs::write(self.dir.join(self.memory_file()), memory_bytes.to_string())?;
        // Missing where the kernel does not account for swap.
        let _ = OpenOptions::new()
            .write(true)
            .open(self.dir.join(swap))
            .and_then(|mut file| file.write_all(swap_value.to_string().as_bytes()));
        Ok(())
    }

    /// Upwards, memory with swap comes first: it must never be below memory alone.
    pub(super) fn raise_memory(&self, memory_bytes: u64) -> io::Result<()> {
        let with_swap = self.dir.join("memory.memsw.limit_in_bytes");
        if self.version == Version::V1 && with_swap.exists() {
            fs::write(with_swap, memory_bytes.to_string())?;
        }
        fs::write(self.dir.join(self.memory_file()), memory_bytes.to_string())
    }

    pub(super) fn limit_pids(&self, pids: u64) -> io::Result<()> {
        fs::write(self.dir.join("pids.max"), pids.to_string())
    }

    pub(super) fn limit_cpus(&self, cpus: f64) -> io::Result<()> {
        let quota_us = quota_us(cpus);
        match self.version {
            Version::V1 => {
                fs::write(self.dir.join("cpu.cfs_period_us"), CPU_PERIOD_US.to_string())?;
                fs::write(self.dir.join("cpu.cfs_quota_us"), quota_us.to_string())
            }
            Version::V2 => fs::write(self.dir.join("cpu.max"), format!("{quota_us} {CPU_PERIOD_US}")),
        }
    }

    /// Processes killed because memory ran out.
    pub(super) fn memory_kills(&self) -> u64 {
        let file = match self.version {
            Version::V1 => "memory.oom_control",
            Version::V2 => "memory.events",
        };
        self.keyed(file, "oom_kill")
    }

    /// Processes that could not be started.
    pub(super) fn pids_refused(&self) -> u64 {
        self.keyed("pids.events", "max")
    }

    /// In bytes; none where the group has no limit.
    pub(super) fn memory_limit(&self) -> Option<u64> {
        self.number(self.memory_file())
    }

    pub(super) fn pids_limit(&self) -> Option<u64> {
        self.number("pids.max")
    }

    /// In microseconds of all processors together in [`CPU_PERIOD_US`].
    pub(super) fn cpu_limit_us(&self) -> Option<u64> {
        let (quota, period) = match self.version {
            Version::V1 => (self.number("cpu.cfs_quota_us"), self.number("cpu.cfs_period_us")),
            Version::V2 => {
                let text = fs::read_to_string(self.dir.join("cpu.max")).unwrap_or_default();
                let mut numbers = text.split_ascii_whitespace().map(|word| word.parse().ok());
                (numbers.next().flatten(), numbers.next().flatten())
            }
        };
        quota.zip(period).map(|(quota, period): (u64, u64)| quota.saturating_mul(CPU_PERIOD_US) / period.max(1))
    }

    pub(super) fn memory_proof(&self, memory_bytes: u64, applies: bool) -> Proof {
        // The kernel rounds to pages.
        let passed = applies && self.memory_limit().is_some_and(|limit| limit <= memory_bytes);
        Proof::new("memory limit in force", passed, told(passed, format!("{} for all together", size(memory_bytes))))
    }

    pub(super) fn pids_proof(&self, pids: u64, applies: bool) -> Proof {
        let passed = applies && self.pids_limit().is_some_and(|limit| limit <= pids);
        Proof::new("process limit in force", passed, told(passed, format!("{pids} for all together")))
    }

    pub(super) fn cpus_proof(&self, cpus: f64, applies: bool) -> Proof {
        // Up to a thousandth, for what engines round.
        let passed = applies && self.cpu_limit_us().is_some_and(|limit| limit <= quota_us(cpus) + 100);
        Proof::new(CPU_PROOF, passed, told(passed, format!("{cpus} processors for all together")))
    }

    pub(super) fn holds(&self, pid: u32) -> bool {
        members(&self.dir).contains(&pid.cast_signed())
    }

    const fn memory_file(&self) -> &'static str {
        match self.version {
            Version::V1 => "memory.limit_in_bytes",
            Version::V2 => "memory.max",
        }
    }

    fn number(&self, file: &str) -> Option<u64> {
        fs::read_to_string(self.dir.join(file)).ok()?.trim().parse().ok()
    }

    fn keyed(&self, file: &str, key: &str) -> u64 {
        fs::read_to_string(self.dir.join(file)).ok().and_then(|text| keyed(&text, key)).unwrap_or_default()
    }
}

const CPU_PROOF: &str = "processor share in force";

/// Asked for, and nothing here can give it.
pub(super) fn no_cpu_group() -> Proof {
    Proof::new(CPU_PROOF, false, "no control group for it can be made\nhint: leave the number of processors open")
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "settled limits are small and positive")]
fn quota_us(cpus: f64) -> u64 {
    // The kernel takes no less than a millisecond.
    ((cpus * CPU_PERIOD_US as f64) as u64).max(1000)
}

fn told(passed: bool, fine: String) -> String {
    if passed { fine } else { format!("not {fine}") }
}

pub(super) fn members(dir: &Path) -> Vec<i32> {
    let list = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
    list.lines().filter_map(|line| line.trim().parse().ok()).collect()
}

pub(super) fn kill_members(dir: &Path) {
    // Version 2 kills all at once; where that file is missing, one by one.
    if OpenOptions::new().write(true).open(dir.join("cgroup.kill")).is_ok_and(|mut file| file.write_all(b"1").is_ok()) {
        return;
    }
    for pid in members(dir).into_iter().filter(|pid| *pid > 1).filter_map(rustix::process::Pid::from_raw) {
        // It may have ended by itself.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

pub(super) fn remove_dir(dir: &Path) -> bool {
    fs::remove_dir(dir).map_or_else(|error| error.kind() == io::ErrorKind::NotFound, |()| true)
}

/// The number after a key, in files with lines of `key number`.
pub(super) fn keyed(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

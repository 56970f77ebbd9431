//! What the kernel says about this process.

use std::fs;

use super::{Observations, Rlimits};

/// Fills in what can be read without trying anything.
pub(super) fn observe(seen: &mut Observations) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    seen.uids = (rustix::process::getuid().as_raw(), rustix::process::geteuid().as_raw());
    seen.cap_eff = field(&status, "CapEff:", 16);
    seen.cap_bnd = field(&status, "CapBnd:", 16);
    seen.no_new_privs = field(&status, "NoNewPrivs:", 10);
    seen.seccomp = field(&status, "Seccomp:", 10);
    seen.boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned();
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    seen.memory_bytes = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok())
        .and_then(|kib| kib.checked_mul(1024));
    seen.root_read_only =
        rustix::fs::statvfs("/").is_ok_and(|root| root.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY));
    seen.namespaces = namespaces();
    seen.interfaces = interfaces();
    seen.env_names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    seen.rlimits = rlimits();
}

/// The value after a name in `/proc/self/status`.
pub(super) fn field(status: &str, name: &str, radix: u32) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix(name))?;
    u64::from_str_radix(value.trim(), radix).ok()
}

fn namespaces() -> Vec<(String, String)> {
    ["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"]
        .into_iter()
        .filter_map(|name| {
            let target = fs::read_link(format!("/proc/self/ns/{name}")).ok()?;
            Some((name.to_owned(), target.to_string_lossy().into_owned()))
        })
        .collect()
}

fn interfaces() -> Vec<String> {
    let table = fs::read_to_string("/proc/self/net/dev").unwrap_or_default();
    table.lines().skip(2).filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned())).collect()
}

fn rlimits() -> Rlimits {
    use rustix::process::{Resource, getrlimit};
    Rlimits {
        processes: getrlimit(Resource::Nproc).current,
        data_bytes: getrlimit(Resource::Data).current,
        file_size_bytes: getrlimit(Resource::Fsize).current,
        cpu_seconds: getrlimit(Resource::Cpu).current,
    }
}

//! Judges what the probe saw.

use std::fs;
use std::path::Path;

use retrace_guest::CALL_ID_VARIABLE;
use retrace_guest::message::ExecLimits;
use retrace_guest::probe::{Attempt, Observations};

use crate::backend::Inside;
use crate::limits::size;
use crate::proof::{IsolationLevel, Proof};

/// Namespaces that must not be the host's. Containers share the user namespace of an engine that runs as root: there the
/// user without rights is one outside, too.
const NAMESPACES: [&str; 6] = ["ipc", "mnt", "net", "pid", "uts", "user"];
const NAMESPACES_OF_A_CONTAINER: [&str; 5] = ["ipc", "mnt", "net", "pid", "uts"];

/// What a microVM's memory may be above what was asked for: it is rounded up to what its firmware needs.
const FIRMWARE_BYTES: u64 = 16 * 1024 * 1024;

/// What is known from outside.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) level: IsolationLevel,
    pub(super) inside: &'a Inside,
    pub(super) exec_limits: &'a ExecLimits,
    /// Memory of the whole sandbox, in bytes.
    pub(super) memory_bytes: u64,
}

/// One proof for each thing that must hold.
pub(super) fn judge(seen: &Observations, known: &Known<'_>) -> Vec<Proof> {
    let mut proofs = match known.level {
        IsolationLevel::MicroVm => own_kernel(seen, known),
        IsolationLevel::Container => vec![namespaces(seen, &NAMESPACES_OF_A_CONTAINER)],
        IsolationLevel::Process | IsolationLevel::None => vec![namespaces(seen, &NAMESPACES)],
    };
    proofs.extend(network(seen, known.level));
    proofs.extend(engine(seen, known.inside));
    proofs.extend(files(seen));
    proofs.extend(privileges(seen));
    proofs.extend(kernel_surface(seen, known.level));
    proofs.push(masks(seen, known.inside));
    proofs.push(environment(seen, known.inside));
    proofs.extend(limits(seen, known));
    proofs
}

/// Each run of a kernel has an identity of its own, which a container shares with its host.
fn own_kernel(seen: &Observations, known: &Known<'_>) -> Vec<Proof> {
    let host = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let passed = !seen.boot_id.is_empty() && seen.boot_id != host.trim();
    let detail = if passed { "another run of another kernel" } else { "it is the host's own" };
    let bounded = seen.memory_bytes.is_some_and(|bytes| bytes <= known.memory_bytes + FIRMWARE_BYTES);
    let memory = seen.memory_bytes.map_or("unknown".to_owned(), |bytes| format!("{} MiB", bytes / (1024 * 1024)));
    vec![Proof::new("own kernel", passed, detail), Proof::new("own memory", bounded, memory)]
}

/// The socket of the engine that started it gives the host away.
fn engine(seen: &Observations, inside: &Inside) -> Option<Proof> {
    if inside.sockets.is_empty() {
        return None;
    }
    let reached = worked(&seen.sockets);
    let passed = reached.is_empty() && seen.sockets.len() == inside.sockets.len();
    let detail = if passed { "not reached".to_owned() } else { format!("reached: {}", reached.join(", ")) };
    Some(Proof::new("engine's socket unreachable", passed, detail))
}

fn namespaces(seen: &Observations, required: &[&str]) -> Proof {
    let shared: Vec<&str> = required
        .iter()
        .copied()
        .filter(|name| {
            let inside = seen.namespaces.iter().find(|(found, _)| found == name).map(|(_, identity)| identity.as_str());
            let host = fs::read_link(Path::new("/proc/self/ns").join(name)).unwrap_or_default();
            inside.is_none_or(|inside| inside.is_empty() || Path::new(inside) == host)
        })
        .collect();
    let detail = if shared.is_empty() {
        format!("own {}", required.join(", "))
    } else {
        format!("shared: {}", shared.join(", "))
    };
    Proof::new("own namespaces", shared.is_empty(), detail)
}

/// libkrun gives its guests an interface that is connected with nothing, so that routes exist; what they connect to goes through
/// the virtual machine's process, which has no network itself: that nothing is reached so is tried.
fn network(seen: &Observations, level: IsolationLevel) -> [Proof; 3] {
    let harmless: &[&str] = if level == IsolationLevel::MicroVm { &["lo", "dummy0"] } else { &["lo"] };
    let others: Vec<&str> =
        seen.interfaces.iter().map(String::as_str).filter(|name| !harmless.contains(name)).collect();
    let interfaces = if others.is_empty() { "only loopback".to_owned() } else { format!("also {}", others.join(", ")) };
    let reached = seen.tcp.iter().filter(|attempt| attempt.succeeded()).count();
    let tried = !seen.tcp.is_empty();
    let unix = seen.abstract_socket.as_ref();
    [
        Proof::new("no network interface", others.is_empty(), interfaces),
        Proof::new(
            "host's loopback unreachable",
            tried && reached == 0,
            format!("{reached} of {} reached", seen.tcp.len()),
        ),
        Proof::new("host's abstract sockets unreachable", unix.is_some_and(failed), outcome(unix)),
    ]
}

fn files(seen: &Observations) -> [Proof; 4] {
    let visible: Vec<String> = worked(&seen.canaries);
    let written: Vec<String> = worked(&seen.writes);
    let settings: Vec<String> = worked(&seen.kernel_settings);
    let found = |list: &[String], fine: &str| if list.is_empty() { fine.to_owned() } else { list.join(", ") };
    [
        Proof::new(
            "host files invisible",
            visible.is_empty() && !seen.canaries.is_empty(),
            found(&visible, &format!("{} canaries not found", seen.canaries.len())),
        ),
        Proof::new("read-only root", seen.root_read_only, if seen.root_read_only { "mounted so" } else { "it is not" }),
        Proof::new(
            "only the workspace is writable",
            written.is_empty() && !seen.writes.is_empty(),
            found(&written, &format!("{} folders tried", seen.writes.len())),
        ),
        Proof::new(
            "kernel settings read-only",
            settings.is_empty() && !seen.kernel_settings.is_empty(),
            found(&settings, &format!("{} tried", seen.kernel_settings.len())),
        ),
    ]
}

fn privileges(seen: &Observations) -> Vec<Proof> {
    let (uid, euid) = seen.uids;
    let number = |value: Option<u64>| value.map_or("unknown".to_owned(), |value| format!("{value:#x}"));
    vec![
        Proof::new("not root", uid != 0 && euid != 0, format!("uid {uid}")),
        Proof::new("no capabilities", seen.cap_eff == Some(0), format!("effective {}", number(seen.cap_eff))),
        Proof::new("no bounding capabilities", seen.cap_bnd == Some(0), format!("bounding {}", number(seen.cap_bnd))),
        Proof::new("no new privileges", seen.no_new_privs == Some(1), number(seen.no_new_privs)),
        Proof::new(
            "host's processes invisible",
            !seen.host_process_visible,
            if seen.host_process_visible { "this program is visible" } else { "this program is not visible" },
        ),
    ]
}

/// What of the kernel can be reached. In a microVM it is a kernel of its own, which need not know filters: there only
/// what holds is told.
fn kernel_surface(seen: &Observations, level: IsolationLevel) -> Vec<Proof> {
    let mode = seen.seccomp.map_or("unknown".to_owned(), |mode| format!("mode {mode:#x}"));
    let mut proofs = vec![Proof::new("system call filter", seen.seccomp == Some(2), mode)];
    let denied = [("unshare denied", &seen.unshare), ("mount denied", &seen.mount), ("ptrace denied", &seen.ptrace)];
    proofs.extend(
        denied.map(|(name, attempt)| Proof::new(name, attempt.as_ref().is_some_and(failed), outcome(attempt.as_ref()))),
    );
    if level == IsolationLevel::MicroVm {
        proofs.retain(|proof| proof.passed);
    }
    proofs
}

fn masks(seen: &Observations, inside: &Inside) -> Proof {
    let leaking: Vec<String> = seen
        .masked
        .iter()
        .filter(|(_, bytes)| bytes.is_some_and(|bytes| bytes > 0))
        .map(|(path, _)| path.to_string())
        .collect();
    let complete = seen.masked.len() == inside.masked.len();
    let detail = match (leaking.is_empty(), inside.masked.len()) {
        (false, _) => format!("readable: {}", leaking.join(", ")),
        (true, 0) => "there are none".to_owned(),
        (true, count) => format!("{count} read as empty"),
    };
    Proof::new("secret files masked", leaking.is_empty() && complete, detail)
}

fn environment(seen: &Observations, inside: &Inside) -> Proof {
    let unknown: Vec<&str> = seen
        .env_names
        .iter()
        .map(String::as_str)
        .filter(|name| !inside.env_names.iter().any(|known| known == name))
        // Set by the guest, or by bubblewrap for the folder it starts in.
        .filter(|name| ![CALL_ID_VARIABLE, "PWD"].contains(name))
        .collect();
    let detail = if unknown.is_empty() {
        format!("{} variables, all of them ours", seen.env_names.len())
    } else {
        format!("unexpected: {}", unknown.join(", "))
    };
    Proof::new("environment from the allow-list", unknown.is_empty(), detail)
}

/// Limits of each process, where the whole sandbox could not be limited.
fn limits(seen: &Observations, known: &Known<'_>) -> Vec<Proof> {
    let exec_limits = known.exec_limits;
    let mut proofs = Vec::new();
    let within = |seen: Option<u64>, wanted: u64| seen.is_some_and(|seen| seen <= wanted);
    if let Some(processes) = exec_limits.processes {
        // The kernel exempts root's user from this one, whatever it looks like from inside.
        let exempt = known.level == IsolationLevel::Process && rustix::process::geteuid().is_root();
        let detail = if exempt {
            "root is exempt, and no control group is writable\nhint: run as another user, or make control groups writable"
                .to_owned()
        } else {
            format!("{processes} for this user in the sandbox")
        };
        proofs.push(Proof::new("process limit in force", !exempt && within(seen.rlimits.processes, processes), detail));
    }
    if let Some(data_bytes) = exec_limits.data_bytes {
        let passed = within(seen.rlimits.data_bytes, data_bytes);
        proofs.push(Proof::new("memory limit in force", passed, format!("{} for each process", size(data_bytes))));
    }
    if let Some(bytes) = exec_limits.file_size_bytes {
        let passed = within(seen.rlimits.file_size_bytes, bytes);
        proofs.push(Proof::new("file size limit in force", passed, size(bytes)));
    }
    if let Some(seconds) = exec_limits.cpu_seconds {
        let passed = within(seen.rlimits.cpu_seconds, seconds);
        proofs.push(Proof::new("cpu limit in force", passed, format!("{seconds} s for each process")));
    }
    proofs
}

fn worked<T: ToString>(attempts: &[(T, Attempt)]) -> Vec<String> {
    attempts.iter().filter(|(_, attempt)| attempt.succeeded()).map(|(path, _)| path.to_string()).collect()
}

fn failed(attempt: &Attempt) -> bool {
    !attempt.succeeded()
}

fn outcome(attempt: Option<&Attempt>) -> String {
    match attempt {
        None => "not tried".to_owned(),
        Some(Attempt::Succeeded) => "it worked".to_owned(),
        Some(Attempt::Failed { text, .. }) => text.clone(),
    }
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod judge_tests;

//! What a container is made of. Everything is named: nothing is left to the engine's or the image's defaults that would
//! open something.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use bollard::models::{
    ContainerCreateBody, HealthConfig, HostConfig, HostConfigCgroupnsModeEnum, HostConfigLogConfig, RestartPolicy,
    RestartPolicyNameEnum,
};
use retrace_guest::confine::{THEN, encode_env};

use super::engine::{Engine, Maker};
use super::image::Image;
use super::mapping::Mapping;
use super::stale::{OWNER_LABEL, SANDBOX_LABEL};
use super::{Flavour, environment};
use crate::backend::LaunchPlan;
use crate::backend::process::{GUEST_INSIDE, HOME_INSIDE};
use crate::cgroup::owner_mark;
use crate::error::SandboxError;

/// The workspace, inside.
pub(super) const WORKSPACE_INSIDE: &str = "/workspace";
/// The system call filter, inside.
const FILTER_INSIDE: &str = "/run/retrace/filter";
/// What of `/sys` and `/proc` is covered besides what engines cover themselves: it describes the host, or can be written
/// to by anyone.
const COVERED: [&str; 2] = ["/sys", "/proc/pressure"];
/// What of a kernel's command line (2048 bytes, 32 arguments) is left beside libkrun's own.
const MAX_COMMAND_LINE_BYTES: usize = 1500;
const MAX_ARGUMENTS: usize = 30;
/// The part of a microVM's memory that its kernel keeps.
const KERNEL_SHARE: u64 = 16;
/// Size of `/run`, in bytes; nothing is to be kept there.
const RUN_BYTES: u64 = 64 * 1024;

/// What goes into the creation of a container.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) plan: &'a LaunchPlan<'a>,
    pub(super) engine: &'a Engine,
    pub(super) image: &'a Image,
    pub(super) mapping: &'a Mapping,
    pub(super) flavour: Flavour,
    /// Files of the workspace that must read as empty, by their paths outside.
    pub(super) masked: &'a [PathBuf],
    pub(super) env: &'a [(String, String)],
}

/// The whole request.
pub(super) fn body(parts: &Parts<'_>) -> Result<ContainerCreateBody, SandboxError> {
    let labels = HashMap::from([
        (SANDBOX_LABEL.to_owned(), parts.plan.sandbox_id.clone()),
        (OWNER_LABEL.to_owned(), owner_mark()),
    ]);
    Ok(ContainerCreateBody {
        hostname: Some("retrace".to_owned()),
        user: Some(parts.mapping.user.clone()),
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        tty: Some(false),
        open_stdin: Some(true),
        // When we are gone, stdin ends, and with it the guest.
        stdin_once: Some(true),
        env: Some(parts.env.iter().map(|(name, value)| format!("{name}={value}")).collect()),
        entrypoint: Some(vec![GUEST_INSIDE.to_owned()]),
        cmd: Some(arguments(parts)?),
        healthcheck: Some(HealthConfig { test: Some(vec!["NONE".to_owned()]), ..HealthConfig::default() }),
        image: Some(parts.image.id.clone()),
        working_dir: Some(WORKSPACE_INSIDE.to_owned()),
        network_disabled: Some(true),
        labels: Some(labels),
        host_config: Some(host_config(parts)?),
        ..ContainerCreateBody::default()
    })
}

fn arguments(parts: &Parts<'_>) -> Result<Vec<String>, SandboxError> {
    let mut list = vec!["confine".to_owned()];
    match parts.flavour {
        Flavour::Container => {
            let names: Vec<&str> = parts.env.iter().map(|(name, _)| name.as_str()).collect();
            list.extend(["--env-only".to_owned(), names.join(",")]);
        }
        Flavour::Krun => {
            // What the engine is told does not arrive where the machine's process is not root's: it cannot read it.
            list.extend(["--env".to_owned(), encode_env(parts.env)]);
            // The user of the container is that of the virtual machine's process; inside it everything starts as root.
            list.extend(["--user".to_owned(), parts.mapping.user.clone()]);
            list.extend(machine(parts));
        }
    }
    list.extend(
        ["--filter", FILTER_INSIDE, THEN, GUEST_INSIDE, "serve", "--root", WORKSPACE_INSIDE].map(str::to_owned),
    );
    let length = list.iter().map(|argument| argument.len() + 3).sum::<usize>();
    if parts.flavour == Flavour::Krun && (length > MAX_COMMAND_LINE_BYTES || list.len() > MAX_ARGUMENTS) {
        let detail = "the variables and folders for it do not fit on a microVM's kernel command line";
        return Err(SandboxError::Start { backend: "krun", detail: detail.to_owned() });
    }
    Ok(list)
}

/// What the guest bounds itself in a microVM, whose kernel knows nothing of the host's limits.
fn machine(parts: &Parts<'_>) -> Vec<String> {
    let limits = parts.plan.limits;
    // The rest is for the guest's kernel.
    let memory = limits.memory() - limits.memory() / KERNEL_SHARE;
    let mut list = vec!["--machine".to_owned(), format!("{memory}:{}:{}", limits.pids, limits.tmp_bytes)];
    let mut writable: Vec<String> = tmpfs(parts).into_keys().filter(|folder| folder != "/run").collect();
    writable.push(WORKSPACE_INSIDE.to_owned());
    // Folders before what is in them.
    writable.sort();
    list.extend(writable.into_iter().flat_map(|folder| ["--writable".to_owned(), folder]));
    list
}

fn host_config(parts: &Parts<'_>) -> Result<HostConfig, SandboxError> {
    let limits = parts.plan.limits;
    let number = |value: u64| Some(i64::try_from(value).unwrap_or(i64::MAX));
    // In billionths; the largest machines have far fewer than a million processors.
    #[expect(clippy::cast_possible_truncation, reason = "bounded before")]
    let nano_cpus = limits.cpus.map(|cpus| (cpus.clamp(0.01, 1e6) * 1e9) as i64);
    let (runtime, annotations) = match parts.flavour {
        Flavour::Container => (None, None),
        Flavour::Krun => (Some("krun"), Some(HashMap::from([("run.oci.handler".to_owned(), "krun".to_owned())]))),
    };
    Ok(HostConfig {
        memory: number(limits.memory()),
        // Together with the swap: none of it.
        memory_swap: number(limits.memory()),
        pids_limit: number(limits.pids),
        nano_cpus,
        init: Some(false),
        binds: Some(binds(parts)?),
        tmpfs: Some(tmpfs(parts)),
        shm_size: number(limits.tmp_bytes / 4),
        log_config: Some(HostConfigLogConfig { typ: Some("none".to_owned()), config: None }),
        network_mode: Some("none".to_owned()),
        restart_policy: Some(RestartPolicy { name: Some(RestartPolicyNameEnum::NO), maximum_retry_count: None }),
        // Gone by itself when the guest ends, even when nobody is there to clean up.
        auto_remove: Some(true),
        cap_drop: Some(vec!["ALL".to_owned()]),
        cgroupns_mode: Some(HostConfigCgroupnsModeEnum::PRIVATE),
        ipc_mode: Some("private".to_owned()),
        privileged: Some(false),
        publish_all_ports: Some(false),
        readonly_rootfs: Some(true),
        security_opt: Some(security_options(parts.engine.facts.maker)),
        masked_paths: masked_paths(parts.engine.facts.maker),
        userns_mode: parts.mapping.user_namespace.clone(),
        runtime: runtime.map(str::to_owned),
        annotations,
        ..HostConfig::default()
    })
}

/// Podman takes what is to be covered as an option and adds its own; Docker takes the whole list.
fn security_options(maker: Maker) -> Vec<String> {
    let mut options = vec!["no-new-privileges".to_owned()];
    if Path::new("/sys/fs/selinux/enforce").exists() {
        // Otherwise the workspace could only be read after its files have been labelled anew, all of them.
        options.push("label=disable".to_owned());
    }
    if maker == Maker::Podman {
        options.push(format!("mask={}", COVERED.join(":")));
    }
    options
}

/// Docker's own list (which a list of ours replaces), and what is to be covered besides.
fn masked_paths(maker: Maker) -> Option<Vec<String>> {
    const DOCKERS: [&str; 10] = [
        "/proc/asound",
        "/proc/acpi",
        "/proc/interrupts",
        "/proc/kcore",
        "/proc/keys",
        "/proc/latency_stats",
        "/proc/timer_list",
        "/proc/timer_stats",
        "/proc/sched_debug",
        "/proc/scsi",
    ];
    (maker == Maker::Docker).then(|| DOCKERS.iter().chain(&COVERED).map(|path| (*path).to_owned()).collect())
}

/// What is mounted from the host: the workspace, and read-only all the rest.
fn binds(parts: &Parts<'_>) -> Result<Vec<String>, SandboxError> {
    let LaunchPlan { policy, files, .. } = parts.plan;
    let mut options = "rw".to_owned();
    if parts.engine.facts.maker == Maker::Podman {
        options.push_str(",nosuid,nodev");
    }
    if let Some(further) = &parts.mapping.mount_options {
        options = format!("{options},{further}");
    }
    let mut binds = vec![bind(&policy.workspace, WORKSPACE_INSIDE.as_ref(), &options)?];
    for (source, place) in [
        (&files.executable, GUEST_INSIDE),
        (&files.filter, FILTER_INSIDE),
        // The engine's own versions of these tell the host's names and addresses.
        (&files.hosts, "/etc/hosts"),
        (&files.empty, "/etc/resolv.conf"),
    ] {
        binds.push(bind(source, place.as_ref(), "ro")?);
    }
    for path in &policy.expose {
        binds.push(bind(path, path, "ro")?);
    }
    for path in parts.masked {
        binds.push(bind(&files.empty, &inside(&policy.workspace, path), "ro")?);
    }
    Ok(binds)
}

/// Where a path of the workspace is, inside.
pub(super) fn inside(workspace: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(workspace).map_or_else(|_| path.to_path_buf(), |below| Path::new(WORKSPACE_INSIDE).join(below))
}

/// The engine's notation has no way to write a colon in a path.
fn bind(source: &Path, place: &Path, options: &str) -> Result<String, SandboxError> {
    for path in [source, place] {
        if path.to_str().is_none_or(|text| text.contains([':', ',', '\n'])) {
            let reason = "has a name that container engines cannot mount (not UTF-8, or with a colon or comma in it)";
            return Err(SandboxError::Refused { path: path.to_path_buf(), reason: reason.to_owned() });
        }
    }
    Ok(format!("{}:{}:{options}", source.display(), place.display()))
}

/// Folders in memory. A folder that the image wants as a volume is one too, or it would be a place on the disk.
fn tmpfs(parts: &Parts<'_>) -> HashMap<String, String> {
    let bytes = parts.plan.limits.tmp_bytes;
    let owner = tmpfs_owner(parts.engine.facts.maker, &parts.mapping.user);
    let scratch = |bytes: u64, mode: &str| format!("rw,exec,size={bytes},mode={mode}{owner}");
    let small = parts.image.volumes.iter().map(String::as_str).chain(["/var/tmp"]);
    let mut folders: HashMap<String, String> =
        small.map(|folder| (folder.to_owned(), scratch(bytes / 4, "1777"))).collect();
    folders.insert("/tmp".to_owned(), scratch(bytes, "1777"));
    folders.insert(HOME_INSIDE.to_owned(), scratch(bytes, "0777"));
    folders.insert("/run".to_owned(), format!("rw,size={RUN_BYTES},mode=0755"));
    folders
}

/// Who owns the folders in memory. Docker's runtime (runc before 1.2) gives each the mode that the image's own folder has
/// there, whatever is asked for, so they must be the user's; Podman takes no owner, and keeps to the mode.
fn tmpfs_owner(maker: Maker, user: &str) -> String {
    match (maker, user.split_once(':')) {
        (Maker::Docker, Some((uid, gid))) => format!(",uid={uid},gid={gid}"),
        _ => String::new(),
    }
}

/// The variables that go in.
pub(super) fn env_of(plan: &LaunchPlan<'_>, image: &Image, flavour: Flavour) -> Vec<(String, String)> {
    environment::inside(plan, image, flavour.name()).into_iter().collect()
}

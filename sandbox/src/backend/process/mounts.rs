//! What is visible inside: an allow-list.
//!
//! As root, the sandbox's user is the host's root in all but name and capabilities, so a file's mode protects nothing:
//! only what is not mounted is safe. Later mounts cover earlier ones; the workspace comes after everything of the
//! host, the masks come last.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::arguments::Arguments;
use super::toolchains::Toolchain;
use super::{GUEST_INSIDE, HOME_INSIDE};
use crate::backend::LaunchPlan;
use crate::guest_file::HOSTS;

/// Folders of programs and libraries.
const SYSTEM: [&str; 9] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store"];
/// Parts of `/etc` that programs need and that hold no secrets.
const ETC: [&str; 15] = [
    "/etc/alternatives",
    "/etc/debian_version",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/os-release",
    "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/redhat-release",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
];
/// Files of `/proc` that tell about the whole host, where the kernel has them.
const PROC_SECRETS: [&str; 8] = [
    "/proc/keys",
    "/proc/kpagecgroup",
    "/proc/kpagecount",
    "/proc/kpageflags",
    "/proc/latency_stats",
    "/proc/sched_debug",
    "/proc/timer_list",
    "/proc/timer_stats",
];
/// The most entries of a folder of `/proc` that are looked at before it is taken for writable.
const MAX_PROC_ENTRIES: usize = 24;

/// Size of a folder in which a toolchain keeps locks and small databases, in bytes.
const TOOLCHAIN_STATE_BYTES: u64 = 64 * 1024 * 1024;

/// The largest file that is copied instead of mounted, in bytes.
const MAX_COPIED_BYTES: u64 = 256 * 1024;

const PASSWD: &str = "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n\
    agent:x:1000:1000:agent:/home/agent:/bin/sh\n\
    nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
const GROUP: &str = "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n";
const NSSWITCH: &str = "passwd: files\ngroup: files\nhosts: files\n";

/// Adds all mounts; returns the files that must read as empty.
pub(super) fn add(
    arguments: &mut Arguments,
    plan: &LaunchPlan<'_>,
    toolchains: &[Toolchain],
    mut masked: Vec<PathBuf>,
) -> io::Result<Vec<PathBuf>> {
    for path in SYSTEM.iter().chain(&ETC).map(Path::new) {
        show_as_it_is(arguments, path)?;
    }
    for dir in java_dirs() {
        arguments.show(&dir, &dir);
    }
    for (contents, place) in
        [(PASSWD, "/etc/passwd"), (GROUP, "/etc/group"), (HOSTS, "/etc/hosts"), (NSSWITCH, "/etc/nsswitch.conf")]
    {
        arguments.file(contents.as_bytes(), place)?;
    }
    arguments.add(["--proc", "/proc", "--dev", "/dev"]);
    arguments.tmpfs(Path::new("/dev/shm"), plan.limits.tmp_bytes / 4);
    arguments.tmpfs(Path::new("/tmp"), plan.limits.tmp_bytes);
    arguments.tmpfs(Path::new(HOME_INSIDE), plan.limits.tmp_bytes);
    arguments.symlink(Path::new("../tmp"), Path::new("/var/tmp"));
    arguments.show(&plan.files.executable, Path::new(GUEST_INSIDE));
    for toolchain in toolchains {
        if let Some(dir) = &toolchain.writable_base {
            arguments.tmpfs(dir, TOOLCHAIN_STATE_BYTES);
        }
        for path in &toolchain.shown {
            arguments.show(path, path);
        }
    }
    for path in &plan.policy.expose {
        arguments.show(path, path);
    }
    arguments.lend(&plan.policy.workspace);
    for path in kernel_entries() {
        arguments.show(&path, &path);
    }
    masked.extend(PROC_SECRETS.iter().map(PathBuf::from).filter(|path| path.exists()));
    masked.extend(for_root_only().filter(|path| !PROC_SECRETS.iter().any(|secret| Path::new(secret) == path)));
    for path in &masked {
        arguments.show(&plan.files.empty, path);
    }
    arguments.add(["--remount-ro", "/dev", "--remount-ro", "/"]);
    Ok(masked)
}

/// Links stay links (as `/bin` to `usr/bin`), small files are copied (a mount costs more), folders are mounted; what is
/// missing is left out.
fn show_as_it_is(arguments: &mut Arguments, path: &Path) -> io::Result<()> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
    if metadata.is_symlink() {
        arguments.symlink(&fs::read_link(path)?, path);
    } else if metadata.is_file() && metadata.len() <= MAX_COPIED_BYTES {
        arguments.file(&fs::read(path)?, &path.to_string_lossy())?;
    } else {
        arguments.show(path, path);
    }
    Ok(())
}

/// What of `/proc` is not about processes but about the kernel, and could be written to. The kernel lets *root* write
/// to much of it without any capability (`/proc/sys/kernel/core_pattern` names a program that the host then runs),
/// some of it even lets anyone, and bubblewrap covers only a part; a read-only mount over each is what stops that.
fn kernel_entries() -> Vec<PathBuf> {
    // Others than root are only let in where everyone is.
    let writable_bits = if rustix::process::geteuid().is_root() { 0o222 } else { 0o002 };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_kernels = |entry: &fs::DirEntry| {
        let is_process = entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit());
        // Links lead into the process's own folder.
        let is_link = entry.file_type().is_ok_and(|file_type| file_type.is_symlink());
        !is_process && !is_link && (entry.file_name() == "sys" || has_writable(&entry.path(), writable_bits))
    };
    entries.filter(is_kernels).map(|entry| entry.path()).collect()
}

/// Files of `/proc` that only root may read (how the kernel uses its memory, and at which addresses). Inside, whoever was
/// started by root is root to them.
fn for_root_only() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_for_root = |entry: &fs::DirEntry| {
        entry.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o077 == 0)
    };
    entries.filter(is_for_root).map(|entry| entry.path())
}

/// Whether a file, or one below a folder, could be written to by its mode; "yes" when that takes too long to say.
fn has_writable(top: &Path, writable_bits: u32) -> bool {
    let (mut open, mut entries) = (vec![top.to_path_buf()], 0);
    while let Some(path) = open.pop() {
        entries += 1;
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        if entries > MAX_PROC_ENTRIES || (metadata.is_file() && metadata.permissions().mode() & writable_bits != 0) {
            return true;
        }
        if metadata.is_dir() {
            open.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
    false
}

/// Java keeps its configuration in folders named after the version.
fn java_dirs() -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir("/etc") else { return Vec::new() };
    let is_java = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("java-") && path.is_dir()
    };
    entries.flatten().map(|entry| entry.path()).filter(is_java).collect()
}

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

/// Folders of programs and libraries.
const SYSTEM: [&str; 9] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store"];
/// Parts of `/etc` that programs need and that hold no secrets.
const ETC: [&str; 20] = [
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/debian_version",
    "/etc/fonts",
    "/etc/inputrc",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/os-release",
    "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/redhat-release",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
];
/// Files of `/proc` that only root may read; inside, the host's root would be allowed to.
const PROC_SECRETS: [&str; 5] =
    ["/proc/kpagecgroup", "/proc/kpagecount", "/proc/kpageflags", "/proc/timer_list", "/proc/vmallocinfo"];

/// Size of a folder in which a toolchain keeps locks and small databases, in bytes.
const TOOLCHAIN_STATE_BYTES: u64 = 64 * 1024 * 1024;

/// The largest file that is copied instead of mounted, in bytes.
const MAX_COPIED_BYTES: u64 = 256 * 1024;

const PASSWD: &str = "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n\
    agent:x:1000:1000:agent:/home/agent:/bin/sh\n\
    nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
const GROUP: &str = "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n";
const HOSTS: &str = "127.0.0.1 localhost retrace\n::1 localhost\n";
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
    if rustix::process::geteuid().is_root() {
        masked.extend(PROC_SECRETS.iter().map(PathBuf::from).filter(|path| path.exists()));
    }
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

/// What of `/proc` is not about processes but about the kernel. The kernel lets *root* write to much of it without
/// any capability (`/proc/sys/kernel/core_pattern` names a program that the host then runs), some of it even lets
/// anyone, and bubblewrap covers only a part; a read-only mount over each is what stops that.
fn kernel_entries() -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let is_kernels = |entry: &fs::DirEntry| {
        let is_process = entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit());
        // Links lead into the process's own folder.
        !is_process
            && entry.metadata().is_ok_and(|metadata| {
                metadata.is_dir() || (metadata.is_file() && metadata.permissions().mode() & 0o222 != 0)
            })
    };
    entries.flatten().filter(is_kernels).map(|entry| entry.path()).collect()
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

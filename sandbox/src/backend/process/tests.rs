//! Broken on purpose: for each way to break the isolation, the probe must notice and the start must fail.

use std::os::unix::process::CommandExt as _;
use std::path::Path;

use super::*;
use crate::limits::Limits;
use crate::policy::Policy;
use crate::proof::Proof;
use crate::sandbox::Sandbox;

/// The proofs that fail when the isolation is broken in this way.
async fn failing(sabotage: Sabotage) -> Vec<String> {
    let workspace = tempfile::tempdir().unwrap();
    std::fs::write(workspace.path().join(".env"), "KEY=secret").unwrap();
    let guest_dir = tempfile::tempdir().unwrap();
    let backend = ProcessBackend { sabotage: Some(sabotage) };
    let policy = Policy::new(workspace.path());
    let started = Sandbox::start_on(&backend, &policy, &Limits::default(), guest_dir.path(), Vec::new()).await;
    match started.map(|_| ()) {
        Err(SandboxError::NotIsolated { backend: "process", proofs }) => {
            proofs.into_iter().filter(|proof: &Proof| !proof.passed).map(|proof| proof.name).collect()
        }
        other => panic!("{sabotage:?}: {other:?}"),
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[tokio::test]
async fn a_shared_network_is_noticed() {
    let failing = failing(Sabotage::Network).await;
    for expected in ["own namespaces", "host's loopback unreachable", "host's abstract sockets unreachable"] {
        assert!(failing.iter().any(|name| name == expected), "{expected}: {failing:?}");
    }
}

#[tokio::test]
async fn a_missing_filter_is_noticed() {
    let failing = failing(Sabotage::Seccomp).await;
    assert!(failing.contains(&"system call filter".to_owned()), "{failing:?}");
    assert!(failing.contains(&"ptrace denied".to_owned()), "{failing:?}");
}

#[tokio::test]
async fn shared_process_ids_are_noticed() {
    let failing = failing(Sabotage::ProcessIds).await;
    for expected in ["own namespaces", "host's processes invisible"] {
        assert!(failing.iter().any(|name| name == expected), "{expected}: {failing:?}");
    }
}

#[tokio::test]
async fn a_writable_root_is_noticed() {
    assert_eq!(failing(Sabotage::ReadOnlyRoot).await, ["read-only root", "only the workspace is writable"]);
}

#[tokio::test]
async fn a_readable_secret_is_noticed() {
    assert_eq!(failing(Sabotage::Masks).await, ["secret files masked"]);
}

#[tokio::test]
async fn visible_host_files_are_noticed() {
    // The workspace lies in the folder that is shown, so its mask is uncovered as well.
    assert_eq!(failing(Sabotage::HostFiles).await, ["host files invisible", "secret files masked"]);
}

#[tokio::test]
async fn a_leaked_variable_is_noticed() {
    assert_eq!(failing(Sabotage::Environment).await, ["environment from the allow-list"]);
}

#[tokio::test]
async fn a_root_user_is_noticed() {
    assert_eq!(failing(Sabotage::User).await, ["not root"]);
}

#[tokio::test]
async fn writable_kernel_settings_are_noticed() {
    let failing = failing(Sabotage::KernelSettings).await;
    assert_eq!(failing, ["kernel settings read-only"]);
}

#[tokio::test]
async fn missing_limits_are_noticed() {
    // Anyone but root is limited by other means then.
    if is_root() {
        assert_eq!(failing(Sabotage::Cgroup).await, ["process limit in force"]);
    }
}

#[test]
fn complaints_of_bubblewrap_are_explained() {
    let explain = |stderr: &str| failure::explain(stderr, "no hello".to_owned());
    assert!(matches!(
        explain("bwrap: setting up uid map: Permission denied\n"),
        SandboxError::NamespacesForbidden { detail } if detail.ends_with("Permission denied")
    ));
    assert!(matches!(
        explain("bwrap: No permissions to create new namespace, likely because the kernel does not allow it.\n"),
        SandboxError::NamespacesForbidden { .. }
    ));
    assert!(matches!(explain("bwrap: Unknown option --disable-userns\n"), SandboxError::BubblewrapTooOld { .. }));
    assert!(matches!(
        explain("noise\nbwrap: Can't find source path /x: No such file or directory\n"),
        SandboxError::Start { backend: "process", detail } if detail.contains("/x")
    ));
    assert!(matches!(explain(""), SandboxError::Handshake { detail } if detail == "no hello"));
}

#[test]
fn the_filter_is_whole_and_small() {
    let filter = seccomp::filter().unwrap();
    assert_eq!(filter.len() % 8, 0);
    // The kernel takes at most 4096 instructions.
    assert!((64..4096).contains(&(filter.len() / 8)), "{}", filter.len() / 8);
}

#[test]
fn the_limits_of_processes_step_in_where_there_is_no_control_group() {
    let limits = Limits::default();
    let without = exec_limits(&limits, &Cgroup::none(&limits));
    assert_eq!((without.processes, without.data_bytes), (Some(limits.pids), Some(limits.memory())));
    if is_root() {
        let with = exec_limits(&limits, &Cgroup::create(&limits));
        assert_eq!((with.processes, with.data_bytes), (None, None));
    }
}

#[test]
fn masks_are_found_near_the_top_and_only_inside() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let outside = tempfile::NamedTempFile::new().unwrap();
    let file = |path: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "x").unwrap();
        path
    };
    let mut expected = vec![file(".env"), file("a/.env"), file("a/b/c/.env"), file("real")];
    file("a/b/c/d/.env");
    file("node_modules/x/.env");
    std::os::unix::fs::symlink("../../real", root.join("a/b/.env")).unwrap();
    std::fs::create_dir(root.join("dir")).unwrap();
    std::fs::create_dir(root.join("dir/.env")).unwrap();
    std::fs::create_dir(root.join("out")).unwrap();
    std::os::unix::fs::symlink(outside.path(), root.join("out/.env")).unwrap();
    expected.sort();
    assert_eq!(masks::find(&root, &[".env".to_owned()]), expected);
    assert_eq!(masks::find(&root, &[]), Vec::<std::path::PathBuf>::new());
}

#[test]
fn the_search_for_masks_is_bounded() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..200 {
        std::fs::create_dir(dir.path().join(format!("{n:03}"))).unwrap();
        std::fs::write(dir.path().join(format!("{n:03}/.env")), "x").unwrap();
    }
    assert_eq!(masks::find(&dir.path().canonicalize().unwrap(), &[".env".to_owned()]).len(), 64);
}

#[test]
fn only_visible_folders_are_in_the_search_path() {
    let shown = toolchains::Toolchain { writable_base: None, shown: vec!["/home/u/.tool/bin".into()], env: Vec::new() };
    let policy = Policy { expose: vec!["/data/bin".into()], ..Policy::new("/work") };
    let host = "/home/u/bin:/home/u/.tool/bin:/data/bin:relative:/usr/bin:/work/bin:/usr/bin::/root/x";
    let inside = environment::path_inside(host.as_ref(), &policy, &[shown]);
    let expected = "/home/u/.tool/bin:/data/bin:/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin:/bin";
    assert_eq!(inside, expected);
    assert!(environment::path_inside("".as_ref(), &policy, &[]).to_string_lossy().starts_with("/usr/local/sbin"));
    assert!(Path::new("/usr/bin").is_dir());
}

#[test]
fn half_made_sandboxes_of_dead_programs_are_swept_and_those_of_others_are_not() {
    let folder = tempfile::tempdir().unwrap();
    // Only its name counts, and this one has no children that could outlive it.
    let bubblewrap = folder.path().join("bwrap");
    std::os::unix::fs::symlink("/bin/sleep", &bubblewrap).unwrap();
    let half_made = |owner: &str| {
        let mut command = std::process::Command::new(&bubblewrap);
        command.arg0("sleep").arg("1000").env(retrace_guest::SANDBOX_ID_VARIABLE, format!("{owner}-0"));
        command.spawn().unwrap()
    };
    let ours = crate::cgroup::owner_mark();
    // Of the same process id, but started at another time.
    let dead = format!("{}-1", ours.rsplit_once('-').unwrap().0);
    let (mut stale, mut living) = (half_made(&dead), half_made(&ours));
    stale::sweep();
    assert!(!stale.wait().unwrap().success());
    assert!(living.try_wait().unwrap().is_none());
    living.kill().unwrap();
    living.wait().unwrap();
}

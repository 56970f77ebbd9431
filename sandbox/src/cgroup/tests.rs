//! Where groups may go, on machines of all kinds; and that real ones come and go, where this user may make them.

use std::path::PathBuf;

use super::group::keyed;
use super::place::{Controller, Place, Version, find, find_marked};
use super::stale::{group_name, is_stale};
use super::*;

fn places(mounts: &str, own: &str, enabled: &[&str]) -> Vec<(Version, String)> {
    find(Controller::Memory, mounts, own, |dir| enabled.iter().any(|path| Path::new(path) == dir))
        .into_iter()
        .map(|Place { version, parent }| (version, parent.display().to_string()))
        .collect()
}

#[test]
fn version_1_takes_our_own_group_and_then_the_top() {
    let mounts = "31 30 0:27 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n\
        32 30 0:28 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n";
    let own = "4:memory:/user/1\n1:cpu:/\n0::/\n";
    let expected = ["/sys/fs/cgroup/memory/user/1", "/sys/fs/cgroup/memory"].map(|dir| (Version::V1, dir.to_owned()));
    assert_eq!(places(mounts, own, &[]), expected);
    assert_eq!(places(mounts, "4:memory:/\n", &[]), expected[1..]);
}

#[test]
fn version_2_takes_the_nearest_group_above_that_hands_the_controller_down() {
    let mounts = "30 24 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
    let own = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope\n";
    let base = "/sys/fs/cgroup/user.slice/user-1000.slice";
    let service = format!("{base}/user@1000.service");
    let app = format!("{service}/app.slice");
    assert_eq!(
        places(mounts, own, &["/sys/fs/cgroup", &service, &app, &format!("{app}/term.scope")]),
        [app.clone(), service, "/sys/fs/cgroup".to_owned()].map(|dir| (Version::V2, dir))
    );
    assert_eq!(places(mounts, own, &[]), []);
    // In a container that is its own root, children of the root itself are all there can be.
    assert_eq!(places(mounts, "0::/\n", &["/sys/fs/cgroup"]), [(Version::V2, "/sys/fs/cgroup".to_owned())]);
}

#[test]
fn a_mount_of_a_part_of_the_hierarchy_is_resolved() {
    let mounts = "31 30 0:27 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
    let found = places(mounts, "4:memory:/docker/abc/inner\n", &[]);
    assert_eq!(found[0].1, "/sys/fs/cgroup/memory/inner");
}

#[test]
fn a_containers_groups_begin_with_the_topmost_of_its_name() {
    let find = |mounts: &str, groups: &str| {
        let places = find_marked(Controller::Memory, mounts, groups, "abc123").into_iter();
        places.map(|place| place.parent.display().to_string()).collect::<Vec<_>>()
    };
    let v1 = "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
    let of_v1 = "4:memory:/libpod_parent/libpod-abc123\n1:cpu:/\n0::/\n";
    assert_eq!(find(v1, of_v1), ["/sys/fs/cgroup/memory/libpod_parent/libpod-abc123"]);
    let v2 = "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    let of_v2 = "0::/user.slice/libpod-abc123.scope/container\n";
    let scope = "/sys/fs/cgroup/user.slice/libpod-abc123.scope";
    assert_eq!(find(v2, of_v2), [scope.to_owned(), format!("{scope}/container")]);
    let nested = "0::/x/abc123/docker-abc123.scope/init.scope\n";
    assert_eq!(find(v2, nested)[0], "/sys/fs/cgroup/x/abc123");
    assert_eq!(find(v2, nested).len(), 3);
    for (mounts, groups) in [(v2, "0::/user.slice/other.scope\n"), ("", of_v2), (v2, "")] {
        assert!(find(mounts, groups).is_empty());
    }
}

#[test]
fn the_tightest_of_a_containers_groups_is_the_one_that_limits() {
    let scope = tempfile::tempdir().unwrap();
    let inner = scope.path().join("container");
    std::fs::create_dir(&inner).unwrap();
    let write = |dir: &Path, memory: &str, pids: &str, cpu: &str| {
        for (file, text) in [("memory.max", memory), ("pids.max", pids), ("cpu.max", cpu)] {
            std::fs::write(dir.join(file), text).unwrap();
        }
    };
    let limits = Limits { memory_bytes: Some(1000), pids: 7, cpus: Some(0.5), ..Limits::default() };
    let group = |dir: &Path| group::Group { version: Version::V2, dir: dir.to_path_buf() };
    let groups = || vec![group(scope.path()), group(&inner)];
    let watched = Watched { memory: groups(), pids: groups(), cpu: groups() };
    let passed = || watched.proofs(&limits).iter().map(|proof| proof.passed).collect::<Vec<_>>();
    // As crun with systemd leaves them.
    write(scope.path(), "max", "3492", "max 100000");
    write(&inner, "1000", "7", "50000 100000");
    assert_eq!(passed(), [true; 3]);
    write(&inner, "1001", "8", "60000 100000");
    assert_eq!(passed(), [false; 3]);
    // As runc leaves them.
    write(scope.path(), "1000", "7", "50000 100000");
    write(&inner, "max", "max", "max 100000");
    assert_eq!(passed(), [true; 3]);
    // Room is made where it is narrow, and nowhere else.
    watched.raise_memory(2000).unwrap();
    assert_eq!(std::fs::read_to_string(scope.path().join("memory.max")).unwrap(), "2000");
    assert_eq!(std::fs::read_to_string(inner.join("memory.max")).unwrap(), "max");
}

#[test]
fn nonsense_is_no_place() {
    assert_eq!(places("", "", &[]), []);
    assert_eq!(places("garbage - \n1 2 3 - cgroup\n", "x\n::\n", &[]), []);
}

#[test]
fn only_groups_of_dead_owners_in_our_namespace_are_stale() {
    let alive = |pid: u32| Ok((pid == 7).then_some(100));
    assert!(!is_stale("retrace-5-7-100-0", 5, alive));
    assert!(is_stale("retrace-5-7-99-0", 5, alive), "the id was used again");
    assert!(is_stale("retrace-5-8-100-3", 5, alive), "the owner is gone");
    assert!(!is_stale("retrace-6-8-100-3", 5, alive), "another namespace");
    for other in ["retrace-5-8-100", "retrace-5-8-100-3-4", "retrace-x-8-100-3", "other", "retrace-", "user.slice"] {
        assert!(!is_stale(other, 5, alive), "{other}");
    }
    let blind = |_: u32| Err(std::io::Error::from_raw_os_error(libc::EMFILE));
    assert!(!is_stale("retrace-5-8-100-3", 5, blind), "who cannot look must not judge");
    let own = group_name(3);
    let namespace: u64 = own.split('-').nth(1).unwrap().parse().unwrap();
    assert!(!is_stale(&own, namespace, stale::start_of));
}

#[test]
fn counters_are_read_by_key() {
    let text = "oom_kill_disable 0\nunder_oom 0\noom_kill 12\n";
    assert_eq!(keyed(text, "oom_kill"), Some(12));
    assert_eq!(keyed(text, "oom"), None);
    assert_eq!(keyed("max x\n", "max"), None);
}

#[tokio::test]
async fn the_alarm_rings_when_memory_runs_out() {
    let mut cgroup = Cgroup::create(&Limits { memory_bytes: Some(32 << 20), ..Limits::default() });
    if rustix::process::geteuid().is_root() {
        assert!(cgroup.limits_memory());
    }
    if let Some(group) = &cgroup.memory {
        let watched = Watched { memory: vec![group.clone()], ..Watched::default() };
        let alarm = watched.alarm().unwrap();
        let mut command = tokio::process::Command::new("sh");
        command.args(["-c", "read go; head -c 100000000 /dev/zero | tail"]).kill_on_drop(true);
        let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
        cgroup.doors().unwrap().admit(child.id().unwrap()).unwrap();
        assert!(futures::FutureExt::now_or_never(alarm.rings()).is_none(), "there is room yet");
        tokio::io::AsyncWriteExt::write_all(child.stdin.as_mut().unwrap(), b"go\n").await.unwrap();
        let counted = async {
            while watched.counters().memory_kills == 0 {
                alarm.rings().await.unwrap();
                if alarm.is_early() {
                    while watched.counters().memory_kills == 0 {
                        tokio::task::yield_now().await;
                    }
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(60), counted).await.expect("it rings");
        child.wait().await.unwrap();
    }
    cgroup.remove().await;
}

#[tokio::test]
async fn a_real_group_limits_counts_and_goes() {
    let limits = Limits { pids: 3, ..Limits::default() };
    let mut cgroup = Cgroup::create(&limits);
    let dirs: Vec<PathBuf> = cgroup.dirs().into_iter().map(Path::to_path_buf).collect();
    if rustix::process::geteuid().is_root() {
        assert!(cgroup.limits_pids() && cgroup.limits_memory());
    }
    if cgroup.limits_pids() {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "read go; sleep 1000 & sleep 1000 & sleep 1000 & wait"]);
        command.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        cgroup.doors().unwrap().admit(child.id()).unwrap();
        assert!(cgroup.proofs(child.id()).iter().all(|proof| proof.passed));
        io::Write::write_all(child.stdin.as_mut().unwrap(), b"go\n").unwrap();
        while cgroup.counters().pids_refused == 0 {
            assert!(child.try_wait().unwrap().is_none() || cgroup.counters().pids_refused > 0);
        }
        assert!(cgroup.proofs(1).iter().any(|proof| !proof.passed), "process 1 is not in it");
        cgroup.kill();
        child.wait().unwrap();
    }
    cgroup.remove().await;
    assert!(dirs.iter().all(|dir| !dir.exists()), "{dirs:?}");
}

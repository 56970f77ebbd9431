//! Many sessions, made and ended in parallel, and programs that are killed in the middle of that: nothing of them is left.
//!
//! `RETRACE_TEST_SOAK=1000,50` makes a thousand sessions and fifty crashes; without it only a few, so that it is cheap.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use retrace_sandbox::{ExecRequest, Limits, Policy, Sandbox, SandboxChoice};

use crate::engine;
use crate::support::{backend, run, text};

/// Sessions at once.
const PARALLEL: usize = 4;
/// For the program that is killed: how many sessions, and the folder for all of its files.
const OWNER: &str = "RETRACE_TEST_SOAK_OWNER";
/// What ends takes its time on a busy machine.
const DEADLINE: Duration = Duration::from_secs(120);

/// The sizes asked for, or small ones.
fn sizes() -> (usize, usize) {
    let asked = std::env::var("RETRACE_TEST_SOAK").unwrap_or_default();
    let numbers: Vec<usize> = asked.split(',').filter_map(|number| number.parse().ok()).collect();
    match numbers.as_slice() {
        [sessions, crashes] => (*sessions, *crashes),
        _ => (PARALLEL * 2, 2),
    }
}

/// Not a test: the program that makes sessions, as this binary runs it again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[allow(clippy::print_stdout, reason = "the one who started it reads along")]
async fn owner() {
    let Ok(order) = std::env::var(OWNER) else { return };
    let (sessions, dir) = order.split_once(',').unwrap();
    let (sessions, dir) = (sessions.parse::<usize>().unwrap(), PathBuf::from(dir));
    let mut begun = 0;
    while begun < sessions {
        let batch = (begun..sessions.min(begun + PARALLEL)).map(|number| session(&dir, number));
        for (start_ms, end_ms) in futures::future::join_all(batch).await {
            println!("session {start_ms} {end_ms}");
        }
        begun += PARALLEL;
    }
}

/// One session from its start to its end; how long these two took, in milliseconds.
async fn session(dir: &Path, number: usize) -> (u128, u128) {
    let workspace = dir.join(format!("work-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&workspace).unwrap();
    let starting = Instant::now();
    let policy = Policy { home_toolchains: false, ..Policy::new(&workspace) };
    let sandbox = Sandbox::start(backend(), policy, Limits::default(), &dir.join("guest")).await.unwrap();
    let start_ms = starting.elapsed().as_millis();
    let script = "echo written > file; setsid sleep 1000 >/dev/null 2>&1 & echo ran";
    let output = run(&sandbox, ExecRequest::shell(script)).await;
    assert_eq!((text(&output.stdout).as_str(), output.result.code), ("ran\n", Some(0)), "{output:?}");
    // One of them still has something to do when it is ended.
    let _running = sandbox.exec(ExecRequest::shell("sleep 1000")).await.unwrap();
    let ending = Instant::now();
    sandbox.shutdown().await;
    std::fs::remove_dir_all(&workspace).unwrap();
    (start_ms, ending.elapsed().as_millis())
}

fn start_owner(sessions: usize, dir: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["soak::owner", "--exact", "--nocapture", "--test-threads", "1"])
        .env(OWNER, format!("{sessions},{}", dir.display()))
        .env("TMPDIR", dir.join("tmp"))
        .env("HOME", dir.join("home"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[tokio::test]
#[allow(clippy::print_stdout, reason = "figures are for people")]
async fn nothing_is_left_of_many_sessions_and_of_crashes() {
    let (sessions, crashes) = sizes();
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    for name in ["tmp", "home", "guest"] {
        std::fs::create_dir(dir.join(name)).unwrap();
    }
    let begun = Instant::now();
    let mut owners = Vec::new();
    for crash in 0..crashes {
        let mut owner = start_owner(usize::MAX / 2, dir);
        // Killed at different moments: sometimes before the first session is there, later in the middle of others.
        let lines = BufReader::new(owner.stdout.take().unwrap()).lines().map_while(Result::ok);
        let seen = lines.filter(|line| line.contains("session ")).take(crash % (PARALLEL + 2)).count();
        assert_eq!(seen, crash % (PARALLEL + 2), "it ended by itself");
        owner.kill().unwrap();
        owner.wait().unwrap();
        owners.push(owner.id());
    }
    let crashed_s = begun.elapsed().as_secs_f64();

    // What a crash leaves is removed at the next start.
    let counting = Instant::now();
    let owner = start_owner(sessions, dir);
    owners.push(owner.id());
    let output = owner.wait_with_output().unwrap();
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}");
    let mut times: Vec<[u128; 2]> = said.lines().filter_map(times).collect();
    assert_eq!(times.len(), sessions, "{said}");
    times.sort_unstable();
    let median = times[times.len() / 2];
    println!(
        "{}: {crashes} crashes in {crashed_s:.1} s, then {sessions} sessions in {:.1} s, {PARALLEL} at once; medians: start {} ms, \
         end {} ms",
        backend(),
        counting.elapsed().as_secs_f64(),
        median[0],
        median[1],
    );
    wait_until_nothing_is_left(&owners, dir).await;
}

async fn wait_until_nothing_is_left(owners: &[u32], dir: &Path) {
    let mut left = left_of(owners, dir).await;
    let waiting = Instant::now();
    while !left.is_empty() && waiting.elapsed() < DEADLINE {
        tokio::time::sleep(Duration::from_millis(100)).await;
        left = left_of(owners, dir).await;
    }
    assert!(left.is_empty(), "left behind: {left:#?}");
}

fn times(line: &str) -> Option<[u128; 2]> {
    let mut words = line.split("session ").nth(1)?.split(' ');
    Some([words.next()?.parse().ok()?, words.next()?.parse().ok()?])
}

/// Everything that is still there of these programs: processes, control groups, mounts, containers, files.
async fn left_of(owners: &[u32], dir: &Path) -> Vec<String> {
    let mut left = Vec::new();
    let ours = |name: &str| owners.iter().any(|pid| name.contains(&format!("-{pid}-")));
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let environ = std::fs::read(process.path().join("environ")).unwrap_or_default();
        let of_ours = environ.split(|byte| *byte == 0).any(|entry| {
            let entry = String::from_utf8_lossy(entry);
            entry.strip_prefix("RETRACE_SANDBOX_ID=").is_some_and(|id| ours(&format!("-{id}")))
        });
        // What has ended has no environment any more, also when nobody has asked for its end yet.
        if of_ours {
            left.push(format!("process {}", process.file_name().display()));
        }
    }
    let mut open = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(group) = open.pop() {
        for entry in std::fs::read_dir(&group).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("retrace-") && ours(&name) {
                left.push(format!("control group {}", entry.path().display()));
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
        }
    }
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    left.extend(
        mounts.lines().filter(|line| line.contains(&*dir.to_string_lossy())).map(|line| format!("mount {line}")),
    );
    for (folder, is_ours) in [(dir.join("tmp"), true), (dir.join("home"), true), (PathBuf::from("/var/tmp"), false)] {
        let names =
            std::fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        left.extend(names.filter(|name| is_ours || ours(name)).map(|name| format!("file {}/{name}", folder.display())));
    }
    let guest = std::fs::read_dir(dir.join("guest")).unwrap().flatten();
    let stray =
        guest.map(|entry| entry.file_name().to_string_lossy().into_owned()).filter(|name| name.starts_with('.'));
    left.extend(stray.map(|name| format!("file guest/{name}")));
    if backend() != SandboxChoice::Process {
        left.extend(engine::owned_by(&ours).await.into_iter().map(|id| format!("container {id}")));
    }
    left
}

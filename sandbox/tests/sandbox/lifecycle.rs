//! How sandboxes and commands begin and end.

use std::time::Duration;

use retrace_sandbox::{Chunk, ExecRequest, FailureKind, LimitHit, Limits, Sandbox, SandboxError};

use crate::engine;
use crate::support::{
    Place, as_root, hears_of_memory, kind, limits_the_whole, on_process, prints, run, shell, slowly, text,
};

/// The host's id of the sandbox's outermost process.
pub(crate) async fn outer_pid(sandbox: &Sandbox) -> i32 {
    let marker = marker(sandbox).await;
    if !on_process() {
        return engine::container(&marker).await.expect("the sandbox's container").pid;
    }
    // The one with this sandbox's marker whose parent is us.
    let entry = format!("RETRACE_SANDBOX_ID={marker}");
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|process| process.file_name().to_str()?.parse::<i32>().ok())
        .find(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse::<u32>().ok());
            let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            parent == Some(std::process::id()) && environ.split(|b| *b == 0).any(|found| found == entry.as_bytes())
        })
        .expect("the sandbox's process")
}

async fn marker(sandbox: &Sandbox) -> String {
    prints(sandbox, "echo $RETRACE_SANDBOX_ID").await
}

fn kill(pid: i32) {
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), rustix::process::Signal::KILL).unwrap();
}

/// Control groups of this test process.
fn groups() -> usize {
    let own = format!("-{}-", std::process::id());
    let mut open = vec![std::path::PathBuf::from("/sys/fs/cgroup")];
    let mut found = 0;
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            found += usize::from(name.starts_with("retrace-") && name.contains(&own));
            if entry.file_type().is_ok_and(|file_type| file_type.is_dir()) {
                open.push(entry.path());
            }
        }
    }
    found
}

#[tokio::test]
async fn a_killed_guest_fails_all_calls_and_another_can_be_started() {
    let place = Place::new();
    let sandbox = place.start().await;
    let pid = outer_pid(&sandbox).await;
    let running = sandbox.exec(ExecRequest::shell("sleep 1000")).await.unwrap();
    kill(pid);
    let error = running.wait().await.unwrap_err();
    let SandboxError::GuestGone(report) = &error else { panic!("{error}") };
    assert!(report.detail.contains("killed by signal 9"), "{report}");
    assert_eq!(sandbox.gone().as_ref(), Some(report));
    for error in [
        sandbox.exec(ExecRequest::shell("true")).await.unwrap_err(),
        sandbox.read("x", 0, 1).await.unwrap_err(),
        sandbox.ping().await.unwrap_err(),
    ] {
        assert!(matches!(error, SandboxError::GuestGone(_)), "{error}");
    }
    sandbox.shutdown().await;
    let again = place.start().await;
    assert_eq!(prints(&again, "echo fine").await, "fine");
    again.shutdown().await;
}

/// Fills a piece of shared memory, which belongs to no process: it stays when whoever made it is killed.
const HOG: &str = r"
#include <string.h>
#include <sys/shm.h>
int main(void) {
    memset(shmat(shmget(IPC_PRIVATE, 200000000, 0600), 0, 0), 1, 200000000);
}
";

#[tokio::test]
async fn a_guest_that_runs_out_of_memory_says_so() {
    if !limits_the_whole() {
        return;
    }
    let place = Place::new();
    let roomy = place.start().await;
    let compile = ExecRequest { stdin: Some(HOG.into()), ..ExecRequest::shell("cc -O2 -o hog -x c -") };
    assert!(run(&roomy, compile).await.result.succeeded());
    roomy.shutdown().await;
    let sandbox = place.start_with(Limits { memory_bytes: Some(64 << 20), ..Limits::default() }).await;
    // When commands have been killed and it still is not enough, the guest goes.
    let request = ExecRequest::shell("./hog");
    let mut rounds = 0..100;
    let error = loop {
        rounds.next().expect("it fills up");
        let end = match sandbox.exec(request.clone()).await {
            Ok(command) => command.wait().await,
            Err(error) => Err(error),
        };
        match end {
            // Only the command was killed, as it should be; the guest follows at a next one.
            Ok(result) => assert_eq!(result.limits_hit, [LimitHit::Memory], "{result:?}"),
            Err(error) => break error,
        }
    };
    let SandboxError::GuestGone(report) = error else { panic!("{error}") };
    // In a microVM only its own kernel knows, which says so.
    let is_told = report.limit == Some(LimitHit::Memory) || report.stderr_tail.to_lowercase().contains("out of memory");
    assert!(is_told || !hears_of_memory(), "{report}");
    sandbox.shutdown().await;
}

#[tokio::test]
async fn what_a_command_ran_out_of_is_not_what_the_guest_ended_of_later() {
    if !limits_the_whole() {
        return;
    }
    let place = Place::new();
    let sandbox = place.start_with(Limits { memory_bytes: Some(64 << 20), ..Limits::default() }).await;
    let pid = outer_pid(&sandbox).await;
    let hog = "python3 -c \"x = bytearray(200_000_000)\"";
    let result = sandbox.exec(ExecRequest::shell(hog)).await.unwrap().wait().await.unwrap();
    assert_eq!(result.limits_hit, [LimitHit::Memory], "{result:?}");
    kill(pid);
    let error = loop {
        if let Err(error) = sandbox.ping().await {
            break error;
        }
    };
    let SandboxError::GuestGone(report) = error else { panic!("{error}") };
    assert_eq!(report.limit, None, "{report}");
    sandbox.shutdown().await;
}

#[tokio::test]
async fn shutdown_leaves_nothing_behind() {
    let place = Place::new();
    let sandbox = place.start().await;
    let pid = outer_pid(&sandbox).await;
    let _running = sandbox.exec(ExecRequest::shell("setsid sleep 1000 & sleep 1000")).await.unwrap();
    sandbox.shutdown().await;
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    assert_eq!(sandbox.gone().unwrap().detail, "it was shut down");
    // A second time is harmless.
    sandbox.shutdown().await;
}

#[tokio::test]
async fn dropping_the_last_handle_ends_it() {
    let place = Place::new();
    let sandbox = place.start().await;
    let pid = outer_pid(&sandbox).await;
    let clone = sandbox.clone();
    drop(sandbox);
    assert_eq!(prints(&clone, "echo still here").await, "still here");
    drop(clone);
    let gone = async {
        while std::path::Path::new(&format!("/proc/{pid}")).exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_millis(slowly(10_000)), gone).await.expect("it ends");
}

#[tokio::test]
async fn control_groups_are_removed() {
    if !on_process() {
        // An engine makes and removes those of its containers.
        return;
    }
    let place = Place::new();
    let sandbox = place.start().await;
    if as_root() {
        assert!(groups() >= 1);
    }
    sandbox.shutdown().await;
    // Other tests of this process have their own, which go as well in the end.
    let own = async {
        while groups() > 64 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_millis(slowly(10_000)), own).await.expect("they are removed");
}

#[tokio::test]
async fn dropping_a_running_command_kills_it() {
    let place = Place::new();
    let sandbox = place.start().await;
    let mut running = sandbox.exec(ExecRequest::shell("setsid sleep 1234 & echo begun; sleep 1234")).await.unwrap();
    assert_eq!(running.next().await, Some(Chunk::Stdout("begun\n".into())));
    drop(running);
    let dead = async { while prints(&sandbox, "pgrep -c -x sleep || true").await != "0" {} };
    tokio::time::timeout(Duration::from_millis(slowly(10_000)), dead).await.expect("it is killed");
    sandbox.shutdown().await;
}

#[tokio::test]
async fn a_command_can_be_killed_and_its_end_is_told() {
    let place = Place::new();
    let sandbox = place.start().await;
    let mut running = sandbox.exec(ExecRequest::shell("echo begun; sleep 1000")).await.unwrap();
    assert_eq!(running.next().await, Some(Chunk::Stdout("begun\n".into())));
    running.kill();
    let result = running.wait().await.unwrap();
    assert!(result.killed && !result.timed_out);
    assert_eq!((result.signal, result.limits_hit), (Some(9), Vec::new()));
    sandbox.shutdown().await;
}

#[tokio::test]
async fn a_command_can_be_asked_to_end() {
    let place = Place::new();
    let sandbox = place.start().await;
    let script = "trap 'echo tidied; exit 5' TERM; echo begun; while :; do :; done";
    let mut running = sandbox.exec(ExecRequest::shell(script)).await.unwrap();
    assert_eq!(running.next().await, Some(Chunk::Stdout("begun\n".into())));
    running.terminate();
    assert_eq!(running.next().await, Some(Chunk::Stdout("tidied\n".into())));
    let result = running.wait().await.unwrap();
    assert_eq!((result.code, result.killed, result.timed_out), (Some(5), true, false));
    sandbox.shutdown().await;
}

#[tokio::test]
async fn many_commands_run_at_once() {
    let place = Place::new();
    let sandbox = place.start().await;
    let outputs = futures::future::join_all((0..32).map(|n| {
        let sandbox = sandbox.clone();
        async move { shell(&sandbox, &format!("seq {n} 500; exit {n}")).await }
    }))
    .await;
    for (n, output) in outputs.into_iter().enumerate() {
        assert_eq!(output.result.code, Some(n as i32));
        let expected: String = (n..=500).map(|line| format!("{line}\n")).collect();
        assert!(text(&output.stdout) == expected);
    }
    sandbox.shutdown().await;
}

#[tokio::test]
async fn stdin_environment_and_folder_are_the_requests() {
    let place = Place::new();
    place.file("dir/file", "");
    let sandbox = place.start().await;
    let request = ExecRequest {
        stdin: Some("from stdin".into()),
        env: vec![("EXTRA".to_owned(), "extra".to_owned())],
        cwd: Some("dir".into()),
        ..ExecRequest::shell("cat; echo; echo $EXTRA; ls")
    };
    assert_eq!(text(&run(&sandbox, request).await.stdout), "from stdin\nextra\nfile\n");
    let outside = ExecRequest { cwd: Some("..".into()), ..ExecRequest::shell("pwd") };
    assert_eq!(kind(sandbox.exec(outside).await.unwrap().wait().await), FailureKind::OutsideWorkspace);
    sandbox.shutdown().await;
}

#[tokio::test]
async fn what_cannot_be_started_is_an_error_of_the_call_only() {
    let place = Place::new();
    let sandbox = place.start().await;
    let start = async |request| sandbox.exec(request).await.unwrap().wait().await;
    assert_eq!(kind(start(ExecRequest::argv(["no-such-program"])).await), FailureKind::SpawnFailed);
    assert_eq!(kind(start(ExecRequest::argv::<String>([])).await), FailureKind::BadRequest);
    let huge = sandbox.exec(ExecRequest::shell("x".repeat(2 << 20))).await.map(|_| ());
    assert_eq!(kind(huge), FailureKind::TooLarge);
    let stdin = ExecRequest { stdin: Some(vec![0; 17 << 20].into()), ..ExecRequest::shell("cat") };
    assert_eq!(kind(sandbox.exec(stdin).await.map(|_| ())), FailureKind::TooLarge);
    assert_eq!(prints(&sandbox, "echo fine").await, "fine");
    sandbox.shutdown().await;
}

#[tokio::test]
async fn two_sandboxes_do_not_see_each_other() {
    let (one, two) = (Place::new(), Place::new());
    let (first, second) = (one.start().await, two.start().await);
    shell(&first, "echo secret > /tmp/mine; echo secret > file").await;
    assert_eq!(prints(&second, "ls /tmp/mine 2>/dev/null; cat file 2>/dev/null; true").await, "");
    first.shutdown().await;
    assert_eq!(prints(&second, "echo fine").await, "fine");
    second.shutdown().await;
}

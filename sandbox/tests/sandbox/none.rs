//! Without isolation, by explicit choice: the same protocol, and still no keys and no left-overs.

use retrace_sandbox::{ExecRequest, IsolationLevel, Limits, Sandbox, SandboxChoice};

use crate::support::{Place, prints, shell};

async fn start(place: &Place) -> Sandbox {
    Sandbox::start(SandboxChoice::None, place.policy(), Limits::default(), place.guest_dir()).await.unwrap()
}

#[tokio::test]
async fn it_runs_on_the_host_and_says_so() {
    let place = Place::new();
    let sandbox = start(&place).await;
    assert_eq!((sandbox.level(), sandbox.backend_name()), (IsolationLevel::None, "none"));
    assert_eq!(sandbox.proofs().len(), 1);
    assert_eq!(prints(&sandbox, "pwd; echo $RETRACE_SANDBOX").await, format!("{}\nnone", place.workspace().display()));
    let own = rustix::process::getuid().as_raw().to_string();
    assert_eq!(prints(&sandbox, "id -u").await, own);
    sandbox.shutdown().await;
}

#[tokio::test]
async fn keys_stay_out_all_the_same() {
    let place = Place::new();
    // SAFETY: no other test of this binary reads or writes this variable.
    unsafe { std::env::set_var("SOME_SERVICE_TOKEN", "do-not-leak") };
    let sandbox = start(&place).await;
    assert!(!prints(&sandbox, "env").await.contains("do-not-leak"));
    sandbox.shutdown().await;
}

#[tokio::test]
async fn what_a_killed_guest_leaves_is_found_and_killed() {
    let place = Place::new();
    let sandbox = start(&place).await;
    let script = "setsid sleep 1000 & echo $! > child; cut -d' ' -f4 /proc/$PPID/stat > guest; sleep 1000";
    let running = sandbox.exec(ExecRequest::shell(script)).await.unwrap();
    let guest = place.workspace().join("guest");
    let read = |path: &std::path::Path| std::fs::read_to_string(path).ok()?.trim().parse::<i32>().ok();
    let pid = loop {
        if let Some(pid) = read(&guest) {
            break pid;
        }
        tokio::task::yield_now().await;
    };
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), rustix::process::Signal::KILL).unwrap();
    running.wait().await.unwrap_err();
    sandbox.shutdown().await;
    let child = read(&place.workspace().join("child")).unwrap();
    wait_until_dead(child).await;
}

/// A killed process runs to its end when the kernel next lets it run, which may be a moment after the kill.
async fn wait_until_dead(pid: i32) {
    let begun = std::time::Instant::now();
    loop {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if state.is_empty() || state.contains(") Z ") {
            return;
        }
        assert!(begun.elapsed() < std::time::Duration::from_secs(5), "it lives on: {state}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn limits_hold_as_far_as_they_can() {
    let place = Place::new();
    let sandbox = start(&place).await;
    let output = shell(&sandbox, "ulimit -f").await;
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{}\n", Limits::default().file_size_bytes / 1024));
    sandbox.shutdown().await;
}

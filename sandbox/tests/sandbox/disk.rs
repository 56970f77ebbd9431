//! What commands add to the workspace's disk is limited, and a sandbox that nobody uses ends.

use std::time::Duration;

use retrace_sandbox::{ExecRequest, LimitHit, Limits, SandboxError};

use crate::support::{Place, prints, run, slowly};

const MIB: u64 = 1024 * 1024;

#[tokio::test]
async fn a_disk_filler_is_killed_and_named() {
    let place = Place::new();
    place.file("here-before", [1].repeat(40 * MIB as usize));
    let sandbox = place.start_with(Limits { disk_bytes: Some(30 * MIB), ..Limits::default() }).await;
    // As long as others free space at the same time the fall may not show, so it goes on.
    let filler = "i=0; while :; do i=$((i+1)); head -c 1000000 /dev/urandom > f$i; done";
    let output = run(&sandbox, ExecRequest { timeout_ms: Some(slowly(120_000)), ..ExecRequest::shell(filler) }).await;
    assert_eq!((output.result.signal, &output.result.limits_hit[..]), (Some(9), &[LimitHit::Disk][..]));
    assert_eq!(prints(&sandbox, "rm -f f*; echo fine").await, "fine");
    sandbox.shutdown().await;
}

#[tokio::test]
async fn a_sandbox_that_nobody_uses_ends_and_one_with_a_command_does_not() {
    let place = Place::new();
    let sandbox = place.start_with(Limits { idle_ms: Some(300), ..Limits::default() }).await;
    // Longer than it may be idle.
    let output = run(&sandbox, ExecRequest::shell("sleep 1; echo worked")).await;
    assert_eq!(output.stdout, b"worked\n");
    let ended = async {
        while sandbox.gone().is_none() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_millis(slowly(20_000)), ended).await.expect("it ends");
    assert!(sandbox.was_idle());
    for error in [
        sandbox.exec(ExecRequest::shell("true")).await.unwrap_err(),
        sandbox.read("x", 0, 1).await.unwrap_err(),
        sandbox.keep().unwrap_err(),
    ] {
        let SandboxError::GuestGone(report) = error else { panic!("{error}") };
        assert_eq!(report.limit, Some(LimitHit::Idle));
    }
    sandbox.shutdown().await;
}

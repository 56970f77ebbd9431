//! How commands in the background end: each end is told once, whatever ends it, and nothing is left.

use super::harness::{Bench, tool_named};
use crate::tools::{Background, ToolContext, ToolFailure};
use retrace_events::payload::tool::ToolExit;
use serde_json::json;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Waits until no process of the sandbox has `marker` in its command line.
async fn wait_until_gone(bench: &Bench, marker: &str) {
    // The brackets keep this very command from finding itself.
    let (first, rest) = marker.split_at(1);
    let command = format!("pgrep -f '[{first}]{rest}' || echo gone");
    while !bench.ok("bash", json!({"command": command})).await.ends_with("\ngone") {}
}

const fn exit(code: Option<i32>, signal: Option<i32>) -> Option<ToolExit> {
    Some(ToolExit { code, signal, timed_out: false })
}

#[tokio::test]
async fn an_end_by_itself_is_told_once() {
    let bench = Bench::new().await;
    let call = bench.background("until [ -e go ]; do :; done; echo bye; exit 4").await;
    assert_eq!(bench.context.background.try_ended(), None);
    bench.file("go", "");
    let end = bench.context.background.ended().await;
    assert_eq!((&end.call, end.exit, end.why.as_str()), (&call, exit(Some(4), None), "exit code: 4"));
    assert_eq!(bench.blob(end.output.unwrap()).await, b"bye\n");
    assert_eq!(bench.context.background.try_ended(), None);
    let read = bench.ok("read_output", json!({"call_id": call})).await;
    assert_eq!(read, "     1\tbye\n[1 line and 4 bytes in all; over: exit code: 4]");
}

#[tokio::test]
async fn a_wait_for_ends_that_is_given_up_loses_none() {
    let bench = Bench::new().await;
    let call = bench.background("until [ -e go ]; do :; done").await;
    let background = &bench.context.background;
    for _ in 0..3 {
        assert!(futures::poll!(std::pin::pin!(background.ended())).is_pending());
    }
    bench.file("go", "");
    let end = background.ended().await;
    assert_eq!((end.call, end.output), (call.clone(), None));
    let read = bench.ok("read_output", json!({"call_id": call})).await;
    assert_eq!(read, "[no output; over: exit code: 0]");
}

#[tokio::test]
async fn a_command_may_end_in_good_order() {
    let bench = Bench::new().await;
    let command = "trap 'echo cleaning up; exit 7' TERM; echo ready; while :; do :; done";
    let call = bench.background(command).await;
    bench.read_until(&call, "ready").await;
    assert_eq!(bench.ok("kill", json!({"call_id": call})).await, "ended by kill: exit code: 7");
    let end = bench.context.background.ended().await;
    assert_eq!(end.exit, exit(Some(7), None));
    assert_eq!(bench.blob(end.output.unwrap()).await, b"ready\ncleaning up\n");
    assert_eq!(bench.context.background.try_ended(), None);
}

#[tokio::test]
async fn a_command_that_will_not_end_is_killed_with_all_it_started() {
    let bench = Bench::new().await;
    let command = "trap '' TERM; setsid sleep 98765 & echo ready; while :; do :; done";
    let call = bench.background(command).await;
    bench.read_until(&call, "ready").await;
    let text = bench.ok("kill", json!({"call_id": call})).await;
    assert!(text.starts_with("ended by kill: ended by signal 9 (SIGKILL)"), "{text}");
    assert_eq!(bench.context.background.ended().await.exit, exit(None, Some(9)));
    wait_until_gone(&bench, "sleep 98765").await;
}

#[tokio::test]
async fn a_time_limit_holds_when_it_is_asked_for() {
    let bench = Bench::new().await;
    let input = json!({"command": "sleep 1000", "background": true, "timeout_ms": 1_500});
    let result = bench.run("bash", input).await;
    assert!(result.background.is_some(), "{}", result.content);
    let end = bench.context.background.ended().await;
    assert!(end.exit.unwrap().timed_out && end.why.starts_with("timed out after 1,500 ms"), "{}", end.why);
    assert_eq!(end.limit_hit.unwrap().0, "time");
}

#[tokio::test]
async fn the_session_has_no_time_limit_for_them() {
    let limits = retrace_sandbox::Limits { command_timeout_ms: 400, wall_ms: 500, ..Default::default() };
    let bench = Bench::with_limits(limits).await;
    let call = bench.background("echo begun; until [ -e go ]; do :; done; echo went on; sleep 1000").await;
    // An ordinary command is over for want of time by then.
    let timed_out = bench.run("bash", json!({"command": "sleep 1000"})).await;
    assert!(timed_out.exit.unwrap().timed_out);
    bench.file("go", "");
    bench.read_until(&call, "went on").await;
}

#[tokio::test]
async fn when_the_sandbox_is_gone_all_of_them_are() {
    let bench = Bench::new().await;
    let one = bench.background("echo kept; sleep 1000").await;
    let two = bench.background("sleep 1000").await;
    bench.read_until(&one, "kept").await;
    bench.kill_sandbox();
    let mut ends = [bench.context.background.ended().await, bench.context.background.ended().await];
    ends.sort_by(|a, b| a.call.0.cmp(&b.call.0));
    for (end, call) in ends.iter().zip([&one, &two]) {
        assert_eq!((&end.call, end.exit), (call, None));
        assert!(end.why.starts_with("the sandbox ended: "), "{}", end.why);
    }
    assert_eq!(bench.context.background.try_ended(), None);
    // What it had written can still be read.
    let read = bench.ok("read_output", json!({"call_id": one})).await;
    assert!(read.starts_with("     1\tkept\n[1 line and 5 bytes in all; over: the sandbox ended"), "{read}");
    let outcome = bench.try_run("bash", json!({"command": "sleep 1000", "background": true})).await;
    assert!(matches!(outcome, Err(ToolFailure::SandboxGone(_))), "{outcome:?}");
    assert!(bench.context.background.list().is_empty());
}

#[tokio::test]
async fn an_orderly_shutdown_is_seen_by_each() {
    let bench = Bench::new().await;
    let call = bench.background("echo x; sleep 1000").await;
    bench.context.sandbox.shutdown().await;
    let end = bench.context.background.ended().await;
    assert_eq!((end.call, end.why.as_str()), (call, "ended by signal 9 (SIGKILL)"));
    assert_eq!(bench.context.background.try_ended(), None);
}

#[tokio::test]
async fn all_are_ended_at_once() {
    let bench = Bench::new().await;
    for _ in 0..3 {
        bench.background("echo x; sleep 1000").await;
    }
    bench.context.background.kill_all("the session was closed").await;
    for _ in 0..3 {
        let end = bench.context.background.try_ended().unwrap();
        assert_eq!(end.why, "the session was closed: ended by signal 15 (SIGTERM)");
        assert!(end.output.is_some());
    }
    assert_eq!(bench.context.background.try_ended(), None);
    bench.context.background.kill_all("again").await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_starts_nothing() {
    let bench = Bench::new().await;
    let cancel = CancellationToken::new();
    let context = ToolContext { cancel: cancel.clone(), ..bench.context.clone() };
    let begun = bench.path("begun");
    let cancelling = async {
        while !begun.exists() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let tool = tool_named("bash");
    let input = json!({"command": "touch begun; exec sleep 87654", "background": true});
    let (outcome, ()) = tokio::join!(tool.run(&context, input.clone()), cancelling);
    assert!(matches!(outcome, Err(ToolFailure::Cancelled)), "{outcome:?}");
    assert!(matches!(tool.run(&context, input).await, Err(ToolFailure::Cancelled)));
    assert_eq!((bench.context.background.list(), bench.context.background.try_ended()), (Vec::new(), None));
    wait_until_gone(&bench, "sleep 87654").await;
}

#[tokio::test]
async fn a_call_that_is_dropped_leaves_nothing() {
    let bench = Bench::new().await;
    let begun = bench.path("begun");
    let input = json!({"command": "touch begun; exec sleep 76543", "background": true});
    let tool = tool_named("bash");
    let mut call = tool.run(&bench.context, input);
    while !begun.exists() {
        assert!(futures::poll!(&mut call).is_pending());
        tokio::task::yield_now().await;
    }
    drop(call);
    wait_until_gone(&bench, "sleep 76543").await;
    assert_eq!((bench.context.background.list(), bench.context.background.try_ended()), (Vec::new(), None));
}

#[tokio::test]
async fn nobody_waits_for_a_command_that_was_given_up() {
    let bench = Bench::new().await;
    let begun = bench.path("begun");
    let tool = tool_named("bash");
    let mut call = tool
        .run(&bench.context, json!({"command": "trap '' TERM; touch begun; while :; do :; done", "background": true}));
    while !begun.exists() {
        assert!(futures::poll!(&mut call).is_pending());
        tokio::task::yield_now().await;
    }
    let mut ending = std::pin::pin!(bench.context.background.kill_all("closed"));
    assert!(futures::poll!(&mut ending).is_pending());
    drop(call);
    ending.await;
    assert_eq!(bench.context.background.try_ended(), None);
}

#[tokio::test]
async fn dropping_the_registry_ends_them() {
    let mut bench = Bench::new().await;
    bench.background("exec sleep 65432").await;
    assert!(bench.ok("bash", json!({"command": "pgrep -f '[s]leep 65432'"})).await.starts_with("exit code: 0\n"));
    bench.context.background = Arc::new(Background::new());
    wait_until_gone(&bench, "sleep 65432").await;
}

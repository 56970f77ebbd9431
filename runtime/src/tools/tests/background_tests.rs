//! Commands in the background, through a real sandbox: starting, reading while they run, bounds.

use super::harness::{Bench, SECRET, tool_named};
use crate::tools::background::BackgroundLimits;
use crate::tools::{Background, ToolContext, ToolFailure};
use futures::future::join_all;
use retrace_events::CallId;
use retrace_events::payload::tool::ToolExit;
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn a_server_is_started_read_and_ended() {
    let bench = Bench::new().await;
    let server =
        "echo listening; n=0; while :; do until [ -e ask ]; do :; done; rm ask; n=$((n+1)); echo answer $n; done";
    let started = bench.run("bash", json!({"command": server, "background": true})).await;
    let head = "started in the background; read_output with call_id toolu_1 shows its output, kill ends it; it ends with the \
                session at the latest\noutput so far:\nlistening";
    assert_eq!((started.content.as_str(), started.is_error, started.exit), (head, false, None));
    assert_eq!((started.background.as_deref(), started.output), (Some(server), None));
    let call = CallId("toolu_1".to_owned());
    let running = bench.context.background.list();
    assert_eq!((running.len(), &running[0].call, running[0].command.as_str()), (1, &call, server));

    bench.file("ask", "");
    let text = bench.read_until(&call, "answer 1").await;
    assert!(
        text.starts_with("     1\tlistening\n     2\tanswer 1\n[2 lines and 19 bytes in all; still running, for "),
        "{text}"
    );
    bench.file("ask", "");
    bench.read_until(&call, "answer 2").await;
    let last = bench.ok("read_output", json!({"call_id": "toolu_1", "from_end": 1})).await;
    assert!(last.starts_with("     3\tanswer 2\n[3 lines"), "{last}");
    let found = bench.ok("read_output", json!({"call_id": "toolu_1", "grep": "answer 1"})).await;
    assert!(found.starts_with("     2\tanswer 1\n[3 lines") && found.contains("; 1 of them match; still"), "{found}");
    // Other calls work beside it, and it lives on after them.
    assert_eq!(bench.ok("bash", json!({"command": "echo beside"})).await, "exit code: 0\nbeside");
    bench.file("ask", "");
    bench.read_until(&call, "answer 3").await;

    let killed = bench.ok("kill", json!({"call_id": "toolu_1"})).await;
    assert_eq!(killed, "ended by kill: ended by signal 15 (SIGTERM)");
    let after = bench.ok("read_output", json!({"call_id": "toolu_1", "offset_lines": 4})).await;
    assert_eq!(after, format!("     4\tanswer 3\n[4 lines and 37 bytes in all; over: {killed}]"));
    assert_eq!(bench.ok("kill", json!({"call_id": "toolu_1"})).await, format!("it is over already: {killed}"));
    assert!(bench.context.background.list().is_empty());
}

#[tokio::test]
async fn a_command_that_is_over_at_once_is_an_ordinary_result() {
    let bench = Bench::new().await;
    let failed = bench.run("bash", json!({"command": "echo no such port; exit 3", "background": true})).await;
    let text = "exit code: 3\n[it is over already: nothing runs in the background]\nno such port";
    assert_eq!((failed.content.as_str(), failed.is_error, failed.background), (text, true, None));
    assert_eq!(failed.exit, Some(ToolExit { code: Some(3), signal: None, timed_out: false }));
    let missing = bench.fails("bash", json!({"command": "ls", "background": true, "cwd": "nowhere"})).await;
    assert!(missing.contains("nowhere") && !missing.contains("exit code"), "{missing}");
    let large = bench.run("bash", json!({"command": "seq 1 10000", "background": true})).await;
    if large.background.is_none() {
        assert_eq!(bench.blob(large.output.unwrap()).await.len(), 48_894);
    }
    let read = bench.fails("read_output", json!({"call_id": "toolu_1"})).await;
    assert!(read.starts_with("no kept output for the call toolu_1"), "{read}");
    assert!(bench.fails("kill", json!({"call_id": "toolu_1"})).await.ends_with("; running: none"));
}

#[tokio::test]
async fn waiting_ends_with_news_or_with_time() {
    let bench = Bench::new().await;
    let call =
        bench.background("echo first; until [ -e go ]; do :; done; echo second; until [ -e end ]; do :; done").await;
    bench.read_until(&call, "first").await;
    // Nothing new comes: the time is waited, and it is no failure.
    let begun = Instant::now();
    let nothing = bench.ok("read_output", json!({"call_id": call, "offset_lines": 2, "wait_ms": 50})).await;
    assert!(begun.elapsed().as_millis() >= 50);
    assert!(nothing.starts_with("[no such line yet; 1 line and 6 bytes in all; still running"), "{nothing}");
    // A line that is there is not waited for, even when it was seen before.
    let begun = Instant::now();
    bench.ok("read_output", json!({"call_id": call, "offset_lines": 1, "wait_ms": 60_000})).await;
    assert!(begun.elapsed().as_secs() < 30);
    // The reader waits before there is anything: the news wakes it.
    let reading = bench.ok("read_output", json!({"call_id": call, "offset_lines": 2, "wait_ms": 60_000}));
    let writing = async { bench.file("go", "") };
    let (text, ()) = tokio::join!(reading, writing);
    assert!(text.starts_with("     2\tsecond\n"), "{text}");
    // The end is news too.
    let reading = bench.ok("read_output", json!({"call_id": call, "wait_ms": 60_000}));
    let (text, ()) = tokio::join!(reading, async { bench.file("end", "") });
    assert!(text.ends_with("\tsecond\n[2 lines and 13 bytes in all; over: exit code: 0]"), "{text}");
    // What is over is not waited for, and lines it never had are an error now.
    let text = bench.fails("read_output", json!({"call_id": call, "offset_lines": 3, "wait_ms": 60_000})).await;
    assert_eq!(text, "there is no line 3: the output has 2 lines and 13 bytes in all; over: exit code: 0");
}

#[tokio::test]
async fn a_wait_is_cancelled_with_its_turn_and_the_command_goes_on() {
    let bench = Bench::new().await;
    let call = bench.background("echo begun; until [ -e go ]; do :; done; echo more; sleep 1000").await;
    bench.read_until(&call, "begun").await;
    let cancel = CancellationToken::new();
    let context = ToolContext { cancel: cancel.clone(), ..bench.context.clone() };
    let tool = tool_named("read_output");
    let waiting = tool.run(&context, json!({"call_id": call, "wait_ms": 60_000}));
    let (outcome, ()) = tokio::join!(waiting, async { cancel.cancel() });
    assert!(matches!(outcome, Err(ToolFailure::Cancelled)), "{outcome:?}");
    bench.file("go", "");
    bench.read_until(&call, "more").await;
}

#[tokio::test]
async fn the_ninth_is_refused_until_one_is_over() {
    let bench = Bench::new().await;
    let start = || bench.run("bash", json!({"command": "sleep 1000", "background": true}));
    let results = join_all((0..9).map(|_| start())).await;
    let refused: Vec<&str> = results.iter().filter(|one| one.is_error).map(|one| one.content.as_str()).collect();
    let [why] = refused[..] else { panic!("{refused:?}") };
    assert!(why.starts_with("as many commands as may run in the background already: "), "{why}");
    assert!(why.ends_with("; end one of them with kill first"), "{why}");
    let running = bench.context.background.list();
    assert_eq!(running.len(), 8);
    bench.ok("kill", json!({"call_id": running[3].call})).await;
    assert!(!start().await.is_error);
    assert!(start().await.is_error);
}

#[tokio::test]
async fn what_is_written_in_two_pieces_is_redacted() {
    let bench = Bench::new().await;
    let (one, two) = SECRET.split_at(12);
    let command = format!("printf 'key {one}'; until [ -e go ]; do :; done; printf '{two} end\\n'; sleep 1000");
    let call = bench.background(&command).await;
    // The half of a line that is there is not shown: it may be half a secret.
    let half = bench.ok("read_output", json!({"call_id": call, "wait_ms": 50})).await;
    assert!(half.starts_with("[no such line yet; 0 lines and 0 bytes in all"), "{half}");
    bench.file("go", "");
    let text = bench.read_until(&call, "end").await;
    assert!(text.starts_with("     1\tkey [redacted:known] end\n"), "{text}");
    bench.ok("kill", json!({"call_id": call})).await;
    let output = bench.context.background.ended().await.output.unwrap();
    assert_eq!(bench.blob(output).await, b"key [redacted:known] end\n");
}

#[tokio::test]
async fn a_secret_in_the_command_is_not_told() {
    let bench = Bench::new().await;
    let result = bench.run("bash", json!({"command": format!("sleep 1000 # {SECRET}"), "background": true})).await;
    assert_eq!(result.background.as_deref(), Some("sleep 1000 # [redacted:known]"));
    assert_eq!(bench.context.background.list()[0].command, "sleep 1000 # [redacted:known]");
}

#[tokio::test]
async fn a_flood_is_bounded_and_its_ends_are_kept() {
    let bench = Bench::new().await;
    let call = bench.background("until [ -e go ]; do :; done; seq 1 4000000; echo done").await;
    bench.file("go", "");
    let end = bench.context.background.ended().await;
    assert_eq!((end.call, end.why.as_str(), end.limit_hit), (call.clone(), "exit code: 0", None));
    let kept = String::from_utf8(bench.blob(end.output.unwrap()).await).unwrap();
    assert!((8 << 20..=(16 << 20) + 1024).contains(&kept.len()), "{}", kept.len());
    assert!(kept.starts_with("1\n2\n3\n") && kept.ends_with("\n3999999\n4000000\ndone\n"));
    let gap = kept.lines().find(|line| line.starts_with('[')).unwrap();
    assert!(gap.ends_with(" bytes) were not kept here]"), "{gap}");
    let read = bench.ok("read_output", json!({"call_id": call, "grep": "^\\[", "limit_lines": 5})).await;
    assert!(read.contains(gap), "{read}");
}

#[tokio::test]
async fn a_command_that_only_writes_is_ended() {
    let mut bench = Bench::new().await;
    let limits = BackgroundLimits { commands: 1, kept_bytes: 2 << 20, written_bytes: 20 << 20 };
    bench.context.background = Arc::new(Background::with_limits(limits));
    let call = bench.background("until [ -e go ]; do :; done; echo first; exec yes").await;
    bench.file("go", "");
    let end = bench.context.background.ended().await;
    let hit = "output (20 MiB): the command wrote too much output";
    assert_eq!((end.call, end.limit_hit), (call, Some(("output".to_owned(), hit.to_owned()))));
    assert_eq!(end.why, format!("ended for writing too much output\nlimit hit: {hit}"));
    let kept = bench.blob(end.output.unwrap()).await;
    assert!(kept.starts_with(b"first\ny\n") && kept.len() <= (2 << 20) + 1024, "{}", kept.len());
}

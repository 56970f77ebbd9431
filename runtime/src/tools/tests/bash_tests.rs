//! `bash` through a real sandbox: endings, output, limits, cancelling.

use super::harness::{Bench, SECRET, tool_named};
use crate::tools::ToolFailure;
use expect_test::expect;
use retrace_events::payload::tool::ToolExit;
use retrace_sandbox::Limits;
use serde_json::json;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

fn exit(code: i32) -> Option<ToolExit> {
    Some(ToolExit { code: Some(code), signal: None, timed_out: false })
}

#[tokio::test]
async fn output_and_exit_code_are_always_shown() {
    let bench = Bench::new().await;
    let result = bench.run("bash", json!({"command": "echo out; echo err >&2; exit 3"})).await;
    assert!(result.content.starts_with("exit code: 3\n"), "{}", result.content);
    // Two pipes: which of two pieces written at once is read first is not the command's to say.
    let mut lines: Vec<&str> = result.content.lines().skip(1).collect();
    lines.sort_unstable();
    assert_eq!(lines, ["err", "out"]);
    assert_eq!((result.is_error, result.exit, result.output, result.limit_hit), (true, exit(3), None, None));
    let result = bench.run("bash", json!({"command": "true"})).await;
    assert_eq!((result.content.as_str(), result.is_error, result.exit), ("exit code: 0\n[no output]", false, exit(0)));
    assert_eq!(
        bench.fails("bash", json!({"command": "nonsense-command"})).await.lines().next(),
        Some("exit code: 127")
    );
    assert_eq!(bench.fails("bash", json!({"command": " \n"})).await, "the command is empty");
}

#[tokio::test]
async fn streams_are_interleaved_as_they_come() {
    let bench = Bench::new().await;
    // The command writes its next line only after the one before was seen.
    let command = "for i in 1 2 3; do echo out $i; until [ -e $i ]; do :; done; echo err $i >&2; until [ -e err$i ]; do :; done; done";
    let mut context = bench.context.clone();
    let seen: Arc<Mutex<String>> = Arc::default();
    let (workspace, watched) = (bench.path(""), Arc::clone(&seen));
    context.progress = Arc::new(move |text| {
        watched.lock().unwrap().push_str(text);
        let number = text.trim().rsplit(' ').next().unwrap();
        let name = if text.starts_with("out") { number.to_owned() } else { format!("err{number}") };
        std::fs::write(workspace.join(name), "").unwrap();
    });
    let result = tool_named("bash").run(&context, json!({"command": command})).await.unwrap();
    let expected = "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3";
    assert_eq!(result.content, format!("exit code: 0\n{expected}"));
    assert_eq!(*seen.lock().unwrap(), format!("{expected}\n"));
}

#[tokio::test]
async fn the_shell_is_bash_in_the_workspace_and_knows_its_call() {
    let bench = Bench::new().await;
    bench.file("sub/here.txt", "");
    let text =
        bench.ok("bash", json!({"command": "[[ -n $BASH_VERSION ]] && ls; echo \"$RETRACE_CALL_ID\"; cat"})).await;
    assert_eq!(text, "exit code: 0\nsub\ntoolu_1");
    assert_eq!(bench.ok("bash", json!({"command": "ls", "cwd": "sub"})).await, "exit code: 0\nhere.txt");
    for (cwd, expected) in [("..", "leads out of the workspace"), ("sbu", "did you mean sub?"), ("sub/here.txt", "")] {
        let text = bench.fails("bash", json!({"command": "ls", "cwd": cwd})).await;
        assert!(text.contains(expected) && !text.contains("exit code"), "{text}");
    }
    bench.ok("bash", json!({"command": "echo made > made.txt"})).await;
    assert_eq!(bench.bytes("made.txt"), b"made\n");
}

#[tokio::test]
async fn nothing_outside_can_be_written() {
    let bench = Bench::new().await;
    // Where the sandbox shows an empty place of its own there, writing may succeed; the host's file is not touched.
    bench.run("bash", json!({"command": "cat ../outside.txt; echo mine > ../outside.txt; rm -f ../outside.txt"})).await;
    bench.assert_outside_untouched();
}

#[tokio::test]
async fn output_is_readable_text() {
    let bench = Bench::new().await;
    let command = r"printf '\033[31mred\033[0m\tx\r\n10%%\r20%%\n'; printf 'bad \377\376 bytes\n'";
    expect![[r#"
        exit code: 0
        [some bytes of the output are no UTF-8 text and shown as �]
        red	x
        10%
        20%
        bad �� bytes"#]]
    .assert_eq(&bench.ok("bash", json!({"command": command})).await);
}

#[tokio::test]
async fn long_output_is_cut_and_kept_whole() {
    let bench = Bench::new().await;
    let result = bench.run("bash", json!({"command": "seq 1 100000; echo done"})).await;
    let output = result.output.unwrap();
    assert!(result.content.len() < 16_200, "{}", result.content.len());
    assert!(result.content.starts_with("exit code: 0\n1\n2\n3\n"));
    assert!(result.content.ends_with("\n99999\n100000\ndone"), "the tail is there");
    let note = result.content.lines().find(|line| line.starts_with('[')).unwrap();
    assert!(note.contains("left out here; to see them: read_output with call_id toolu_1 and offset_lines "), "{note}");
    let kept = String::from_utf8(bench.blob(output).await).unwrap();
    assert_eq!((kept.lines().count(), kept.lines().last()), (100_001, Some("done")));
    let offset: u64 = note.rsplit(' ').next().unwrap().trim_end_matches(']').parse().unwrap();
    let next = bench.ok("read_output", json!({"call_id": "toolu_1", "offset_lines": offset, "limit_lines": 1})).await;
    assert!(next.contains(&format!("\t{offset}\n")), "{next}");
    let found = bench.ok("read_output", json!({"call_id": "toolu_1", "grep": "^77777$"})).await;
    assert!(found.starts_with(" 77777\t77777\n"), "{found}");
}

#[tokio::test]
async fn secrets_are_neither_shown_nor_kept() {
    let bench = Bench::new().await;
    let command = format!("echo key {SECRET}; seq 1 20000; echo {SECRET}");
    let result = bench.run("bash", json!({"command": command})).await;
    let kept = String::from_utf8(bench.blob(result.output.unwrap()).await).unwrap();
    for text in [&result.content, &kept, &bench.watched()] {
        assert!(text.contains("key [redacted:known]\n") && !text.contains(SECRET));
    }
}

#[tokio::test]
async fn endless_output_ends_at_the_limit() {
    let bench = Bench::new().await;
    let result = bench.run("bash", json!({"command": "echo first; exec yes"})).await;
    assert!(result.is_error && result.content.len() < 16_300);
    let (limit, _) = result.limit_hit.clone().unwrap();
    assert_eq!(limit, "output");
    let head = "ended for writing too much output\nlimit hit: output (64 MiB): the command wrote too much output\nfirst\ny\ny\n";
    assert!(result.content.starts_with(head), "{}", &result.content[..200]);
    let kept = result.output.unwrap().size_bytes;
    assert!((32 << 20..=64 << 20).contains(&kept), "{kept}");
}

#[tokio::test]
async fn a_command_that_never_ends_is_ended() {
    let bench = Bench::new().await;
    let result = bench.run("bash", json!({"command": "echo begun; sleep 1000", "timeout_ms": 2_000})).await;
    let (limit, _) = result.limit_hit.clone().unwrap();
    assert_eq!((limit.as_str(), result.is_error), ("time", true));
    assert!(result.exit.unwrap().timed_out);
    assert!(
        result.content.starts_with("timed out after 2,000 ms") && result.content.ends_with("\nbegun"),
        "{}",
        result.content
    );
}

#[tokio::test]
async fn a_file_that_grows_too_large_is_named() {
    let limits = Limits { file_size_bytes: 1 << 20, ..Limits::default() };
    let bench = Bench::with_limits(limits).await;
    let result = bench.run("bash", json!({"command": "head -c 2M /dev/zero > large"})).await;
    let words = "file_size (1 MiB): a file became too large";
    assert_eq!(result.limit_hit, Some(("file_size".to_owned(), words.to_owned())), "{}", result.content);
    assert!(result.is_error && result.content.contains(&format!("\nlimit hit: {words}\n")), "{}", result.content);
}

#[tokio::test]
async fn a_signal_is_named() {
    let bench = Bench::new().await;
    let result = bench.run("bash", json!({"command": "kill -SEGV $$"})).await;
    assert_eq!(result.content, "ended by signal 11 (SIGSEGV)\n[no output]");
    assert_eq!(result.exit, Some(ToolExit { code: None, signal: Some(11), timed_out: false }));
}

#[tokio::test]
async fn what_is_left_behind_is_ended_and_said() {
    let bench = Bench::new().await;
    let text = bench.ok("bash", json!({"command": "sleep 1000 > /dev/null 2>&1 & echo started"})).await;
    assert!(text.starts_with("exit code: 0 (1 process it left behind was ended)\nstarted"), "{text}");
}

#[tokio::test]
async fn cancelling_ends_the_command() {
    let bench = Arc::new(Bench::new().await);
    let cancel = CancellationToken::new();
    let mut context = bench.context.clone();
    context.cancel = cancel.clone();
    let watching = Arc::clone(&bench);
    context.progress = Arc::new(move |_| {
        // The first output shows that the command runs; only then is it cancelled.
        assert!(watching.path("begun").exists());
        cancel.cancel();
    });
    let tool = tool_named("bash");
    let command = "touch begun; echo begun; sleep 1000; touch ended";
    let outcome = tool.run(&context, json!({"command": command})).await;
    assert!(matches!(outcome, Err(ToolFailure::Cancelled)), "{outcome:?}");
    assert!(!bench.path("ended").exists());
    assert_eq!(bench.ok("bash", json!({"command": "echo alive"})).await, "exit code: 0\nalive", "the sandbox lives on");
}

#[tokio::test]
async fn a_command_longer_than_the_system_takes_is_refused() {
    let bench = Bench::new().await;
    let text = bench.fails("bash", json!({"command": "#".repeat(100_001)})).await;
    assert!(text.starts_with("the command is too long (100,001 bytes, at most 100,000); write a script"), "{text}");
    assert!(bench.run("bash", json!({"command": "a\0b"})).await.is_error);
}

#[tokio::test]
async fn a_dead_sandbox_fails_the_call() {
    let bench = Bench::new().await;
    bench.context.sandbox.shutdown().await;
    for (tool, input) in
        [("bash", json!({"command": "ls"})), ("read_file", json!({"path": "a"})), ("list_dir", json!({}))]
    {
        let outcome = bench.try_run(tool, input).await;
        assert!(matches!(outcome, Err(ToolFailure::SandboxGone(_))), "{tool}: {outcome:?}");
    }
}

//! `retrace show --outline`: prompts, commands and files of a session, each with the number of its event.

use super::made::{SECRET, called, code, ended, finished, prompted, put, sandboxed, secretive, started};
use super::{LOOKS, Machine};
use crate::cli::Exit;
use expect_test::expect;
use retrace_events::payload::tool::{ToolDenied, ToolExit, ToolOutcomeUnknown};
use retrace_events::payload::turn::{TurnInterrupted, TurnOutcome};
use retrace_events::{CallId, Payload};
use serde_json::{Value, json};

/// A session in which a bit of everything happens.
fn story() -> Vec<Payload> {
    let command = |call: &str, command: &str| called(call, "bash", &json!({ "command": command }));
    let exit = |signal, timed_out| Some(ToolExit { code: None, signal, timed_out });
    vec![
        started("a title"),
        sandboxed(),
        prompted("make the\n  tests pass"),
        called("1", "read_file", &json!({ "path": "src/lib.rs" })),
        finished("1", None, &[]),
        called("2", "read_file", &json!({ "path": "src/lib.rs" })),
        finished("2", None, &[]),
        command("3", "cargo test"),
        finished("3", code(101), &["Cargo.lock"]),
        command("4", "sleep 1000"),
        finished("4", exit(None, true), &[]),
        command("5", "kill -9 $$"),
        finished("5", exit(Some(9), false), &["src/lib.rs", "src/new.rs"]),
        ended(TurnOutcome::Completed),
        prompted("again"),
        command("6", "rm -rf /"),
        ToolDenied { call: CallId("6".to_owned()), by: "ada".to_owned(), content: "no".to_owned() }.into(),
        command("7", "make"),
        ToolOutcomeUnknown { call: CallId("7".to_owned()), content: "?".to_owned() }.into(),
        TurnInterrupted { by: "signal".to_owned(), during: "a request".to_owned() }.into(),
        prompted("and now"),
        command("8", "true"),
    ]
}

#[tokio::test]
async fn prompts_commands_and_files_with_their_events() {
    let machine = Machine::alone();
    put(&machine, "aaaa-bbbb", &story()).await;
    expect![[r"
        prompts
          #2     make the tests pass (completed)
          #14    again (interrupted)
          #20    and now (going on)
        commands
          #7     cargo test (exit 101)
          #9     sleep 1000 (timed out)
          #11    kill -9 $$ (signal 9)
          #15    rm -rf / (denied)
          #17    make (unknown)
          #21    true (running)
        files
          #8     Cargo.lock (0 reads, 1 changes)
          #12    src/lib.rs (2 reads, 1 changes)
          #12    src/new.rs (0 reads, 1 changes)
    "]]
    .assert_eq(&machine.out(&["show", "aaaa", "--outline"]).await);
}

#[tokio::test]
async fn as_json_it_is_one_object() {
    let machine = Machine::alone();
    put(&machine, "aaaa-bbbb", &story()).await;
    let out = machine.out(&["show", "aaaa", "--outline", "--json"]).await;
    assert_eq!(out.lines().count(), 1, "{out}");
    let outline: Value = serde_json::from_str(&out).unwrap();
    // Prompts are word for word here, line ends and all.
    assert_eq!(outline["prompts"][0], json!({ "seq": 2, "text": "make the\n  tests pass", "end": "completed" }));
    assert_eq!(outline["prompts"][2]["end"], Value::Null);
    assert_eq!(outline["commands"][0], json!({ "seq": 7, "command": "cargo test", "end": "exit 101" }));
    assert_eq!(outline["commands"].as_array().unwrap().len(), 6);
    assert_eq!(outline["files"]["src/lib.rs"], json!({ "reads": 2, "changes": 1, "last_seq": 12 }));
    assert_eq!(outline["files"].as_object().unwrap().len(), 3);
}

#[tokio::test]
async fn an_empty_session_has_an_outline_too() {
    let machine = Machine::alone();
    put(&machine, "aaaa-bbbb", &[started("nothing yet")]).await;
    assert_eq!(machine.out(&["show", "aaaa", "--outline"]).await, "prompts\n");
    let json: Value = serde_json::from_str(&machine.out(&["show", "aaaa", "--outline", "--json"]).await).unwrap();
    assert_eq!(json, json!({ "prompts": [], "commands": [], "files": {} }));
}

#[tokio::test]
async fn secrets_are_left_out_of_prompts_commands_and_paths() {
    let machine = secretive();
    let story = [
        prompted(&format!("the key is {SECRET}, use it")),
        called("1", "bash", &json!({ "command": format!("curl -H 'x-api-key: {SECRET}' host") })),
        finished("1", code(0), &[&format!("keys/{SECRET}.txt")]),
    ];
    put(&machine, "aaaa-bbbb", &story).await;
    for args in [&["show", "aaaa", "--outline"][..], &["show", "aaaa", "--outline", "--json"]] {
        let out = machine.out(args).await;
        assert!(!out.contains("hunter2"), "{out}");
        assert_eq!(out.matches("[redacted:known]").count(), 3, "{out}");
    }
    // Even so it is still JSON.
    let json = machine.out(&["show", "aaaa", "--outline", "--json"]).await;
    assert!(serde_json::from_str::<Value>(&json).is_ok(), "{json}");
}

#[tokio::test]
async fn hostile_words_cannot_reach_the_terminal() {
    let nasty = "a\u{1b}]0;title\u{7}\u{1b}[2Jb\u{9b}31m\u{202e}c\u{0}\r\u{200b}d";
    let machine = Machine::alone();
    let story = [prompted(nasty), called("1", "bash", &json!({ "command": nasty })), finished("1", code(0), &[nasty])];
    put(&machine, "aaaa-bbbb", &story).await;
    for args in [&["show", "aaaa", "--outline"][..], &["show", "aaaa", "--outline", "--json"]] {
        let out = machine.out(args).await;
        let harmful = |c: &char| (c.is_control() && *c != '\n') || matches!(c, '\u{202e}' | '\u{200b}');
        assert_eq!(out.chars().find(harmful), None, "{out:?}");
        assert!(out.ends_with('\n'), "{out:?}");
    }
    let json: Value = serde_json::from_str(&machine.out(&["show", "aaaa", "--outline", "--json"]).await).unwrap();
    assert_eq!(json["prompts"][0]["text"], nasty, "JSON keeps the words as they are, escaped");
}

#[tokio::test]
async fn long_words_are_cut_to_a_line() {
    let machine = Machine::alone();
    let long = "word ".repeat(10_000);
    put(&machine, "aaaa-bbbb", &[prompted(&long), called("1", "bash", &json!({ "command": long }))]).await;
    let out = machine.out(&["show", "aaaa", "--outline"]).await;
    assert_eq!(out.lines().count(), 4, "{out}");
    assert!(out.lines().all(|line| line.chars().count() < 200), "{out}");
    assert_eq!(out.matches('…').count(), 2, "{out}");
}

#[tokio::test]
async fn the_outline_of_a_real_run() {
    let machine = Machine::with(LOOKS).await;
    machine.run(&["run", "have a look"]).await;
    let id = machine.session().await;
    let out = machine.out(&["show", &id, "--outline"]).await;
    assert!(out.contains(" have a look (completed)\n"), "{out}");
    assert!(out.contains(" echo found; exit 3 (exit 3)\n"), "{out}");
    // The numbers are those that `--event` takes.
    let number = out.lines().find_map(|line| line.strip_suffix(" have a look (completed)")).unwrap();
    let number = number.trim().trim_start_matches('#');
    let event: Value = serde_json::from_str(&machine.out(&["show", &id, "--event", number]).await).unwrap();
    assert_eq!(event["kind"], "turn.prompted", "{event}");
}

#[tokio::test]
async fn the_outline_is_not_mixed_with_other_views() {
    for other in [&["--full"][..], &["--event", "1"]] {
        let line = ["retrace", "show", "x", "--outline"].iter().chain(other);
        let error = crate::cli::command().try_get_matches_from(line).unwrap_err();
        assert_eq!(error.kind(), clap::error::ErrorKind::ArgumentConflict, "{other:?}");
    }
    assert_eq!(Machine::alone().run(&["show", "x", "--outline"]).await.exit, Exit::NotFound);
}

//! `retrace summary`: from the log alone, for people and programs, without secrets.

use super::made::{SECRET, answered, called, code, ended, finished, prompted, put, secretive, started, stream};
use super::{LOOKS, Machine};
use crate::claude::{Auth, ClaudeClient, Endpoint, ModelTable, Secret};
use crate::cli::Exit;
use crate::scripted::ServerOptions;
use crate::summarizer::{ClaudeSummarizer, SummaryWriter, WriteLimits};
use expect_test::expect;
use retrace_events::log::Holder;
use retrace_events::mint::SystemMint;
use retrace_events::payload::turn::TurnOutcome;
use retrace_events::redact::Redactor;
use retrace_events::{Payload, Timestamp};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A session of three steps, the last of which is going on.
fn story() -> Vec<Payload> {
    vec![
        started("a title"),
        prompted("make the\n  tests pass"),
        answered("I'll run them, because they fail.", 1),
        called("1", "bash", &json!({ "command": "cargo test" })),
        finished("1", code(101), &["Cargo.lock"]),
        prompted("and now?"),
    ]
}

/// A session of `turns` turns of two steps.
fn long(turns: usize) -> Vec<Payload> {
    let turn = |n| {
        [
            prompted(&format!("mend part {n}")),
            answered(&format!("Part {n} is mended."), 1),
            ended(TurnOutcome::Completed),
        ]
    };
    std::iter::once(started("long")).chain((0..turns).flat_map(turn)).collect()
}

#[tokio::test]
async fn steps_with_their_events() {
    let machine = Machine::alone();
    put(&machine, "aaaa-bbbb", &story()).await;
    let out = machine.out(&["summary"]).await;
    expect![[r"
        step 0, events #0–#1, 2026-01-01 00:00Z to 2026-01-01 00:16Z
        the user's words
        - make the tests pass (#1)

        step 1, events #2–#4, 2026-01-01 00:33Z to 2026-01-01 01:06Z
        decisions and conclusions
        - I'll run them, because they fail. (#2)
        errors
        - `cargo test`: out (#4)
        files changed
        - Cargo.lock (#4)
        commands and calls
        - cargo test (#3, exit 101)

        step 2 (going on), events #5–#5, 2026-01-01 01:23Z
        the user's words
        - and now? (#5)

    "]]
    .assert_eq(&out);
    assert_eq!(machine.out(&["summary", "aaaa", "--level", "0"]).await, out);
}

#[tokio::test]
async fn a_long_session_is_coarse_where_it_is_old() {
    let machine = Machine::alone();
    put(&machine, "aaaa-bbbb", &long(40)).await;
    let out = machine.out(&["summary", "aaaa"]).await;
    let headings: Vec<&str> = out.lines().filter(|line| line.contains(", events #")).collect();
    assert_eq!(headings.len(), 17, "{out}");
    assert!(headings[0].starts_with("[level 1] steps 0–7, events #0–#12, "), "{out}");
    assert!(headings[16].starts_with("step 79, events #119–#120, "), "{out}");
    let level = machine.out(&["summary", "aaaa", "--level", "1"]).await;
    assert_eq!(level.lines().filter(|line| line.starts_with("[level 1] ")).count(), 10, "{level}");
    let level = machine.out(&["summary", "aaaa", "--level", "2"]).await;
    assert_eq!(level.lines().filter(|line| line.starts_with("[level 2] steps 0–63, ")).count(), 1, "{level}");

    let ran = machine.run(&["summary", "aaaa", "--level", "3"]).await;
    assert_eq!(ran.exit, Exit::NotFound);
    assert!(ran.err.contains("has no level 3") && ran.err.contains("highest level is 2"), "{ran:?}");
}

#[tokio::test]
async fn as_json_each_node_is_an_object() {
    let machine = Machine::alone();
    put(&machine, "aaaa-bbbb", &story()).await;
    let out = machine.out(&["summary", "aaaa", "--json"]).await;
    let nodes: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(nodes.len(), 3);
    let node = &nodes[1];
    assert_eq!(
        (&node["level"], &node["index"], &node["first_seq"], &node["last_seq"]),
        (&0.into(), &1.into(), &2.into(), &4.into())
    );
    assert_eq!((&node["first_step"], &node["steps"], &node["by"]), (&1.into(), &1.into(), &"extractive".into()));
    assert_eq!(node["stream"], stream(&machine, "aaaa-bbbb").to_string());
    let items = node["digest"]["items"].as_array().unwrap();
    let command = items.iter().find(|item| item["kind"] == "command").unwrap();
    assert_eq!(
        (&command["text"], &command["end"], &command["seq"]),
        (&"cargo test".into(), &"exit 101".into(), &3.into())
    );
    let event: Value = serde_json::from_str(&machine.out(&["show", "aaaa", "--event", "3"]).await).unwrap();
    assert_eq!(command["event"], event["id"], "the id is the event's");
    assert!(node["text"].as_str().unwrap().contains("cargo test (#3, exit 101)"));
    assert_eq!((&nodes[2]["open"], &nodes[1]["open"]), (&true.into(), &Value::Null));
}

#[tokio::test]
async fn a_session_that_has_only_begun_has_a_summary_too() {
    let machine = Machine::alone();
    put(&machine, "aaaa-bbbb", &[started("nothing yet")]).await;
    let out = machine.out(&["summary", "aaaa"]).await;
    assert!(out.starts_with("step 0 (going on), events #0–#0, "), "{out}");
    assert_eq!(machine.run(&["summary", "zzzz"]).await.exit, Exit::NotFound);
}

#[tokio::test]
async fn secrets_and_escape_sequences_stay_out() {
    let machine = secretive();
    let nasty = format!("a\u{1b}]0;title\u{7}\u{1b}[2Jb\u{9b}31m\u{202e}c\u{0}\r\u{200b} {SECRET}");
    let story = [
        prompted(&nasty),
        answered(&format!("It is because of {nasty}"), 1),
        called("1", "bash", &json!({ "command": nasty })),
        finished("1", code(1), &[&nasty]),
    ];
    put(&machine, "aaaa-bbbb", &story).await;
    for args in [&["summary", "aaaa"][..], &["summary", "aaaa", "--json"]] {
        let out = machine.out(args).await;
        assert!(!out.contains("hunter2") && out.contains("[redacted:known]"), "{out}");
        let harmful = |c: &char| (c.is_control() && *c != '\n') || matches!(c, '\u{202e}' | '\u{200b}');
        assert_eq!(out.chars().find(harmful), None, "{out:?}");
    }
}

#[tokio::test]
async fn the_summary_of_a_real_run() {
    let machine = Machine::with(LOOKS).await;
    machine.run(&["run", "have a look"]).await;
    let out = machine.out(&["summary"]).await;
    for part in ["- have a look (#", "- echo found; exit 3 (#", ", exit 3)", "- All is well. (#"] {
        assert!(out.contains(part), "no {part} in {out}");
    }
}

#[tokio::test]
async fn words_of_a_model_are_shown_with_its_name() {
    let script = "[[step]]\nwhen = \"events #(\\\\d+) to #(\\\\d+)\"\n[[step.block]]\ntype = \"text\"\n\
                  text = \"Between $1 and $2 a \\u001b[31mparser was mended.\"\n";
    let machine = Machine::with(script).await;
    put(&machine, "aaaa-bbbb", &long(12)).await;
    let server = machine.server.as_ref().unwrap();
    let auth = Auth::ApiKey(Secret::new(ServerOptions::DEFAULT_API_KEY));
    let client = ClaudeClient::new(&Endpoint::new(server.base_url(), auth)).unwrap();
    let row = ModelTable::builtin().unwrap().row("claude-haiku-5-5");
    let redactor = Arc::new(Redactor::new(Vec::new()));
    let asking = ClaudeSummarizer::new(client, row, Arc::clone(&redactor), CancellationToken::new());
    let (log, session) = (machine.log().await, stream(&machine, "aaaa-bbbb"));
    let holder = Holder::this_process("retrace test", Timestamp(1));
    let mut writer = SummaryWriter::new(log, Arc::new(SystemMint), session, Arc::new(asking), redactor, holder);
    let report = writer.write_missing(WriteLimits::default()).await;
    assert_eq!((report.written, server.requests().len()), (3, 3), "{report:?}");

    let out = machine.out(&["summary", "aaaa", "--level", "1"]).await;
    assert!(out.contains(", by claude-haiku-5-5\nBetween 0 and 12 a parser was mended.\nthe user's words\n"), "{out}");
    let json = machine.out(&["summary", "aaaa", "--level", "1", "--json"]).await;
    let node: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(node["by"], "claude-haiku-5-5");
    assert!(node["words"].as_str().unwrap().starts_with("Between 0 and 12"), "{node}");
    // What the model wrote is an event like any other; the session itself is as it was.
    let verified = machine.out(&["log", "verify"]).await;
    assert!(verified.contains("40 events"), "37 of the session and 3 of summaries: {verified}");
    assert_eq!(machine.sessions().await.len(), 1, "summaries are no session");
}

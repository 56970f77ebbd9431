//! `retrace chat` without a line editor: whole conversations, line by line.

use super::{Machine, Ran};
use crate::cli::Exit;
use retrace_events::Timestamp;
use retrace_events::log::Holder;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// A model that answers, asks, and runs a command, by what it is told.
const TALKS: &str = r#"
[[step]]
name = "hello"
when = "hello"
[[step.block]]
type = "text"
text = "Hello."
[[step]]
name = "asks"
when = "ask me"
[[step.block]]
type = "tool_use"
name = "ask_user"
input = { question = "Which colour?", options = ["red", "blue"] }
[[step]]
name = "blue"
when = "blue"
[[step.block]]
type = "text"
text = "Blue it is."
[[step]]
name = "runs"
when = "run it"
next = ["refused", "ran"]
[[step.block]]
type = "tool_use"
name = "bash"
input = { command = "echo ran > file.txt" }
[[step]]
name = "refused"
when = "not carried out|did not allow|nobody"
[[step.block]]
type = "text"
text = "Then not."
[[step]]
name = "ran"
when = "exit code: 0"
[[step.block]]
type = "text"
text = "It ran."
"#;

/// The same steps, in any order, as often as one likes.
fn script() -> String {
    let next = r#"next = ["hello", "asks", "blue", "runs"]"#;
    TALKS
        .split("[[step]]\n")
        .skip(1)
        .map(|step| {
            if step.contains("next =") {
                format!("[[step]]\n{step}")
            } else {
                format!("[[step]]\n{}", step.replacen("when", &format!("{next}\nwhen"), 1))
            }
        })
        .collect()
}

async fn machine() -> Machine {
    Machine::with(&script()).await
}

/// The events of the only session.
async fn events(machine: &Machine) -> Vec<Value> {
    let id = machine.session().await;
    let shown = machine.out(&["show", &id, "--json"]).await;
    shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn count(events: &[Value], kind: &str) -> usize {
    events.iter().filter(|event| event["kind"] == kind).count()
}

#[track_caller]
fn done(ran: Ran) -> Ran {
    assert_eq!(ran.exit, Exit::Done, "{ran:?}");
    ran
}

#[tokio::test]
async fn each_line_of_a_pipe_is_a_prompt_and_the_answers_are_data() {
    let mut machine = machine().await;
    machine.pipe("hello\n\n  \nhello again\n");
    let ran = done(machine.run(&["chat"]).await);
    assert_eq!(ran.out, "Hello.\nHello.\n");
    let id = machine.session().await;
    for expected in
        [&format!("session {id} · "), "NO SANDBOX", "› hello again\n", &format!("go on:  retrace chat {id}\n")]
    {
        assert!(ran.err.contains(expected), "{expected:?} is missing in:\n{}", ran.err);
    }
    let events = events(&machine).await;
    assert_eq!((count(&events, "turn.prompted"), count(&events, "session.control_handled")), (2, 2));
    assert!(machine.out(&["replay", &id, "--verify"]).await.contains("all 2 requests"));
    assert!(machine.out(&["sessions"]).await.contains("  hello\n"), "the first prompt is what it is about");
}

#[tokio::test]
async fn nobody_is_asked_where_lines_come_from_a_pipe() {
    let mut machine = machine().await;
    machine.pipe("run it\ny\nask me\n");
    let ran = machine.run(&["chat", "--approvals", "ask"]).await;
    assert!(ran.out.starts_with("Then not.\n"), "{ran:?}");
    assert!(!machine.workspace.join("file.txt").exists());
    let events = events(&machine).await;
    assert_eq!((count(&events, "tool.approval_asked"), count(&events, "tool.denied")), (0, 1));
    assert_eq!(count(&events, "turn.prompted"), 3, "`y` is a prompt like any other");
}

#[tokio::test]
async fn somebody_who_is_there_is_asked() {
    let mut machine = machine().await;
    machine.types("ask me\n2\nrun it\ny\nhello\n");
    let ran = done(machine.run(&["chat", "--approvals", "ask"]).await);
    assert_eq!(ran.out, "Blue it is.\nIt ran.\nHello.\n", "{}", ran.err);
    assert!(ran.err.contains("Which colour?") && ran.err.contains("2. blue"), "{}", ran.err);
    assert_eq!((ran.err.matches("[y] once").count(), ran.err.matches("● bash").count()), (1, 1), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(machine.workspace.join("file.txt")).unwrap(), "ran\n");
}

#[tokio::test]
async fn a_call_is_forbidden_with_words_and_other_words_wait() {
    let mut machine = machine().await;
    machine.types("run it\nhello\nn use the other one\n");
    let ran = done(machine.run(&["chat", "--approvals", "ask"]).await);
    assert_eq!(ran.out, "Then not.\nHello.\n", "{}", ran.err);
    assert!(ran.err.contains("queued; an answer is still waited for"), "{}", ran.err);
    assert!(ran.err.contains("use the other one"), "{}", ran.err);
    assert!(!machine.workspace.join("file.txt").exists());
}

#[tokio::test]
async fn an_approval_for_the_session_is_asked_once() {
    let mut machine = machine().await;
    machine.types("run it\ns\nrun it\n");
    let ran = done(machine.run(&["chat", "--approvals", "ask"]).await);
    assert_eq!(ran.out, "It ran.\nIt ran.\n", "{}", ran.err);
    let events = events(&machine).await;
    assert_eq!((count(&events, "tool.approval_asked"), count(&events, "session.rule_added")), (1, 1));
}

#[tokio::test]
async fn what_is_always_allowed_is_allowed_in_the_next_session_too() {
    let mut machine = machine().await;
    machine.types("run it\na\n/clear\nrun it\n");
    let ran = done(machine.run(&["chat", "--approvals", "ask"]).await);
    assert_eq!(ran.out, "It ran.\nIt ran.\n", "{}", ran.err);
    assert_eq!(ran.err.matches("[y] once").count(), 1, "{}", ran.err);
}

#[tokio::test]
async fn slash_commands_answer_at_once_and_are_no_prompts() {
    let mut machine = machine().await;
    let commands = ["/help", "/cost", "/sessions", "/model", "/budget", "/sandbox", "/queue", "/plan", "/halp", "/"];
    machine.pipe(&format!("{}\n//hello\n", commands.join("\n")));
    let ran = done(machine.run(&["chat"]).await);
    assert_eq!(ran.out, "Hello.\n");
    for expected in [
        "/budget [KIND VALUE]",
        "0 prompts · 0 steps",
        "SESSION  ",
        "known: ",
        "steps   0 of ",
        "NO SANDBOX: commands run as you",
        "no prompt waits",
        "there is no plan",
        "there is no command /halp; did you mean /help?",
        "› /hello\n",
    ] {
        assert!(ran.err.contains(expected), "{expected:?} is missing in:\n{}", ran.err);
    }
    assert_eq!(count(&events(&machine).await, "turn.prompted"), 1);
}

#[tokio::test]
async fn settings_are_changed_for_the_rest_of_the_session() {
    let mut machine = machine().await;
    machine.pipe("/budget steps 1\nhello\nhello\n/budget steps 9\nhello\n/model claude-haiku-5-5\n/budget size 3\n/budget cost x\n");
    let ran = machine.run(&["chat"]).await;
    assert_eq!(ran.out, "Hello.\nHello.\n", "{}", ran.err);
    for expected in
        ["\"max_steps\":1,", "a budget is used up", "`/budget steps 100`", "\"max_steps\":9,", "claude-haiku-5-5"]
    {
        assert!(ran.err.contains(expected), "{expected:?} is missing in:\n{}", ran.err);
    }
    assert!(
        ran.err.contains("there is no budget of `size`") && ran.err.contains("`budget.cost` must be"),
        "{}",
        ran.err
    );
    assert_eq!(count(&events(&machine).await, "session.configured"), 3);
}

/// The newest settings of the session `id`: model, effort, and the most steps.
async fn settings(machine: &Machine, id: &str) -> (String, String, u64) {
    let shown = machine.out(&["show", id, "--json"]).await;
    let events = shown.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let newest = events.filter_map(|event| event["payload"].get("settings").cloned()).next_back().unwrap();
    let text = |name: &str| newest[name].as_str().unwrap_or("none").to_owned();
    (text("model"), text("effort"), newest["budget"]["max_steps"].as_u64().unwrap())
}

#[tokio::test]
async fn changes_hold_for_sessions_begun_later_and_not_for_those_gone_back_to() {
    let mut machine = machine().await;
    machine.pipe("hello\n");
    done(machine.run(&["chat", "--model", "claude-haiku-5-5", "--max-steps", "7"]).await);
    let old = machine.session().await;
    machine.pipe(&format!(
        "/effort high\nhello\n/clear\n/budget steps 9\nhello\n/load {old}\nhello\n/effort low\nhello\n/clear\nhello\n"
    ));
    done(machine.run(&["chat", "--model", "claude-sonnet-5", "--max-steps", "8"]).await);
    let sessions = machine.sessions().await;
    let ids: Vec<&str> = sessions.iter().map(|stream| stream.id.as_str()).filter(|id| *id != old).collect();
    let [third, second, first] = ids[..] else { panic!("{ids:?}") };
    let expected = |model: &str, effort: &str, steps| (model.to_owned(), effort.to_owned(), steps);
    assert_eq!(settings(&machine, first).await, expected("claude-sonnet-5", "high", 8));
    assert_eq!(settings(&machine, second).await, expected("claude-sonnet-5", "high", 9));
    assert_eq!(settings(&machine, &old).await, expected("claude-haiku-5-5", "low", 7));
    assert_eq!(settings(&machine, third).await, expected("claude-sonnet-5", "low", 9));
    // What the command line says does hold for a session that it names.
    machine.pipe("hello\n");
    done(machine.run(&["chat", &old, "--max-steps", "5"]).await);
    assert_eq!(settings(&machine, &old).await, expected("claude-haiku-5-5", "low", 5));
}

#[tokio::test]
async fn clear_begins_another_session_and_load_goes_back() {
    let mut machine = machine().await;
    machine.pipe("hello\n/clear\nrun it\n");
    done(machine.run(&["chat"]).await);
    let sessions = machine.sessions().await;
    let [second, first] = &sessions[..] else { panic!("{sessions:?}") };
    machine.pipe(&format!("/load nothing\n/load {}\nhello again\n", first.id));
    let ran = done(machine.run(&["chat", "--last"]).await);
    assert_eq!(ran.out, "Hello.\n");
    assert!(ran.err.contains("error: there is no session `nothing`"), "{}", ran.err);
    assert!(ran.err.contains(&format!("session {} · 1 prompt · hello\n", first.id)), "{}", ran.err);
    let first = machine.out(&["show", first.id.as_str()]).await;
    assert!(
        first.contains("hello again") && !machine.out(&["show", second.id.as_str()]).await.contains("hello"),
        "{first}"
    );
}

#[tokio::test]
async fn a_chat_that_is_told_to_end_leaves_nothing_open() {
    let mut machine = machine().await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    machine.cancel = Some(cancel);
    machine.pipe("hello\n");
    let ran = machine.run(&["chat"]).await;
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Interrupted, ""), "{ran:?}");
}

#[tokio::test]
async fn a_session_that_is_not_there_is_an_error() {
    let mut machine = machine().await;
    machine.pipe("hello\n");
    for args in [&["chat", "nothing"][..], &["chat", "--last"]] {
        assert_eq!(machine.run(args).await.exit, Exit::NotFound, "{args:?}");
    }
    let parse = |args: &[&str]| crate::cli::command().try_get_matches_from(["retrace", "chat"].iter().chain(args));
    assert!(parse(&["some", "--last"]).is_err(), "both a session and --last");
    assert_eq!(machine.sessions().await, []);
}

#[tokio::test]
async fn without_a_key_nothing_begins() {
    let mut machine = Machine::alone();
    machine.pipe("hello\n");
    let ran = machine.run(&["chat"]).await;
    assert_eq!(ran.exit, Exit::Usage, "{ran:?}");
    assert_eq!(machine.sessions().await, []);
}

#[tokio::test]
async fn json_is_every_event_and_nothing_else() {
    let mut machine = machine().await;
    machine.pipe("hello\n/cost\n");
    let ran = done(machine.run(&["--json", "chat"]).await);
    let lines: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let numbers: Vec<u64> = lines.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..lines.len() as u64).collect::<Vec<_>>());
    assert_eq!(lines, events(&machine).await);
}

fn somebody() -> Holder {
    Holder { host: "elsewhere".to_owned(), pid: 4_711, command: "retrace chat".to_owned(), since: Timestamp(0) }
}

#[tokio::test]
async fn the_second_of_two_chats_is_told_who_has_the_session() {
    let mut machine = machine().await;
    machine.pipe("hello\n");
    done(machine.run(&["chat"]).await);
    let id = machine.session().await;
    let stream = machine.sessions().await.remove(0);
    let log = machine.log().await;
    let claim = log.claim(&stream, &somebody()).await.unwrap();
    machine.pipe("hello\n");
    let ran = machine.run(&["chat", &id]).await;
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Log, ""), "{ran:?}");
    assert!(
        ran.err.starts_with(&format!("error: session {id} is held by `retrace chat`, process 4711 on elsewhere")),
        "{ran:?}"
    );
    assert!(ran.err.contains(&format!("hint: `retrace send {id} ")), "{ran:?}");

    // Somebody who is there may choose.
    machine.types("what?\nq\n");
    let ran = done(machine.run(&["chat", &id]).await);
    assert_eq!(ran.err.matches("[w]atch it").count(), 2, "{ran:?}");
    machine.types("w\nhello\n/cost\n");
    let ran = done(machine.run(&["chat", &id]).await);
    assert!(ran.err.contains("you only watch this session") && ran.err.contains("1 prompt · 1 step"), "{ran:?}");
    machine.types("s\nhello from here\n");
    done(machine.run(&["chat", &id]).await);
    drop(claim);
    let control = retrace_events::control::control_stream(&stream);
    assert_eq!(log.head(&control).await.unwrap().unwrap().seq, 1, "one prompt by the first chat, one by the last");
    machine.pipe("");
    let ran = done(machine.run(&["chat", &id]).await);
    assert!(ran.err.contains("› hello from here\n") && ran.out == "Hello.\n", "{ran:?}");
}

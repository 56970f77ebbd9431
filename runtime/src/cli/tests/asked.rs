//! Asking: what waits for the user's word, `run` on a terminal, trust in a folder.

use super::Machine;
use crate::cli::Exit;
use crate::cli::asking::{self, Decision, Waits};
use crate::cli::output::Output;
use crate::cli::view::View;
use retrace_events::fold::{CallApproval, CallProgress, OpenCall};
use retrace_events::payload::tool::{ToolApprovalAsked, ToolApprovalScope, ToolEffect};
use retrace_events::redact::Redactor;
use retrace_events::{CallId, SessionState};
use std::sync::Arc;

const RUNS: &str = r#"
[[step]]
[[step.block]]
type = "tool_use"
name = "bash"
input = { command = "echo ran > file.txt" }
[[step]]
[[step.block]]
type = "text"
text = "Over."
"#;

fn call(id: &str, tool: &str, progress: CallProgress, approval: CallApproval) -> OpenCall {
    OpenCall { id: CallId(id.to_owned()), tool: tool.to_owned(), input: "{}".to_owned(), progress, approval }
}

#[test]
fn calls_wait_until_somebody_has_said_something() {
    use CallApproval::{Asked, Given, Undecided};
    let begun = CallProgress::Begun(ToolEffect::ReadOnly);
    let calls = vec![
        call("decided", "bash", CallProgress::Asked, Given),
        call("not asked", "bash", CallProgress::Asked, Undecided),
        call("waits", "bash", CallProgress::Asked, Asked),
        call("runs", "bash", begun, Given),
        call("asks", "ask_user", begun, Undecided),
        call("will ask", "ask_user", CallProgress::Asked, Undecided),
        call("answered", "ask_user", CallProgress::Done, Undecided),
    ];
    let state = SessionState { calls, ..SessionState::default() };
    let id = |id: &str| CallId(id.to_owned());
    assert_eq!(asking::waiting(&state), [Waits::Approval { call: id("waits") }, Waits::Answer { call: id("asks") }]);
    assert_eq!(asking::waiting(&SessionState::default()), []);
}

#[test]
fn a_decision_says_how_far_it_reaches() {
    let decided = |allow, note: &str| Some(Decision { allow, note: note.to_owned() });
    assert_eq!(asking::decision("Y"), decided(Some(ToolApprovalScope::Once), ""));
    assert_eq!(asking::decision("session"), decided(Some(ToolApprovalScope::Session), ""));
    assert_eq!(asking::decision("a"), decided(Some(ToolApprovalScope::Always), ""));
    assert_eq!(asking::decision("no: too dangerous"), decided(None, "too dangerous"));
    for other in ["", "yy", "y es", "nope", "always yes", "1"] {
        assert_eq!(asking::decision(other), None, "{other:?}");
    }
}

#[tokio::test]
async fn run_asks_on_a_terminal() {
    for (typed, ran_it) in [("y\n", true), ("what?\n\nyes\n", true), ("n not that\n", false), ("", false)] {
        let mut machine = Machine::with(RUNS).await;
        machine.types(typed);
        let ran = machine.run(&["run", "do it", "--approvals", "ask"]).await;
        assert_eq!((ran.exit, ran.out.as_str()), (Exit::Done, "Over.\n"), "{typed:?}: {ran:?}");
        assert!(ran.err.contains("[y] once"), "{ran:?}");
        assert_eq!(machine.workspace.join("file.txt").exists(), ran_it, "{typed:?}");
    }
}

#[tokio::test]
async fn run_asks_nobody_in_a_pipe_or_when_it_is_to_be_quiet() {
    let mut machine = Machine::with(RUNS).await;
    machine.pipe("y\n");
    let piped = machine.run(&["run", "do it", "--approvals", "ask"]).await;
    assert!(!piped.err.contains("[y] once"), "{piped:?}");
    let mut machine = Machine::with(RUNS).await;
    machine.types("y\n");
    let quiet = machine.run(&["run", "do it", "--approvals", "ask", "--quiet"]).await;
    assert_eq!((piped.exit, quiet.exit), (Exit::Done, Exit::Done));
    assert!(!machine.workspace.join("file.txt").exists());
}

#[tokio::test]
async fn a_folder_that_needs_trust_is_asked_about_once() {
    let mut machine = Machine::with(RUNS).await;
    std::fs::write(machine.workspace.join(".env"), "MODEL=claude-haiku-5-5\n").unwrap();
    machine.types("no\n/quit\n");
    let refused = machine.run(&["chat"]).await;
    assert_eq!(refused.exit, Exit::Done, "{refused:?}");
    assert!(refused.err.contains("trust this folder, ") && refused.err.contains("going on without"), "{refused:?}");
    assert!(!refused.err.contains("haiku"), "{refused:?}");
    machine.types("y\n/quit\n");
    let trusted = machine.run(&["chat"]).await;
    assert!(trusted.err.contains("claude-haiku-5-5 · "), "{trusted:?}");
    machine.types("/quit\n");
    let again = machine.run(&["chat"]).await;
    assert!(again.err.contains("claude-haiku-5-5 · ") && !again.err.contains("trust this folder"), "{again:?}");
}

#[tokio::test]
async fn rules_of_the_project_that_allow_something_call_for_trust_too() {
    let mut machine = Machine::with(RUNS).await;
    let file = machine.workspace.join(".retrace.toml");
    for (text, asks) in [("[permissions]\nask = [\"bash\"]\n", false), ("[permissions]\nallow = [\"bash\"]\n", true)] {
        std::fs::write(&file, text).unwrap();
        machine.types("y\n/quit\n");
        let ran = machine.run(&["chat"]).await;
        assert_eq!((ran.exit, ran.err.contains("trust this folder, ")), (Exit::Done, asks), "{text}: {ran:?}");
    }
    machine.types("do it\n/quit\n");
    let trusted = machine.run(&["chat", "--approvals", "ask"]).await;
    assert!(trusted.out == "Over.\n" && !trusted.err.contains("[y] once"), "{trusted:?}");
    assert!(machine.workspace.join("file.txt").exists());
}

/// Runs a command that no rule can cover, being too long for one.
fn runs_uncoverable() -> String {
    RUNS.replace("echo ran > file.txt", &format!("echo ran > file.txt # {}", "x".repeat(20_000)))
}

#[tokio::test]
async fn a_call_that_no_rule_covers_is_allowed_once_or_not() {
    for (typed, ran_it) in [("s\na\ny\n", true), ("always\nn\n", false)] {
        for command in [&["run", "do it", "--approvals", "ask"][..], &["chat", "--approvals", "ask"]] {
            let mut machine = Machine::with(&runs_uncoverable()).await;
            let chat = command[0] == "chat";
            machine.types(&if chat { format!("do it\n{typed}") } else { typed.to_owned() });
            let ran = machine.run(command).await;
            assert_eq!((ran.exit, ran.out.as_str()), (Exit::Done, "Over.\n"), "{typed:?}: {ran:?}");
            assert!(ran.err.contains("[y] once  [n] no") && !ran.err.contains("[s]"), "{ran:?}");
            let refused = if chat { "no rule can cover this call" } else { "y, or n and words for the model" };
            assert_eq!(ran.err.matches(refused).count(), typed.lines().count() - 1, "{ran:?}");
            assert_eq!(machine.workspace.join("file.txt").exists(), ran_it, "{typed:?}");
        }
    }
}

#[test]
fn only_what_a_rule_can_cover_can_be_allowed_for_longer() {
    let asked = |id: &str, rule: &str| ToolApprovalAsked {
        call: CallId(id.to_owned()),
        tool: "bash".to_owned(),
        summary: String::new(),
        preview: String::new(),
        rule: rule.to_owned(),
        why: String::new(),
    };
    let mut view =
        View::new(SessionState::default(), Output::in_memory(false, false), Arc::new(Redactor::new(Vec::new())), true);
    for (id, rule) in [("covered", "bash(ls)"), ("bare", "")] {
        view.know(asked(id, rule));
    }
    for (id, further) in [("covered", true), ("bare", false), ("unknown", true)] {
        let id = CallId(id.to_owned());
        for (line, offered) in [("y", true), ("n, not so", true), ("s", further), ("always", further)] {
            let decision = asking::decision(line).unwrap();
            assert_eq!(view.offers(&id, &decision), offered, "{line} to {id}");
        }
        assert_eq!(view.answers_to(&id), if further { "y, s, a, or n" } else { "y, or n" }, "{id}");
    }
}

#[tokio::test]
async fn nobody_is_asked_for_trust_in_a_pipe() {
    let mut machine = Machine::with(RUNS).await;
    std::fs::write(machine.workspace.join(".env"), "MODEL=claude-haiku-5-5\n").unwrap();
    machine.pipe("y\n/quit\n");
    let ran = machine.run(&["chat"]).await;
    assert!(!ran.err.contains("trust this folder, ") && !machine.folders.trust_file().exists(), "{ran:?}");
}

//! Asking: what waits for the user's word, `run` on a terminal, trust in a folder.

use super::Machine;
use crate::cli::Exit;
use crate::cli::asking::{self, Decision, Waits};
use retrace_events::fold::{CallApproval, CallProgress, OpenCall};
use retrace_events::payload::tool::{ToolApprovalScope, ToolEffect};
use retrace_events::{CallId, SessionState};

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
async fn nobody_is_asked_for_trust_in_a_pipe() {
    let mut machine = Machine::with(RUNS).await;
    std::fs::write(machine.workspace.join(".env"), "MODEL=claude-haiku-5-5\n").unwrap();
    machine.pipe("y\n/quit\n");
    let ran = machine.run(&["chat"]).await;
    assert!(!ran.err.contains("trust this folder, ") && !machine.folders.trust_file().exists(), "{ran:?}");
}

//! Calls that are passed over, sessions that cannot be carried out again, and being stopped.

use super::recorder::{Recorder, reasons, wait_for};
use crate::replaying::{CallVerdict, ExecuteError, Execution, FilesLikeness, Likeness, NotCompared};
use retrace_events::EventId;
use retrace_events::payload::settings::Settings;
use retrace_events::payload::tool::ToolFinished;
use retrace_events::testing::{example_settings, example_stream};
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn what_was_not_done_is_not_done_again() {
    let mut session = Recorder::new().await;
    session.bash("echo begun > trace.txt").await;
    session.denied("echo denied >> trace.txt", "rule").await;
    session.denied("echo interrupted >> trace.txt", "interruption").await;
    session.call("ask_user", json!({ "question": "which?" })).await;
    session.call("recall", json!({ "query": "what was it?" })).await;
    session.bash("cat trace.txt").await;
    let (calls, summary) = session.replay().await;
    assert_eq!(
        reasons(&calls),
        [NotCompared::Denied, NotCompared::Cancelled, NotCompared::Asked, NotCompared::Recalled],
        "{calls:#?}"
    );
    assert_eq!((summary.same, summary.diverging), (2, 0));
}

#[tokio::test]
async fn behind_an_unknown_outcome_the_files_are_those_of_the_log() {
    let mut session = Recorder::new().await;
    session.bash("true").await;
    session
        .unknown("echo whole > half.txt", |workspace| std::fs::write(workspace.join("half.txt"), "ha").unwrap())
        .await;
    session.bash("cat half.txt").await;
    let (calls, summary) = session.replay().await;
    assert_eq!(reasons(&calls), [NotCompared::OutcomeUnknown]);
    assert_eq!((summary.same, summary.diverging), (2, 0), "{calls:#?}");
}

#[tokio::test]
async fn a_command_that_took_too_long_is_not_waited_for_again() {
    let mut session = Recorder::new().await;
    let input = json!({ "command": "echo before > t.txt; sleep 30; echo after > t.txt", "timeout_ms": 300 });
    session.call("bash", input).await;
    session.bash("cat t.txt").await;
    let (calls, summary) = session.replay().await;
    assert_eq!(reasons(&calls), [NotCompared::TimedOut]);
    assert_eq!((summary.same, summary.diverging), (1, 0), "{calls:#?}");
    assert_eq!(calls[0].duration_ms, (0, 0), "it was not even begun");
}

#[tokio::test]
async fn a_command_in_the_background_runs_and_is_not_compared() {
    let mut session = Recorder::new().await;
    let server = session
        .call("bash", json!({ "command": "echo up > up.txt; while true; do sleep 0.1; done", "background": true }))
        .await;
    session.bash("for i in $(seq 200); do test -e up.txt && break; sleep 0.05; done; cat up.txt").await;
    session.call("read_output", json!({ "call_id": server.0 })).await;
    session.call("kill", json!({ "call_id": server.0 })).await;
    let (calls, summary) = session.replay().await;
    assert_eq!(reasons(&calls), vec![NotCompared::Background; 3], "{calls:#?}");
    assert_eq!(calls[1].verdict, CallVerdict::Compared(Likeness::Same), "it found the file that the other one wrote");
    assert_eq!(summary.same, 1);
}

#[tokio::test]
async fn where_files_are_not_known_only_results_are_compared() {
    let mut session = Recorder::new().await;
    session.bash("echo a > x.txt").await;
    session.snapshot_fails().await;
    session.bash("cat x.txt").await;
    let (calls, summary) = session.replay().await;
    assert_eq!(summary.diverging, 0);
    // The snapshot behind the second call says what they are again.
    assert_eq!((summary.trees, calls.len()), (2, 2));
    let mut session = Recorder::new().await;
    session.bash("echo a > x.txt").await;
    session.prompt().await;
    session.snapshot_fails().await;
    session.call("read_file", json!({ "path": "x.txt" })).await;
    let (calls, _) = session.replay().await;
    assert_eq!(calls[1].files, FilesLikeness::NotCompared);
}

#[tokio::test]
async fn calls_before_the_first_snapshot_are_left_alone_when_files_had_been_changed() {
    let mut session = Recorder::new().await;
    // A version without snapshots wrote this.
    let call = session.called("list_dir", &json!({}), EventId(uuid::Uuid::nil())).await;
    let finished = ToolFinished {
        call,
        is_error: false,
        content: "?".to_owned(),
        exit: None,
        output: None,
        changed: Vec::new(),
        duration_ms: 1,
    };
    session.append(finished.clone().into()).await;
    let call = retrace_events::CallId("toolu_old".to_owned());
    let called = retrace_events::payload::tool::ToolCalled {
        call: call.clone(),
        tool: "bash".to_owned(),
        input: json!({ "command": "echo old" }).to_string(),
        request: EventId(uuid::Uuid::nil()),
        effect: retrace_events::payload::tool::ToolEffect::Writes,
    };
    session.append(called.into()).await;
    session.append(ToolFinished { call, ..finished }.into()).await;
    session.call("read_file", json!({ "path": "a.txt" })).await;
    session.bash("cat a.txt").await;
    let (calls, summary) = session.replay().await;
    assert_eq!(reasons(&calls), [NotCompared::FilesUnknown, NotCompared::FilesUnknown]);
    assert_eq!((summary.same, summary.diverging), (2, 0), "{calls:#?}");
}

#[tokio::test]
async fn another_programs_calls_are_not_ours_to_carry_out() {
    let mut session = Recorder::new().await;
    let origin = session.imported().await;
    let call = session.called("read_file", &json!({ "path": "a.txt" }), origin).await;
    let finished = |call| ToolFinished {
        call,
        is_error: false,
        content: "theirs".to_owned(),
        exit: None,
        output: None,
        changed: Vec::new(),
        duration_ms: 1,
    };
    session.append(finished(call).into()).await;
    assert!(matches!(session.begin().await, Err(ExecuteError::Foreign(_))));
    // Gone on with here: what is ours is carried out.
    session.prompt().await;
    session.bash("cat a.txt").await;
    let (calls, summary) = session.replay().await;
    assert_eq!((reasons(&calls), summary.same), (vec![NotCompared::Foreign], 1));
}

#[tokio::test]
async fn what_cannot_be_begun_says_why_and_leaves_nothing() {
    let mut session = Recorder::unopened().await;
    assert!(matches!(session.begin().await, Err(ExecuteError::NoSuchSession(_))));
    session.start(Settings { sandbox: "process".to_owned(), ..example_settings() }).await;
    let none = session.begin().await.err().unwrap();
    assert!(matches!(none, ExecuteError::NoSnapshot(_)) && none.to_string().contains("hint: "), "{none}");
    session.bash("true").await;
    let log = Arc::new(session.log.clone());
    let unavailable =
        Execution::begin(log, &example_stream("replayed"), session.parts(), Some("krun".to_owned())).await;
    assert!(matches!(unavailable.err().unwrap(), ExecuteError::Sandbox(_)));
    assert!(session.left_behind().is_empty(), "{:?}", session.left_behind());
    std::fs::remove_dir_all(session.plan().dir).unwrap();
    let gone = session.begin().await.err().unwrap();
    assert!(matches!(gone, ExecuteError::SnapshotGone { .. }) && gone.to_string().contains("hint: "), "{gone}");
}

#[tokio::test]
async fn without_a_sandbox_only_when_it_is_said_again() {
    let mut session = Recorder::unopened().await;
    session.start(Settings { sandbox: "none".to_owned(), ..example_settings() }).await;
    session.bash("cat a.txt; pwd").await;
    let refused = session.begin().await.err().unwrap();
    assert!(matches!(refused, ExecuteError::Unconfined(_)) && refused.to_string().contains("--sandbox"), "{refused}");
    for sandbox in ["process", "none"] {
        let log = Arc::new(session.log.clone());
        let sandbox = Some(sandbox.to_owned());
        let mut execution = Execution::begin(log, &example_stream("replayed"), session.parts(), sandbox).await.unwrap();
        while execution.next().await.unwrap().is_some() {}
        assert_eq!(execution.finish().await.diverging, 0);
    }
    assert!(session.left_behind().is_empty());
}

#[tokio::test]
async fn being_stopped_in_a_call_leaves_nothing_behind() {
    let mut session = Recorder::new().await;
    session.bash("echo short").await;
    // No snapshot holds what looks like a secret: there is nothing to wait for now, and for ever then.
    session.file("id_rsa", "gate");
    session.bash("echo at work > work.txt; test -e id_rsa || sleep 1000").await;
    let mut execution = session.begin().await.unwrap();
    assert!(execution.next().await.unwrap().is_some());
    let cancel = session.cancel.clone();
    let stop = async {
        let at_work = || session.left_behind().iter().any(|folder| folder.join("ws/work.txt").exists());
        wait_for(at_work).await;
        cancel.cancel();
    };
    let (stopped, ()) = tokio::join!(execution.next(), stop);
    assert!(matches!(stopped, Err(ExecuteError::Interrupted)), "{stopped:?}");
    assert!(matches!(execution.next().await, Err(ExecuteError::Interrupted)), "and it goes no further");
    execution.finish().await;
    assert!(session.left_behind().is_empty(), "{:?}", session.left_behind());
}

#[tokio::test]
async fn what_is_dropped_half_way_goes_away_too() {
    let mut session = Recorder::new().await;
    session.bash("echo one").await;
    session.bash("echo two").await;
    let mut execution = session.begin().await.unwrap();
    execution.next().await.unwrap();
    assert_eq!(session.left_behind().len(), 1);
    drop(execution);
    assert!(session.left_behind().is_empty(), "{:?}", session.left_behind());
}

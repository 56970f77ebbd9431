//! Steps: where they begin and end, and what of their events is remembered.

use super::super::{DigestKind, SummaryNode};
use super::made::*;
use retrace_events::payload::context::ContextCompacted;
use retrace_events::payload::session::{PlanStatus, SessionClosed, SessionForkReason, SessionForked, SessionRuleAdded};
use retrace_events::payload::tool::{
    ToolBackgroundEnded, ToolBackgroundStarted, ToolDenied, ToolExit, ToolOutcomeUnknown,
};
use retrace_events::payload::turn::{TurnFailed, TurnFailure, TurnOutcome};
use retrace_events::testing::{example_settings, example_stream};
use retrace_events::{CallId, EventId, Hash, Payload};
use serde_json::json;

/// Kind, text and end of each item.
fn items(node: &SummaryNode) -> Vec<(DigestKind, &str, Option<&str>)> {
    node.digest.items.iter().map(|item| (item.kind, item.text.as_str(), item.end.as_deref())).collect()
}

#[test]
fn a_prompt_is_a_step_and_so_is_each_answer_with_its_calls() {
    let leaves = leaves(&[
        started(),
        prompt("make the tests pass, and say why they failed"),
        answer("I'll run them.", &["1"]),
        bash("1", "cargo test"),
        finished("1", code(101), "exit code: 101\nerror: no such file `a.rs`", &[]),
        answer("The file is missing because nobody wrote it.", &["2"]),
        called("2", "write_file", &json!({ "path": "/home/ada/project/a.rs", "content": "" })),
        finished("2", None, "ok", &["a.rs"]),
        answer("Done.", &[]),
        ended(TurnOutcome::Completed),
        prompt("go on"),
    ]);
    let spans: Vec<(u64, u64, bool)> = leaves.iter().map(|leaf| (leaf.first_seq, leaf.last_seq, leaf.open)).collect();
    assert_eq!(spans, [(0, 1, false), (2, 4, false), (5, 7, false), (8, 9, false), (10, 10, true)]);
    assert_eq!(items(&leaves[0]), [(DigestKind::Words, "make the tests pass, and say why they failed", None)]);
    assert_eq!(
        items(&leaves[1]),
        [
            (DigestKind::Decision, "I'll run them.", None),
            (DigestKind::Error, "`cargo test`: error: no such file `a.rs`", None),
            (DigestKind::Command, "cargo test", Some("exit 101")),
        ]
    );
    assert_eq!(
        items(&leaves[2]),
        [
            (DigestKind::Decision, "The file is missing because nobody wrote it.", None),
            (DigestKind::Changed, "a.rs", None),
        ]
    );
}

#[test]
fn a_step_that_was_cut_short_is_told_as_far_as_it_came() {
    let leaves = leaves(&[
        prompt("clean up"),
        answer("", &["1", "2"]),
        bash("1", "rm -r build"),
        ToolOutcomeUnknown { call: CallId("1".into()), content: "retrace ended in mid-call".into() }.into(),
        bash("2", "make"),
        interrupted(),
        answer("", &["3"]),
        bash("3", "sleep 9"),
    ]);
    assert_eq!(
        items(&leaves[1]),
        [
            (DigestKind::Decision, "interrupted (signal) during a call", None),
            (DigestKind::Error, "`rm -r build`: outcome unknown: retrace ended in mid-call", None),
            (DigestKind::Command, "rm -r build", Some("outcome unknown")),
            (DigestKind::Command, "make", Some("no result")),
        ]
    );
    assert!(leaves[2].open);
    assert_eq!(items(&leaves[2]), [(DigestKind::Command, "sleep 9", Some("no result"))]);
}

#[test]
fn the_first_words_set_the_task_and_what_nobody_wrote_sets_none() {
    let leaves = leaves(&[
        prompt("<command-name>/clear</command-name>"),
        prompt("make the tests pass"),
        prompt("and say why they failed before"),
        prompt("go on"),
    ]);
    let weights: Vec<u8> = leaves.iter().map(|leaf| leaf.digest.items[0].weight).collect();
    assert_eq!(weights, [0, 3, 2, 1]);
}

#[test]
fn results_may_come_after_the_next_piece_of_an_answer() {
    let leaves = leaves(&[
        answer("", &["1"]),
        bash("1", "make"),
        answer("", &["2"]),
        bash("2", "make check"),
        finished("2", code(0), "", &[]),
        finished("1", code(2), "error: no rule", &[]),
        answer("", &["3"]),
        bash("3", "make dist"),
        answer("Well.", &[]),
        ended(TurnOutcome::Completed),
        finished("3", code(0), "", &["late.rs"]),
    ]);
    let seqs = |leaf: &SummaryNode| leaf.digest.items.iter().map(|item| item.seq).collect::<Vec<_>>();
    assert_eq!(items(&leaves[0]), []);
    assert_eq!(
        items(&leaves[1]),
        [
            (DigestKind::Error, "`make`: error: no rule", None),
            (DigestKind::Command, "make check", Some("exit 0")),
            (DigestKind::Command, "make", Some("exit 2")),
        ]
    );
    assert_eq!(seqs(&leaves[1]), [5, 3, 5], "the events are this step's own");
    // Its turn ended before its result came; of that only the file is news.
    assert_eq!(
        items(&leaves[3]),
        [(DigestKind::Decision, "Well.", None), (DigestKind::Command, "make dist", Some("no result"))]
    );
    assert_eq!(items(&leaves[4]), [(DigestKind::Changed, "late.rs", None)]);
}

#[test]
fn what_the_user_decided_is_kept() {
    let question = json!({ "question": "tabs or spaces?" });
    let leaves = leaves(&[
        answer("", &["1", "2", "3"]),
        called("1", "ask_user", &question),
        finished("1", None, "spaces, always", &[]),
        called("2", "ask_user", &question),
        failed("2", "nobody can be asked now"),
        bash("3", "git push --force"),
        ToolDenied { call: CallId("3".into()), by: "ada".into(), content: "never force".into() }.into(),
        SessionRuleAdded { rule: "bash(cargo *)".into(), by: "ada".into() }.into(),
    ]);
    assert_eq!(
        items(&leaves[0]),
        [
            (DigestKind::Words, "spaces, always (asked: tabs or spaces?)", None),
            (DigestKind::Decision, "denied by ada: `git push --force`: never force", None),
            (DigestKind::Decision, "allowed from here on: bash(cargo *) (by ada)", None),
            (DigestKind::Error, "`tabs or spaces?`: nobody can be asked now", None),
            (DigestKind::Command, "git push --force", Some("denied")),
        ]
    );
}

#[test]
fn commands_in_the_background_end_later() {
    let started = ToolBackgroundStarted { call: CallId("1".into()), command: "npm start".into() };
    let ended_badly = ToolBackgroundEnded {
        call: CallId("1".into()),
        exit: Some(ToolExit { code: None, signal: Some(9), timed_out: false }),
        output: None,
        why: "killed".into(),
    };
    let nobody = ToolBackgroundEnded { call: CallId("x".into()), ..ended_badly.clone() };
    let leaves = leaves(&[
        answer("", &["1"]),
        bash("1", "npm start"),
        started.into(),
        finished("1", None, "started", &[]),
        ended(TurnOutcome::Completed),
        nobody.into(),
        ended_badly.into(),
        prompt("what became of it?"),
    ]);
    assert_eq!(items(&leaves[0]), [(DigestKind::Command, "npm start", Some("in the background"))]);
    // What happens between turns belongs to the step that comes next.
    assert_eq!((leaves[1].first_seq, leaves[1].last_seq), (5, 7));
    assert_eq!(
        items(&leaves[1]),
        [
            (DigestKind::Words, "what became of it?", None),
            (DigestKind::Command, "npm start", Some("in the background, signal 9")),
        ]
    );
    assert_eq!(leaves[1].digest.items[1].failed, 1);
}

#[test]
fn the_newest_plan_leaves_its_open_tasks() {
    let leaves = leaves(&[
        answer("", &[]),
        planned(&[("old", PlanStatus::Pending)]),
        planned(&[("look", PlanStatus::Done), ("mend\nit", PlanStatus::InProgress), ("test", PlanStatus::Pending)]),
    ]);
    let plan = leaves[0].digest.plan.as_ref().unwrap();
    assert_eq!((plan.seq, plan.done, plan.more), (2, 1, 0));
    let open: Vec<(&str, bool)> = plan.open.iter().map(|task| (task.text.as_str(), task.in_progress)).collect();
    assert_eq!(open, [("mend it", true), ("test", false)]);
}

#[test]
fn a_plan_of_a_hundred_tasks_is_cut_and_counted() {
    let long = "x".repeat(1_000);
    let leaves = leaves(&[prompt("a"), planned(&vec![(long.as_str(), PlanStatus::Pending); 100])]);
    let plan = leaves[0].digest.plan.as_ref().unwrap();
    assert_eq!(plan.open.len() + plan.more as usize, 100);
    assert!(plan.open.iter().map(|task| task.text.len()).sum::<usize>() < 2_500);
}

#[test]
fn forks_compaction_failures_and_the_end_are_told() {
    let forked = SessionForked {
        parent: example_stream("parent"),
        parent_seq: 41,
        parent_hash: Hash::GENESIS,
        reason: SessionForkReason::Rewind,
        title: "t".into(),
        workspace: "/home/ada/copy".into(),
        retrace_version: "0".into(),
        settings: example_settings(),
    };
    let request = EventId(uuid::Uuid::nil());
    let failure = |retry_in_ms| -> Payload {
        TurnFailed {
            request,
            failure: TurnFailure::Server,
            status: Some(500),
            message: "500: it broke".into(),
            request_id: None,
            partial: None,
            billed_microusd: 0,
            retry_in_ms,
        }
        .into()
    };
    let leaves = leaves(&[
        forked.into(),
        prompt("This session is being continued from a previous conversation that ran out of context. Summary: …"),
        failure(Some(5)),
        failure(None),
        ended(TurnOutcome::RequestFailed),
        ContextCompacted { summary: "we mended the parser".into(), by: "claude-code: auto".into() }.into(),
        prompt("read /home/ada/copy/x"),
        called("1", "Read", &json!({ "file_path": "/home/ada/copy/x" })),
        finished("1", None, "", &[]),
        called("2", "Grep", &json!({ "pattern": "fn main", "path": "/home/ada/copy/src" })),
        finished("2", None, "", &[]),
        SessionClosed { why: "done".into() }.into(),
    ]);
    let decisions = |leaf: &SummaryNode| -> Vec<String> {
        leaf.digest.of_kind(DigestKind::Decision).map(|item| item.text.clone()).collect()
    };
    let [forked, continued] = &decisions(&leaves[0])[..] else { panic!("{leaves:?}") };
    assert_eq!(forked, "takes over from session parent behind its event 41");
    assert!(continued.starts_with("This session is being continued"), "{continued}");
    assert_eq!(leaves[0].digest.total(DigestKind::Words), 0, "these are not the user's words");
    let errors: Vec<&str> = leaves[0].digest.of_kind(DigestKind::Error).map(|item| item.text.as_str()).collect();
    assert_eq!(errors, ["request: 500: it broke", "the turn ended: request failed: a note"]);
    assert_eq!(decisions(&leaves[1]), ["compacted (claude-code: auto): we mended the parser", "closed: done"]);
    let read: Vec<&str> = leaves[1].digest.of_kind(DigestKind::Read).map(|item| item.text.as_str()).collect();
    assert_eq!(read, ["x", "search `fn main` in src"]);
    assert!(!leaves[1].open, "a closed session has no open step");
}

#[test]
fn secrets_are_taken_out_before_a_text_is_cut() {
    // The cut of every kind goes through the middle of the key.
    let padded = |width: usize| format!("{}{SECRET} {}", "x ".repeat((width - 10) / 2), "y ".repeat(600));
    for width in [150, 160, 200, 280, 320, 480, 4_096, 65_536, 262_144] {
        let text = padded(width);
        let leaves = leaves(&[
            prompt(&text),
            answer(&format!("It is because {text}"), &["1", "2"]),
            bash("1", &text),
            finished("1", code(1), &format!("error {text}"), &[&text]),
            called("2", "write_file", &json!({ "path": text })),
            finished("2", None, "", &[]),
            planned(&[(&text, PlanStatus::Pending)]),
        ]);
        let json = serde_json::to_string(&leaves).unwrap();
        assert!(!json.contains("hunter2"), "{json}");
    }
}

#[test]
fn a_step_of_a_thousand_calls_is_bounded_and_counted() {
    let mut payloads = vec![answer("Many.", &[])];
    for number in 0..1_000 {
        let id = number.to_string();
        payloads.push(bash(
            &id,
            &format!("echo {}", "abcdefghij".chars().cycle().skip(number % 10).take(number % 50).collect::<String>()),
        ));
        payloads.push(finished(&id, code(number as i32 % 2), "error: odd", &[&format!("file{number}.rs")]));
    }
    let leaves = leaves(&payloads);
    let digest = &leaves[0].digest;
    assert_eq!(digest.total(DigestKind::Command), 1_000);
    assert_eq!(digest.total(DigestKind::Changed), 1_000);
    assert_eq!(digest.total(DigestKind::Error), 500);
    assert!(serde_json::to_string(&leaves[0]).unwrap().len() < 20_000);
}

#[test]
fn hostile_inputs_do_no_harm() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let id = "x".repeat(1_000_000);
    let leaves = leaves(&[
        answer(&deep, &[]),
        called(&id, "bash", &json!({ "command": { "not": "text" } })),
        finished(&id, None, "\u{1b}[2J\u{0}", &["", "../../etc/passwd", "\u{1b}]0;x\u{7}"]),
        called("2", &"tool".repeat(10_000), &json!(null)),
        finished("2", code(3), &"e\n".repeat(500_000), &[]),
    ]);
    let json = serde_json::to_string(&leaves).unwrap();
    assert!(json.len() < 20_000, "{}", json.len());
    assert!(!json.contains("\\u001b") && !json.contains("\\u0000"), "{json}");
}

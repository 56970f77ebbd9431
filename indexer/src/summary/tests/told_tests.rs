//! How single events are told: attachments, warnings, settings, forks, rules, and what happens between turns.

use super::super::DigestKind;
use super::made::*;
use expect_test::{Expect, expect};
use retrace_events::blob::BlobRef;
use retrace_events::payload::session::{
    PlanStatus, SessionConfigured, SessionForkReason, SessionForked, SessionImported, SessionRuleAdded,
};
use retrace_events::payload::tool::{ToolApprovalScope, ToolApproved, ToolExit};
use retrace_events::payload::turn::{
    Attachment, PromptSource, TurnInterrupted, TurnOutcome, TurnPrompted, TurnQueued, TurnWarned,
};
use retrace_events::testing::{example_settings, example_stream};
use retrace_events::{CallId, Hash, Payload};

/// The one leaf of these events, in words and without its heading.
fn told(payloads: &[Payload], expected: Expect) {
    let leaves = leaves(payloads);
    let [leaf] = &leaves[..] else { panic!("{leaves:?}") };
    let text = leaf.text(10_000);
    expected.assert_eq(text.split_once('\n').map_or("", |(_, rest)| rest));
}

fn forked(reason: SessionForkReason) -> Payload {
    SessionForked {
        parent: example_stream("parent"),
        parent_seq: 7,
        parent_hash: Hash::GENESIS,
        reason,
        title: "t".to_owned(),
        workspace: "/w".to_owned(),
        retrace_version: "0".to_owned(),
        settings: example_settings(),
    }
    .into()
}

#[test]
fn prompts_name_what_came_with_them() {
    let attached = |name: &str| Attachment {
        name: name.to_owned(),
        media_type: "image/png".to_owned(),
        blob: BlobRef { hash: Hash::GENESIS, size_bytes: 1 },
    };
    let attachments = vec![attached("login.png"), attached(&format!("{SECRET}.png"))];
    let prompted =
        TurnPrompted { text: "make it look like this".to_owned(), source: PromptSource::Control, attachments };
    told(
        &[prompted.into()],
        expect![[r#"
        the user's words
        - make it look like this [with login.png, [redacted:known].png] (#0)"#]],
    );
}

#[test]
fn a_prompt_that_waits_is_told_when_its_turn_comes() {
    let queued = TurnQueued { text: "then do that".to_owned(), source: PromptSource::Control, attachments: Vec::new() };
    told(
        &[prompt("do this first"), queued.into()],
        expect![[r#"
        the user's words
        - do this first (#0)"#]],
    );
}

#[test]
fn forks_imports_settings_and_rules() {
    let imported = SessionImported {
        source: "claude-code".to_owned(),
        source_session: "abc".to_owned(),
        source_version: "2.0".to_owned(),
    };
    let configured = SessionConfigured { settings: example_settings(), why: "model: a -> b".to_owned() };
    told(
        &[
            forked(SessionForkReason::Fork),
            forked(SessionForkReason::Rewind),
            forked(SessionForkReason::Delegate),
            imported.into(),
            configured.into(),
            SessionRuleAdded { rule: "bash(make *)".to_owned(), by: "ada".to_owned() }.into(),
        ],
        expect![[r#"
            decisions and conclusions
            - forked from session parent behind its event 7 (#0)
            - takes over from session parent behind its event 7 (#1)
            - does a part of the work of session parent behind its event 7 (#2)
            - comes from claude-code, session abc (#3)
            - settings changed: model: a -> b (#4)
            - allowed from here on: bash(make *) (by ada) (#5)"#]],
    );
}

#[test]
fn an_approval_of_one_call_is_no_news() {
    let approved = ToolApproved { call: CallId("1".into()), by: "ada".into(), scope: ToolApprovalScope::Once };
    told(
        &[answer("", &["1"]), bash("1", "make"), approved.into(), finished("1", code(0), "", &[])],
        expect![[r#"
        commands and calls
        - make (#1, exit 0)"#]],
    );
}

#[test]
fn ends_of_commands_in_all_their_ways() {
    let exit = |signal, timed_out| Some(ToolExit { code: None, signal, timed_out });
    told(
        &[
            answer("", &[]),
            bash("1", "sleep 1000"),
            finished("1", exit(Some(9), true), "timed out after 120,000 ms; it was ended", &[]),
            bash("2", "./crash"),
            finished("2", exit(Some(11), false), "ended by signal SIGSEGV", &[]),
            bash("3", "./odd"),
            finished("3", exit(None, false), "ended, nobody knows how", &[]),
            bash("4", "make"),
            finished("4", code(2), "exit code: 2", &[]),
            bash("5", "make"),
            finished("5", code(0), "exit code: 0", &[]),
        ],
        expect![[r#"
            errors
            - `sleep 1000`: timed out after 120,000 ms; it was ended (#2)
            - `./crash`: ended by signal SIGSEGV (#4)
            - `./odd`: ended, nobody knows how (#6)
            - `make`: exit 2 (#8)
            commands and calls
            - sleep 1000 (#1, timed out)
            - ./crash (#3, signal 11)
            - ./odd (#5)
            - make (#9, exit 0, ×2, 1 failed)"#]],
    );
}

#[test]
fn turns_that_did_not_end_well() {
    let warned = TurnWarned { rule: "same call".to_owned(), note: "the same call three times".to_owned() };
    told(
        &[answer("", &[]), warned.into(), ended(TurnOutcome::Stuck)],
        expect![[r#"
        errors
        - warned of going in circles: the same call three times (#1)
        - the turn ended: stuck: a note (#2)"#]],
    );
    let interrupted = TurnInterrupted { by: "control".to_owned(), during: "a request".to_owned() };
    told(
        &[prompt("a long task for you"), interrupted.into()],
        expect![[r#"
        the user's words
        - a long task for you (#0)
        decisions and conclusions
        - interrupted (control) during a request (#1)"#]],
    );
    for (outcome, word) in [
        (TurnOutcome::Refused, "refused"),
        (TurnOutcome::AnswerTooLong, "answer too long"),
        (TurnOutcome::ContextFull, "context full"),
        (TurnOutcome::BudgetReached, "budget reached"),
        (TurnOutcome::RequestFailed, "request failed"),
        (TurnOutcome::RuntimeFailed, "runtime failed"),
    ] {
        let leaves = leaves(&[answer("", &[]), ended(outcome)]);
        let errors: Vec<&str> = leaves[0].digest.of_kind(DigestKind::Error).map(|item| item.text.as_str()).collect();
        assert_eq!(errors, [format!("the turn ended: {word}: a note")]);
    }
    assert!(leaves(&[answer("", &[]), ended(TurnOutcome::Completed)])[0].digest.is_empty());
}

#[test]
fn tasks_that_are_left_and_those_that_are_done() {
    let many: Vec<(String, PlanStatus)> =
        (0..20).map(|n| (format!("task {n}"), if n < 4 { PlanStatus::Done } else { PlanStatus::Pending })).collect();
    let many: Vec<(&str, PlanStatus)> = many.iter().map(|(text, status)| (text.as_str(), *status)).collect();
    told(
        &[answer("", &[]), planned(&many)],
        expect![[r#"
        open tasks (#1, 4 done)
        - [ ] task 4
        - [ ] task 5
        - [ ] task 6
        - [ ] task 7
        - [ ] task 8
        - [ ] task 9
        - [ ] task 10
        - [ ] task 11
        - [ ] task 12
        - [ ] task 13
        - [ ] task 14
        - [ ] task 15
        - and 4 more"#]],
    );
    told(&[answer("", &[]), planned(&[("all", PlanStatus::Done)])], expect![[r#""#]]);
}

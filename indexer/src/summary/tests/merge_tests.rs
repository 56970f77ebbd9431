//! Merging: eight digests become one, level by level, without losing what matters most.

use super::super::{Digest, DigestKind, GROUP, SummaryNode};
use super::made::*;
use retrace_events::Payload;
use retrace_events::payload::session::PlanStatus;
use retrace_events::payload::turn::TurnOutcome;

/// A long working session: one task, then turns with many reads, the same test command, an error now and then.
fn work(turns: usize) -> Vec<Payload> {
    let mut payloads = vec![started(), prompt("port the parser to the new lexer, and keep the old tests")];
    for turn in 0..turns {
        let (read, run) = (format!("r{turn}"), format!("t{turn}"));
        let fails = turn % 5 == 0;
        payloads.extend([
            answer("", &[&read]),
            called(&read, "read_file", &serde_json::json!({ "path": format!("src/file{}.rs", turn % 40) })),
            finished(&read, None, "…", &[]),
            answer(&format!("I chose variant {turn} because the other one does not compile."), &[&run]),
            bash(&run, "cargo test --workspace"),
            finished(
                &run,
                code(i32::from(fails)),
                if fails { "error[E0308]: mismatched types" } else { "ok" },
                &["src/parser.rs"],
            ),
        ]);
    }
    payloads.extend([planned(&[("remove the old lexer", PlanStatus::Pending)]), ended(TurnOutcome::Completed)]);
    payloads
}

/// The nodes of a level.
fn level(payloads: &[Payload], level: u32) -> Vec<SummaryNode> {
    let (nodes, _) = tree(&events(payloads));
    nodes.into_iter().filter(|node| node.level == level).collect()
}

#[test]
fn the_task_and_the_newest_state_reach_the_top() {
    let payloads = work(300);
    let top = level(&payloads, 3).pop().unwrap();
    assert_eq!(top.index, 0);
    let words: Vec<&str> = top.digest.of_kind(DigestKind::Words).map(|item| item.text.as_str()).collect();
    assert_eq!(words, ["port the parser to the new lexer, and keep the old tests"]);
    // One command, run again and again, is one line with all its runs.
    let commands: Vec<_> = top.digest.of_kind(DigestKind::Command).collect();
    let [test] = commands[..] else { panic!("{commands:?}") };
    assert_eq!(u64::from(test.count), top.digest.total(DigestKind::Command));
    assert!(test.count > 200 && test.failed > 40 && test.failed < test.count / 4, "{test:?}");
    let changed: Vec<_> = top.digest.of_kind(DigestKind::Changed).collect();
    assert_eq!((changed.len(), changed[0].text.as_str()), (1, "src/parser.rs"));
    // So is the error, told by its newest event.
    let errors: Vec<_> = top.digest.of_kind(DigestKind::Error).collect();
    assert_eq!((errors.len(), errors[0].failed), (1, 0));
    assert!(errors[0].seq > errors[0].first_seq, "{errors:?}");
    // Of decisions the newest stay, and the others are counted.
    let decisions: Vec<u64> = top.digest.of_kind(DigestKind::Decision).map(|item| item.seq).collect();
    assert!(decisions.len() > 5 && decisions.is_sorted(), "{decisions:?}");
    assert!(top.digest.dropped[&DigestKind::Decision] > 100);
}

#[test]
fn every_level_keeps_all_kinds_within_its_budget() {
    let payloads = work(300);
    for at in 1..=3 {
        for node in level(&payloads, at) {
            for kind in [DigestKind::Decision, DigestKind::Changed, DigestKind::Command, DigestKind::Read] {
                assert!(node.digest.of_kind(kind).next().is_some(), "level {at}: no {kind:?} in {node:?}");
            }
            assert!(node.text(usize::MAX).len() < 6_000);
        }
    }
}

#[test]
fn of_several_plans_the_newest_holds_and_an_empty_one_ends_it() {
    let step = |items: &[(&str, PlanStatus)]| [prompt("go"), planned(items)];
    let open = |last: &[(&str, PlanStatus)]| {
        let steps = [step(&[("first", PlanStatus::Pending)]), step(&[("second", PlanStatus::InProgress)]), step(last)];
        let leaves = leaves(&steps.concat());
        let merged = Digest::merged(leaves.iter().map(|leaf| &leaf.digest), 1);
        merged.plan.unwrap().open.into_iter().map(|task| task.text).collect::<Vec<_>>()
    };
    assert_eq!(open(&[("third", PlanStatus::Pending), ("fourth", PlanStatus::Done)]), ["third"]);
    assert_eq!(open(&[]), [""; 0]);
}

#[test]
fn a_parent_says_which_steps_it_stands_for() {
    let payloads = work(40);
    for at in 0..=2_u32 {
        for (place, node) in level(&payloads, at).iter().enumerate() {
            let each = GROUP.pow(at);
            assert_eq!(node.steps(), (place as u64 * each, each));
            assert!(!node.open && node.words.is_none());
            assert!(node.first_at_ms <= node.last_at_ms);
        }
    }
}

#[test]
fn nothing_in_comes_to_nothing_out() {
    let empty = Digest::merged(&[Digest::default(), Digest::default()], 1);
    assert!(empty.is_empty() && empty.evidence().is_empty() && empty.changed_files().is_empty());
    assert_eq!(empty, Digest::default());
}

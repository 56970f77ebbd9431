//! Nodes in words.

use super::super::{GROUP, SummaryNode};
use super::made::*;
use expect_test::expect;
use retrace_events::Payload;
use retrace_events::payload::session::PlanStatus;
use retrace_events::payload::turn::TurnOutcome;
use serde_json::json;

/// Eight steps in which a bit of everything happens.
fn story() -> Vec<Payload> {
    vec![
        started(),
        prompt("make the\n  tests of the parser pass"),
        answer("Let me run the tests.", &["1", "2"]),
        bash("1", "cargo test"),
        finished("1", code(101), "exit code: 101\nerror[E0432]: unresolved import `crate::lexer`\nfailures: 3", &[]),
        called("2", "read_file", &json!({ "path": "src/lib.rs" })),
        finished("2", None, "…", &[]),
        answer("The root cause is that `lexer` was never declared. I'll declare it.", &["3"]),
        called("3", "edit_file", &json!({ "path": "src/lib.rs" })),
        finished("3", None, "…", &["src/lib.rs"]),
        planned(&[
            ("declare lexer", PlanStatus::Done),
            ("run the tests again", PlanStatus::InProgress),
            ("say why", PlanStatus::Pending),
        ]),
        answer("", &["4"]),
        bash("4", "cargo   test"),
        finished("4", code(0), "exit code: 0\ntest result: ok", &[]),
        answer("All 12 tests pass. The module was missing because a merge dropped the line.", &[]),
        ended(TurnOutcome::Completed),
        prompt("and document it"),
        answer("", &["5"]),
        called("5", "write_file", &json!({ "path": "README.md" })),
        finished("5", None, "…", &["README.md"]),
        answer("Documented.", &[]),
        ended(TurnOutcome::Completed),
    ]
}

fn parent() -> SummaryNode {
    let (nodes, _) = tree(&events(&story()));
    let parent = nodes.into_iter().find(|node| node.level == 1);
    parent.unwrap()
}

#[test]
fn a_node_of_eight_steps_reads_like_this() {
    assert_eq!(tree(&events(&story())).0.len() as u64, GROUP + 1);
    expect![[r#"
        steps 0–7, events #0–#21, 2026-01-01 00:00Z to 2026-01-01 05:50Z
        the user's words
        - make the tests of the parser pass (#1)
        - and document it (#16)
        decisions and conclusions
        - Let me run the tests. (#2)
        - The root cause is that `lexer` was never declared. (#7)
        - All 12 tests pass. (#14)
        - The module was missing because a merge dropped the line. (#14)
        - Documented. (#20)
        errors
        - `cargo test`: error[E0432]: unresolved import `crate::lexer` / failures: 3 (#4)
        files changed
        - src/lib.rs (#8)
        - README.md (#18)
        commands and calls
        - cargo test (#12, exit 0, ×2, 1 failed)
        files read and searches
        - src/lib.rs (#5)
        open tasks (#10, 1 done)
        - [~] run the tests again
        - [ ] say why"#]]
    .assert_eq(&parent().text(10_000));
}

#[test]
fn in_a_small_room_the_most_important_stays() {
    let text = parent().text(420);
    assert!(text.chars().count() <= 420, "{text}");
    expect![[r#"
        steps 0–7, events #0–#21, 2026-01-01 00:00Z to 2026-01-01 05:50Z
        the user's words
        - make the tests of the parser pass (#1)
        - and document it (#16)
        decisions and conclusions
        - All 12 tests pass. (#14)
        - The module was missing because a merge dropped the line. (#14)
        - Documented. (#20)
        open tasks (#10, 1 done)
        - [~] run the tests again
        - [ ] say why
        left out: decisions 2, errors 1, changes 2, commands 2, reads 1"#]]
    .assert_eq(&text);
}

#[test]
fn a_step_reads_like_this() {
    let leaves = leaves(&story());
    expect![[r#"
        step 1, events #2–#6, 2026-01-01 00:33Z to 2026-01-01 01:40Z
        decisions and conclusions
        - Let me run the tests. (#2)
        errors
        - `cargo test`: error[E0432]: unresolved import `crate::lexer` / failures: 3 (#4)
        commands and calls
        - cargo test (#3, exit 101)
        files read and searches
        - src/lib.rs (#5)"#]]
    .assert_eq(&leaves[1].text(2_000));
}

#[test]
fn as_json_it_is_plain_to_read() {
    let leaf = &leaves(&story())[1];
    let json = serde_json::to_string_pretty(&leaf.digest).unwrap();
    expect![[r#"
        {
          "items": [
            {
              "kind": "decision",
              "seq": 2,
              "event": "019b76da-a805-7835-88d4-6053ffdba973",
              "first_seq": 2,
              "text": "Let me run the tests.",
              "count": 1
            },
            {
              "kind": "error",
              "seq": 4,
              "event": "019b76da-a809-7dd9-a158-fc2a34bb2375",
              "first_seq": 4,
              "text": "`cargo test`: error[E0432]: unresolved import `crate::lexer` / failures: 3",
              "count": 1
            },
            {
              "kind": "command",
              "seq": 3,
              "event": "019b76da-a807-7cfa-8d35-befe087533c1",
              "first_seq": 3,
              "text": "cargo test",
              "end": "exit 101",
              "count": 1,
              "failed": 1,
              "weight": 2
            },
            {
              "kind": "read",
              "seq": 5,
              "event": "019b76da-a80b-70a4-81c7-ee858eb9bfd9",
              "first_seq": 5,
              "text": "src/lib.rs",
              "count": 1,
              "weight": 1
            }
          ]
        }"#]]
    .assert_eq(&json);
}

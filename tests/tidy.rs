//! The rules of this tree, as tests: what may stand where, who may depend on whom, and what no file may hold.
//!
//! A rule is a function from a [`Tree`] (paths and texts) to [`Finding`]s. Each is run twice: on the tree itself, where
//! it must find nothing, and on a small bad example, where it must find what is wrong with it, so that a rule that
//! has stopped working is seen. Nothing is compiled or run here; what clippy and the compiler see is theirs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "tidy/compose.rs"]
mod compose;
#[path = "tidy/layout.rs"]
mod layout;
#[path = "tidy/manual.rs"]
mod manual;
#[path = "tidy/mask.rs"]
mod mask;
#[path = "tidy/sources.rs"]
mod sources;
#[path = "tidy/texts.rs"]
mod texts;
#[path = "tidy/tree.rs"]
mod tree;

use tree::{Finding, Tree};

/// Runs `rule` on the tree itself.
#[track_caller]
fn keeps(rule: fn(&Tree) -> Vec<Finding>) {
    let found = rule(Tree::of_this_repository());
    assert!(found.is_empty(), "{} broken:\n{}", if found.len() == 1 { "a rule is" } else { "rules are" }, list(&found));
}

/// Runs `rule` on an example and compares what it finds.
#[track_caller]
#[allow(clippy::needless_pass_by_value, reason = "expect![] makes a value")]
fn finds(rule: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)], expected: expect_test::Expect) {
    expected.assert_eq(&list(&rule(&Tree::of(files))));
}

fn list(found: &[Finding]) -> String {
    found.iter().map(|finding| format!("{finding}\n")).collect()
}

//! Arms on small sessions, by hand and by what holds for all of them.

use super::super::arms::{Arm, Ask, all_arms, baseline};
use super::super::{BenchSession, Body, Composed, ItemKind};
use super::{call, item, result, session, small, user};
use proptest::prelude::*;
use serde_json::json;

fn arm(name: &str) -> Box<dyn Arm> {
    all_arms().into_iter().find(|arm| arm.name() == name).unwrap()
}

/// What the arm composes before `at`, as texts with their tokens.
fn composed(name: &str, session: &BenchSession, at: usize, budget_tokens: u64) -> Vec<(String, u64)> {
    let arm = arm(name);
    let mut composer = arm.open(session);
    texts(session, &composer.compose(Ask { at, budget_tokens, sends: true }))
}

fn texts(session: &BenchSession, composed: &Composed<'_>) -> Vec<(String, u64)> {
    let text = |body: &Body<'_>| match body {
        Body::Item(at) => session.items[*at].text.clone(),
        Body::Text(text) => text.clone().into_owned(),
    };
    composed.pieces.iter().map(|piece| (text(&piece.body), piece.tokens)).collect()
}

fn own(pieces: &[(&str, u64)]) -> Vec<(String, u64)> {
    pieces.iter().map(|(text, tokens)| ((*text).to_owned(), *tokens)).collect()
}

#[test]
fn names_are_unique_and_the_baseline_is_among_them() {
    let names: Vec<&str> = all_arms().iter().map(|arm| arm.name()).collect();
    assert_eq!(names, ["all", "tail", "mask", "summary", "bm25", "workset", "ours", "epochs", "bag"]);
    assert!(names.contains(&baseline().name()));
    assert!(all_arms().iter().all(|arm| !arm.about().is_empty()));
}

#[test]
fn all_is_everything_whatever_it_costs() {
    let played = session(vec![user("one"), user("two"), user("three")]);
    assert_eq!(composed("all", &played, 2, 1), own(&[("one", 1), ("two", 1)]));
}

#[test]
fn the_tail_is_cut_at_its_oldest_end() {
    let played = session(vec![user("never seen"), user("abcdefghijkl"), user("12345678"), user("not yet")]);
    // 3 tokens for the newest, and of the one before it 2 tokens' worth of its end.
    assert_eq!(composed("tail", &played, 3, 5), own(&[("efghijkl", 3), ("12345678", 3)]));
    // No room at all for another.
    assert_eq!(composed("tail", &played, 3, 3), own(&[("12345678", 3)]));
    assert_eq!(composed("tail", &played, 3, 100).len(), 3);
    assert_eq!(composed("tail", &played, 0, 100), []);
}

#[test]
fn masking_leaves_out_old_outputs_and_keeps_what_was_said() {
    let mut items = vec![user("the task")];
    items.extend((0..12).map(|n| result("Bash", "", &format!("output number {n}"))));
    let played = session(items);
    let pieces = composed("mask", &played, 13, 1_000);
    assert_eq!(pieces.len(), 13);
    assert_eq!(pieces[0].0, "the task");
    assert!(pieces[1..3].iter().all(|(text, tokens)| text == "(output left out)" && *tokens == 5), "{pieces:?}");
    assert_eq!(pieces[3].0, "output number 2");
    // Whole items only: the first that does not fit ends it.
    assert_eq!(composed("mask", &played, 13, 9), own(&[("output number 10", 5), ("output number 11", 5)])[1..]);
}

#[test]
fn keywords_bring_back_what_the_tail_has_lost() {
    let filler = |n: usize| result("Bash", "", &format!("nothing of note {n} ").repeat(20));
    let mut items = vec![result("Read", "a.rs", "fn zebra_cage() {}")];
    items.extend((0..20).map(filler));
    items.push(user("where is zebra_cage defined?"));
    let at = items.len();
    let played = session(items);
    let pieces = composed("bm25", &played, at, 400);
    assert_eq!(pieces[0], ("fn zebra_cage() {}".to_owned(), 5));
    let words: Vec<_> = composed("tail", &played, at, 400).into_iter().map(|(text, _)| text).collect();
    assert!(!words.iter().any(|text| text.contains("fn zebra")), "{words:?}");
}

#[test]
fn a_long_item_is_shown_by_the_piece_that_fits_best() {
    let long = format!("{}\nfn zebra_cage() {{ lion_den }}\n{}", "x y z ".repeat(600), "u v w ".repeat(600));
    let mut items = vec![result("Read", "a.rs", &long)];
    items.extend((0..20).map(|n| user(&format!("nothing of note {n} ").repeat(30))));
    items.push(user("zebra_cage lion_den"));
    let played = session(items);
    let pieces = composed("bm25", &played, 22, 2_000);
    let (text, tokens) = &pieces[0];
    assert!(text.contains("fn zebra_cage") && text.chars().count() <= 1_600 && *tokens == 400, "{pieces:?}");
}

#[test]
fn the_working_set_has_commands_paths_and_windows_once() {
    let file: String = (0..40).map(|n| format!("let value_{n} = compute_{n}(input);\n")).collect();
    let mut items = vec![
        result("Read", "src/one.rs", &file),
        result("Read", "src/one.rs", &file),
        call("Bash", "", &json!({ "command": "cargo test one" })),
        call("Bash", "", &json!({ "command": "cargo test one" })),
        call("Bash", "", &json!({ "command": "cargo build" })),
    ];
    items.extend((0..60).map(|n| item(ItemKind::Meta, &format!("note {n} of a long talk ").repeat(8))));
    items.push(item(ItemKind::Assistant, "Now compute_17 in one.rs."));
    let at = items.len();
    let pieces = composed("workset", &session(items), at, 1_000);
    assert_eq!(pieces[0].0, "cargo build\ncargo test one");
    assert_eq!(pieces[1].0, "src/one.rs");
    assert!(pieces[2].0.starts_with("src/one.rs\n") && pieces[2].0.contains("compute_17("), "{pieces:?}");
    let windows: Vec<&str> =
        pieces.iter().map(|(text, _)| text.as_str()).filter(|text| text.starts_with("src/one.rs\n")).collect();
    // The file was read twice, and its 40 lines are shown once; each window repeats one line of the next.
    let shown: usize = windows.iter().map(|text| text.matches(" = compute_").count()).sum();
    assert!((30..=44).contains(&shown), "{shown}: {windows:?}");
}

#[test]
fn the_bag_holds_each_line_once_and_no_two_in_one_piece() {
    let text = "a line of text number one\na line of text number two\nshort\na line of text number one";
    let played = session(vec![user(text), user("a line of text number two\na line of text number six")]);
    let pieces = composed("bag", &played, 2, 100);
    let lines: Vec<&str> = pieces.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(lines, ["a line of text number six", "a line of text number two", "a line of text number one"]);
    assert_eq!(composed("bag", &played, 2, 13).len(), 2);
}

#[test]
fn the_summary_says_what_was_asked_and_done() {
    let mut items = vec![user("make the parser faster than ever before")];
    for n in 0..30 {
        items.push(item(ItemKind::Assistant, &format!("Part {n} is next.")));
        items.push(call("Bash", "", &json!({ "command": format!("cargo bench part{n}") })));
        items.push(result("Bash", "", "ok"));
    }
    let at = items.len();
    let played = session(items);
    let text = |budget| composed("summary", &played, at, budget).into_iter().map(|(text, _)| text).collect::<String>();
    assert!(text(8_000).contains("make the parser faster"), "{}", text(8_000));
    // With less room what is newest stays.
    assert!(text(300).contains("part29") && !text(300).contains("make the parser"), "{}", text(300));
    assert_eq!(text(10), "");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// No arm but `all` goes over its budget by more than the rounding of one cut, none looks ahead, and what a composer has
    /// composed before does not change what it composes next.
    #[test]
    fn every_arm_keeps_its_budget_and_looks_at_nothing_ahead(at in 1_usize..160, budget_tokens in 1_u64..5_000, other in 1_usize..160) {
        let whole = small();
        let cut = BenchSession { items: whole.items[..at].to_vec(), ..whole.clone() };
        for arm in all_arms() {
            let ask = Ask { at, budget_tokens, sends: false };
            let mut composer = arm.open(&whole);
            let (early, late) = (other.min(at), budget_tokens / 2 + 1);
            drop(composer.compose(Ask { at: early, budget_tokens: late, sends: true }));
            let composed = composer.compose(ask);
            // Lists of commands and paths cost a token even where they are empty, and are not part of the tail's share.
            let slack = match arm.name() { "all" => u64::MAX, "workset" => 502, "mask" => 5 * at as u64, _ => 1 };
            prop_assert!(composed.tokens() <= budget_tokens.saturating_add(slack), "{}: {}", arm.name(), composed.tokens());
            let alone = texts(&cut, &arm.open(&cut).compose(ask));
            prop_assert_eq!(texts(&whole, &composed), alone, "{}", arm.name());
        }
    }
}

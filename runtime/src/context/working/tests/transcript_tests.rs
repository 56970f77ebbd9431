//! The newest steps in few words.

use super::super::excerpt::{Excerpt, cut};
use super::super::happening::{Happening, Speaker};
use super::super::working_set::WorkingSet;
use super::{say, work};
use expect_test::expect;
use proptest::prelude::*;
use serde_json::json;

fn set() -> WorkingSet {
    let mut set = WorkingSet::default();
    set.take(&Happening::Said { by: Speaker::User, text: "make it faster" });
    set.take(&Happening::Said { by: Speaker::Program, text: "not shown" });
    say(&mut set, "First I look.");
    work(&mut set, "read_file", &json!({ "path": "src/a.rs", "offset": 5 }), "     5\tsecret of the file\n");
    work(&mut set, "bash", &json!({ "command": "cargo test" }), "exit code: 1\nit failed");
    work(&mut set, "todo", &json!({ "items": [{ "text": "old plan", "status": "pending" }] }), "1 item");
    work(
        &mut set,
        "edit_file",
        &json!({ "path": "src/a.rs", "old_string": "x", "new_string": "y" }),
        "edited src/a.rs",
    );
    work(&mut set, "edit_file", &json!({ "path": "src/a.rs", "old_string": "q", "new_string": "z" }), "q is not there");
    work(&mut set, "search_files", &json!({ "pattern": "fn x", "glob": "*.rs" }), "src/a.rs:3:fn x()");
    work(&mut set, "todo", &json!({ "items": [{ "text": "new plan", "status": "pending" }] }), "1 item");
    work(&mut set, "bash", &json!({ "command": "cargo test" }), "exit code: 0\nok");
    set
}

#[test]
fn steps_are_told_in_order_and_files_are_not_repeated() {
    expect![[r#"
        [0] user: make it faster
        [2] First I look.
        [3] read src/a.rs 5
        [6] -> exit code: 1
        it failed
        [9] edit src/a.rs
        x
        =>
        y
        [11] edit src/a.rs
        q
        =>
        z
        [12] -> q is not there
        [13] search fn x *.rs
        [14] -> src/a.rs:3:fn x()
        [15] todo: new plan
        pending
        [17] $ cargo test
        [18] -> exit code: 0
        ok"#]]
    .assert_eq(&set().transcript.text(10_000));
}

#[test]
fn the_newest_stay_when_there_is_little_room() {
    let text = set().transcript.text(60);
    assert_eq!(text, "[17] $ cargo test\n[18] -> exit code: 0\nok");
    assert_eq!(set().transcript.text(0), "");
}

#[test]
fn older_messages_are_told_in_fewer_words() {
    let mut set = WorkingSet::default();
    for n in 0..10 {
        say(&mut set, &format!("{n} {}", "some words ".repeat(300)));
    }
    let text = set.transcript.text(100_000).replace("[..]", "..");
    let sizes: Vec<usize> = text.split("\n[").filter(|step| step.contains("] ")).map(str::len).collect();
    assert!(sizes[2..].is_sorted() && sizes.len() == 6, "{sizes:?}");
    assert!(sizes[0] < 300 && sizes[5] > 1_900, "{sizes:?}");
}

#[test]
fn a_cut_is_made_at_ends_of_lines() {
    let text: String = (0..100).map(|n| format!("line number {n}\n")).collect();
    expect![[r#"
        line number 0
        line number 1
        line number 2
        [..]
        line number 98
        line number 99
    "#]]
    .assert_eq(&cut(&text, 23, 0.5).replace("line number 97\n", ""));
    assert_eq!(cut("short", 1, 0.5), "short");
}

proptest! {
    #[test]
    fn an_excerpt_is_cut_like_the_text(text in "([a-zé ]{0,30}\n){0,400}", tokens in 0..600_usize, head in 0.0..1.0_f64) {
        let cut_text = cut(&text, tokens, head);
        prop_assert!(cut_text.len() <= (tokens * 4 + 40).max(tokens * 4 + 6));
        if head > 0.2 && head < 0.8 {
            prop_assert_eq!(Excerpt::of(&text).cut(tokens, head), cut_text);
        }
    }

    #[test]
    fn a_transcript_has_its_room(bytes in 0..3_000_usize) {
        prop_assert!(set().transcript.text(bytes).len() <= bytes);
    }
}

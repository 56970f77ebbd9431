//! Results as outcomes.

use super::super::happening::{Hit, Outcome, View};
use super::super::results::{numbered, outcome};
use super::made;
use proptest::prelude::*;
use serde_json::json;

fn view<'a>(first: u32, lines: &[&'a str]) -> View<'a> {
    View { first, lines: lines.to_vec() }
}

#[test]
fn numbered_lines_are_found_in_both_forms() {
    let text = "     1\tuse a;\n     2\t\n     3\t\tx\n[lines 1 to 3 of 9; to go on: offset 4]";
    assert_eq!(numbered(text), [view(1, &["use a;", "", "\tx"])]);
    let text = "The file has been updated. Here's a snippet:\n    7→func x() {\r\n    8→}\n  12→end\nno number\n99999999999→x\n0→x";
    assert_eq!(numbered(text), [view(7, &["func x() {", "}"]), view(12, &["end"])]);
}

#[test]
fn a_file_is_whole_when_all_was_asked_for_and_shown() {
    let whole = |input, text| match outcome(&made("read_file", &input), text, Some(false), None) {
        Outcome::Shown { whole, .. } => whole,
        other => panic!("{other:?}"),
    };
    assert!(whole(json!({ "path": "a" }), "     1\tx\n[1 line]"));
    assert!(whole(json!({ "path": "a" }), "     1\t[lines go on]\n"));
    assert!(!whole(json!({ "path": "a" }), "     1\tx\n[lines 1 to 1 of 30; to go on: offset 2]"));
    assert!(!whole(json!({ "path": "a", "offset": 2 }), "     2\tx\n[lines 2 to 2 of 2]"));
    assert!(!whole(json!({ "path": "a", "limit": 1 }), "     1\tx\n[1 line]"));
    assert_eq!(outcome(&made("Read", &json!({ "file_path": "a" })), "     1\tx", Some(true), None), Outcome::Failed);
}

#[test]
fn whether_an_edit_was_made_is_said_or_seen() {
    let edit = made("Edit", &json!({ "file_path": "a", "old_string": "x", "new_string": "y" }));
    let is_done = |text, failed| matches!(outcome(&edit, text, failed, None), Outcome::Changed { .. });
    assert!(is_done("The file /a has been updated. Here's", None));
    assert!(is_done("Applied 2 edits to /a:", None));
    assert!(is_done("edited src/a.rs\n--- a", None));
    assert!(!is_done("<tool_use_error>String to replace not found in file.</tool_use_error>", None));
    assert!(!is_done("The user doesn't want to proceed", None));
    assert!(!is_done("The file has been updated", Some(true)));
    assert!(is_done("whatever", Some(false)));
    let write = made("Write", &json!({ "file_path": "a", "content": "x" }));
    let is_done = |text| matches!(outcome(&write, text, None, None), Outcome::Changed { .. });
    assert!(is_done("File created successfully at: /a"));
    assert!(!is_done("The user doesn't want to proceed with this tool use."));
    assert!(!is_done("<tool_use_error>File has not been read yet.</tool_use_error>"));
}

#[test]
fn hits_have_paths_and_numbers() {
    let search = made("Grep", &json!({ "pattern": "x", "path": "/work/here/src/a.rs" }));
    let text = "src/a-b.rs:12:let x: i32 = 3;\nsrc/a-b.rs-13-y\n--\n7:\tx\n8-\nFound 3 files\n./c/d.test.ts:1:z";
    let Outcome::Hits(hits) = outcome(&search, text, None, None) else { panic!() };
    let hit = |path, number, text| Hit { path, number, text };
    assert_eq!(
        hits,
        [
            hit("src/a-b.rs", 12, "let x: i32 = 3;"),
            hit("src/a-b.rs", 13, "y"),
            hit("", 7, "\tx"),
            hit("", 8, ""),
            hit("./c/d.test.ts", 1, "z")
        ]
    );
}

#[test]
fn how_a_command_ended_is_said_or_seen() {
    let run = made("Bash", &json!({ "command": "false" }));
    let ending = |text, ending: Option<&str>| match outcome(&run, text, None, ending.map(str::to_owned)) {
        Outcome::Printed { ending } => ending,
        other => panic!("{other:?}"),
    };
    assert_eq!(ending("Exit code 2\nmake: failed", None).as_deref(), Some("exit 2"));
    assert_eq!(ending("exit code: 0\nok", None).as_deref(), Some("exit 0"));
    assert_eq!(ending("exit code: 0", Some("timed out")).as_deref(), Some("timed out"));
    assert_eq!(ending("all is well\nexit code: 3", None), None);
    assert_eq!(ending("Exit code zero", None), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The lines that a diff shows are the file's own, as it is now.
    #[test]
    fn a_diff_shows_lines_as_they_are_now(old in "([abc]{0,2}\n){0,30}", new in "([abc]{0,2}\n){1,30}") {
        let diff = similar::TextDiff::from_lines(&old, &new).unified_diff().context_radius(3).header("a", "a").to_string();
        let edit = made("edit_file", &json!({ "path": "a", "old_string": "x", "new_string": "y" }));
        let text = format!("edited a\n{diff}");
        let Outcome::Changed { views } = outcome(&edit, &text, Some(false), None) else { panic!() };
        let lines: Vec<&str> = new.split('\n').collect();
        for view in &views {
            for (place, line) in view.lines.iter().enumerate() {
                prop_assert_eq!(lines.get(view.first as usize - 1 + place), Some(line), "{}", text);
            }
        }
        let added = diff.lines().filter(|line| line.starts_with('+') && !line.starts_with("+++")).count();
        prop_assert!(views.iter().map(|view| view.lines.len()).sum::<usize>() >= added);
    }

    #[test]
    fn no_text_is_too_strange(text in "(?s).{0,200}", tool in 0..6_usize) {
        let tool = ["Read", "Edit", "Write", "Grep", "Bash", "todo"][tool];
        let input = json!({ "file_path": "a", "old_string": "x", "new_string": "y", "content": "z", "pattern": "p", "command": "c" });
        let _ = outcome(&made(tool, &input), &text, None, None);
    }
}

#[test]
fn a_diff_with_a_hole_shows_only_what_is_sure() {
    let edit = made("edit_file", &json!({ "path": "a", "old_string": "x", "new_string": "y" }));
    let text = "edited a\n--- a\n+++ a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n[12 lines of the diff left out]\n three\n@@ -40 +40,2 @@\n+x\n y\n\\ No newline at end of file";
    let Outcome::Changed { views } = outcome(&edit, text, Some(false), None) else { panic!() };
    assert_eq!(views, [view(1, &["one", "2"]), view(40, &["x", "y"])]);
}

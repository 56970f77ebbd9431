//! Sizes that nobody in good faith would send.

use super::super::happening::{Happening, Speaker};
use super::super::working_set::WorkingSet;
use super::{Session, read, say, work};
use proptest::prelude::*;
use serde_json::json;

#[test]
fn a_file_of_many_lines() {
    let mut set = WorkingSet::with_names();
    let lines: Vec<String> = (0..100_000).map(|n| format!("line {n}")).collect();
    read(&mut set, "big.rs", &lines);
    work(&mut set, "write_file", &json!({ "path": "big2.rs", "content": lines.join("\n") }), "created big2.rs");
    assert!(set.files.iter().all(|(_, file)| file.lines().len() <= 20_000));
    assert!(set.passages(4_000, u64::MAX).iter().all(|passage| passage.text.len() <= 16_000));
    assert!(!set.composed(4_000).is_empty());
}

#[test]
fn a_line_of_ten_megabytes() {
    let mut set = WorkingSet::with_names();
    let line = "x_y ".repeat(2_500_000);
    say(&mut set, &line);
    read(&mut set, "a.min.js", std::slice::from_ref(&line));
    work(&mut set, "bash", &json!({ "command": line }), &line);
    work(&mut set, "search_files", &json!({ "pattern": "x" }), &format!("a.min.js:1:{line}"));
    let edit = json!({ "path": "a.min.js", "old_string": "x_y x_y", "new_string": line, "replace_all": true });
    work(&mut set, "edit_file", &edit, "edited a.min.js");
    assert!(set.files.bytes() < 100_000, "{}", set.files.bytes());
    assert!(set.passages(2_000, u64::MAX).iter().map(|passage| passage.text.len()).sum::<usize>() <= 8_000);
    assert!(set.composed(2_000).iter().map(String::len).sum::<usize>() <= 8_000);
}

#[test]
fn a_hundred_thousand_tiny_edits() {
    let mut set = WorkingSet::default();
    let lines: Vec<String> = (0..50).map(|n| format!("value {n} is 0;")).collect();
    read(&mut set, "a.rs", &lines);
    for n in 0..100_000_u32 {
        let (old, new) = (format!("value {} is {};", n % 50, n / 50), format!("value {} is {};", n % 50, n / 50 + 1));
        let action = super::made("edit_file", &json!({ "path": "a.rs", "old_string": old, "new_string": new }));
        set.take(&Happening::Called { action: &action, text: &old });
        let outcome = super::super::results::outcome(&action, "edited a.rs", Some(false), None);
        set.take(&Happening::Came { action: &action, outcome, text: "edited a.rs" });
    }
    let (_, file) = set.files.iter().next().unwrap();
    assert_eq!((file.lines().len(), file.writes), (50, 100_000));
    assert_eq!(file.lines()[49].text.text(), "value 49 is 2000;");
}

#[test]
fn every_letter_of_a_large_file_is_replaced() {
    let mut set = WorkingSet::default();
    let lines: Vec<String> = (0..20_000).map(|n| format!("a{n}a")).collect();
    read(&mut set, "a.rs", &lines);
    let edit = json!({ "path": "a.rs", "old_string": "a", "new_string": "\n", "replace_all": true });
    work(&mut set, "edit_file", &edit, "edited a.rs in 40000 places");
    let (_, file) = set.files.iter().next().unwrap();
    assert_eq!(file.lines().len(), 20_000);
    assert_eq!(file.lines()[1].text.text(), "0");
}

#[test]
fn a_session_without_end_takes_no_more_memory() {
    let mut session = Session::new();
    let text: String = (0..40).map(|n| format!("     {n}\tsome line of a file {n}\n")).collect();
    for n in 0..1_500 {
        session.step(
            &format!("step {n} of many"),
            "read_file",
            &json!({ "path": format!("src/f{n}.rs") }),
            &text,
            None,
        );
        session.step(
            "and a command",
            "bash",
            &json!({ "command": format!("make {n}") }),
            &"out put\n".repeat(40),
            Some(0),
        );
    }
    let set = session.set();
    assert_eq!(
        (set.files.iter().count(), set.outputs.iter().count(), set.commands.newest().count()),
        (500, 3_000, 300)
    );
    assert!(set.files.bytes() < 12 * 1024 * 1024);
    // Calls whose results never come are forgotten, too.
    let mut session = Session::new();
    for n in 0..1_000 {
        let input = json!({ "path": "a.rs", "content": "x".repeat(20_000) });
        session.answer(&json!([{ "type": "tool_use", "id": format!("c{n}"), "name": "write_file", "input": input }]));
    }
    let set = session.set();
    assert!(format!("{:?}", set.calls).len() < 8 * 1024 * 1024);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn nothing_that_is_said_or_shown_does_harm(
        texts in proptest::collection::vec(("(?s).{0,120}", 0..6_usize, 0..4_u32), 0..12),
        room in 0..600_u64,
    ) {
        let mut set = WorkingSet::with_names();
        for (text, tool, lines) in &texts {
            let numbered = format!("{}\t{text}\n{}\u{2192}{text}", u32::MAX - lines, lines);
            let tool = ["read_file", "edit_file", "write_file", "search_files", "bash", "todo"][*tool];
            let input = json!({ "path": text, "old_string": text, "new_string": "y\n", "content": text, "pattern": text, "command": text });
            work(&mut set, tool, &input, text);
            work(&mut set, tool, &json!({ "path": "a.rs", "old_string": "y", "new_string": text, "content": text, "pattern": "p", "command": "c" }), &numbered);
            set.take(&Happening::Said { by: Speaker::User, text });
            let passages = set.passages(room, u64::MAX);
            prop_assert!(passages.iter().map(|passage| u64::from(passage.tokens) + 40).sum::<u64>() <= room);
            prop_assert!(set.composed(room).iter().map(|part| part.len() as u64 / 4 + 1).sum::<u64>() <= room);
        }
    }
}

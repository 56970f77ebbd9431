//! Events as what happened, and that recordings of the same work are the same.

use super::super::working_set::WorkingSet;
use super::{Session, lines_of, shown};
use crate::bench::{Ask, BenchSession, Body, LoggedSession, all_arms};
use retrace_events::CallId;
use retrace_events::payload::context::ContextCompacted;
use retrace_events::payload::tool::ToolDenied;
use retrace_events::payload::turn::TurnWarned;
use serde_json::{Value, json};

fn session() -> Session {
    let mut session = Session::new();
    let lines = lines_of("alpha", 30);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    session.prompt("make alpha faster, please");
    session.step(
        "I read it.",
        "read_file",
        &json!({ "path": "./src/alpha.rs" }),
        &format!("{}[30 lines]", shown(1, &lines)),
        None,
    );
    let edit = json!({ "path": "src/alpha.rs", "old_string": "alpha_3 =", "new_string": "alpha_three:\n u8 =" });
    session.step("I edit it.", "edit_file", &edit, "edited src/alpha.rs\n@@ -3 +3,2 @@\n-let alpha_3 = compute_alpha(3);\n+let alpha_three:\n+ u8 = compute_alpha(3);", None);
    session.step("I fail.", "edit_file", &edit, "old_string is not in src/alpha.rs", Some(1));
    session.step(
        "I search.",
        "search_files",
        &json!({ "pattern": "beta" }),
        "src/beta.rs:7:fn beta() {}\n[1 matching line]",
        None,
    );
    session.step(
        "I test.",
        "bash",
        &json!({ "command": "cargo test" }),
        "exit code: 101\nerror at src/beta.rs:7:1",
        Some(101),
    );
    session.step("I plan.", "todo", &json!({ "items": [{ "text": "fix beta_one", "status": "pending" }] }), "ok", None);
    session.add(&TurnWarned { rule: "r".to_owned(), note: "You go round in circles.".to_owned() }.into());
    session.answer(&json!([{ "type": "tool_use", "id": "no", "name": "bash", "input": { "command": "rm -rf /" } }]));
    session.add(
        &ToolDenied { call: CallId("no".to_owned()), by: "me".to_owned(), content: "not allowed".to_owned() }.into(),
    );
    session.add(&ContextCompacted { summary: "It was about alpha.".to_owned(), by: "x".to_owned() }.into());
    session.prompt("go on with beta.rs");
    session
}

const BUDGETS: [u64; 3] = [100, 400, 4_000];

fn composed(set: &WorkingSet) -> Vec<String> {
    BUDGETS.into_iter().flat_map(|budget| set.composed(budget)).collect()
}

#[test]
fn a_recording_of_the_same_work_is_the_same() {
    let session = session();
    let mut logged = LoggedSession::default();
    session.events.iter().for_each(|event| logged.apply(event));
    let recorded: BenchSession = logged.finish("s");
    let arm = all_arms().into_iter().find(|arm| arm.name() == "ours").unwrap();
    let mut composer = arm.open(&recorded);
    let mut composed_of = |budget_tokens| -> Vec<String> {
        let composed = composer.compose(Ask { at: recorded.items.len(), budget_tokens, sends: true });
        let text = |body: &Body<'_>| match body {
            Body::Text(text) => text.clone().into_owned(),
            Body::Item(at) => panic!("item {at}"),
        };
        composed.pieces.iter().map(|piece| text(&piece.body)).collect()
    };
    let theirs: Vec<String> = BUDGETS.into_iter().flat_map(&mut composed_of).collect();
    assert_eq!(theirs, composed(&session.set()));
    assert!(theirs.concat().contains("alpha_three:"));
}

#[test]
fn the_same_work_with_other_tools_shows_the_same_files() {
    let steps = |tools: [&str; 4], field: &str, arrow: &str| {
        let mut session = Session::new();
        let with = |fields: Value| {
            let mut input = json!({ field: "/work/here/src/a.rs" });
            input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            input
        };
        let text = format!("     1{arrow}one\n     2{arrow}two\n     3{arrow}three\n");
        session.step("a", tools[0], &with(json!({})), &text, None);
        session.step("b", tools[1], &with(json!({ "old_string": "two\n", "new_string": "2\n2.5\n" })), "edited", None);
        session.step("c", tools[2], &json!({ "pattern": "x" }), "src/b.rs:3:x\nsrc/b.rs-4-y", None);
        session.step("d", tools[3], &json!({ "command": "make" }), "made it", Some(0));
        session.set().passages(2_000, u64::MAX)
    };
    let ours = steps(["read_file", "edit_file", "search_files", "bash"], "path", "\t");
    let theirs = steps(["Read", "Edit", "Grep", "Bash"], "file_path", "\u{2192}");
    assert!(ours.iter().any(|passage| passage.text == "1\tone\n2\t2\n3\t2.5\n4\tthree\n"), "{ours:#?}");
    assert_eq!(ours, theirs);
}

#[test]
fn a_session_in_pieces_is_the_same_session() {
    let session = session();
    let whole = session.set();
    // Somebody asks in between: that must change nothing.
    let mut asked = WorkingSet::with_names();
    for event in &session.events {
        asked.apply(event);
        let _ = asked.passages(500, event.envelope.seq);
        let _ = asked.composed(500);
    }
    assert_eq!(composed(&asked), composed(&whole));
    for kept in 0..session.events.len() as u64 + 2 {
        assert_eq!(asked.passages(1_000, kept), whole.passages(1_000, kept));
    }
}

#[test]
fn a_call_counts_once_and_a_result_without_a_call_is_an_output() {
    let mut session = Session::new();
    session.step("x", "bash", &json!({ "command": "ls" }), "a\nb", Some(0));
    let set = session.set();
    // Thinking, words, call, result.
    assert_eq!((set.count, set.commands.newest().count()), (4, 1));
    session.finish(CallId("never called".to_owned()), "out of the blue it came", false, None);
    let set = session.set();
    assert_eq!(set.count, 5);
    assert!(set.composed(200).concat().contains("out of the blue"));
}

#[test]
fn a_failed_command_is_told_with_its_ending() {
    let session = session();
    let endings: Vec<_> = session.set().commands.newest().map(|c| (c.text.clone(), c.ending.clone())).collect();
    let expected = [("rm -rf /".to_owned(), None), ("cargo test".to_owned(), Some("exit 101".to_owned()))];
    assert_eq!(endings, expected);
}

#[test]
fn answers_and_inputs_that_are_no_json_do_no_harm() {
    let mut session = Session::new();
    session.answer(&json!("no list"));
    session.answer(&json!([{ "type": "tool_use" }, { "type": "text" }, { "type": "new", "x": 1 }]));
    session.answer(&json!([{ "type": "tool_use", "id": "1", "name": "read_file", "input": "no object" }]));
    session.finish(CallId("1".to_owned()), "     1\tx", false, None);
    let set = session.set();
    assert_eq!(set.files.iter().count(), 0);
    assert!(set.count >= 3);
}

//! Calls of this and of other agents: what each is about, by the names of its inputs, and what of it is remembered.

use super::super::{DigestItem, DigestKind};
use super::made::{answer, called, code, failed, finished, leaves, started};
use serde_json::{Value, json};

/// What is remembered of a call of `tool` that went well: kind, text, weight.
fn remembered(tool: &str, input: &Value) -> Option<(DigestKind, String, u8)> {
    let leaves = leaves(&[started(), answer("", &["1"]), called("1", tool, input), finished("1", None, "", &[])]);
    let items = &leaves[0].digest.items;
    assert!(items.len() <= 1, "{items:?}");
    items.first().map(|DigestItem { kind, text, weight, .. }| (*kind, text.clone(), *weight))
}

#[test]
fn tools_are_known_by_what_they_are_given() {
    let about = |tool: &str, input: Value| remembered(tool, &input).map(|(kind, text, _)| (kind, text));
    let is = |kind, text: &str| Some((kind, text.to_owned()));
    // Our own.
    assert_eq!(about("bash", json!({ "command": "make" })), is(DigestKind::Command, "make"));
    assert_eq!(about("read_file", json!({ "path": "a.rs", "offset": 3 })), is(DigestKind::Read, "a.rs"));
    assert_eq!(about("write_file", json!({ "path": "a.rs", "content": "x" })), is(DigestKind::Changed, "a.rs"));
    assert_eq!(about("edit_file", json!({ "path": "a.rs" })), is(DigestKind::Changed, "a.rs"));
    assert_eq!(about("list_dir", json!({ "path": "src" })), is(DigestKind::Read, "src"));
    assert_eq!(about("search_files", json!({ "pattern": "fn x" })), is(DigestKind::Read, "search `fn x`"));
    assert_eq!(about("recall", json!({ "query": "why tabs" })), is(DigestKind::Read, "search `why tabs`"));
    assert_eq!(about("todo", json!({ "items": [] })), None, "the plan is an event of its own");
    assert_eq!(about("kill", json!({ "call": "7" })), is(DigestKind::Command, "kill"));
    // Claude Code's, whose paths are absolute.
    let at = |name: &str| json!({ "file_path": format!("/home/ada/project/{name}") });
    assert_eq!(about("Read", at("src/a.rs")), is(DigestKind::Read, "src/a.rs"));
    assert_eq!(about("Edit", at("src/a.rs")), is(DigestKind::Changed, "src/a.rs"));
    assert_eq!(about("TodoWrite", json!({ "todos": [] })), None);
    assert_eq!(about("NotebookEdit", json!({ "notebook_path": "n.ipynb" })), is(DigestKind::Changed, "n.ipynb"));
    let search = json!({ "pattern": "x", "path": "/home/ada/project/src" });
    assert_eq!(about("Grep", search), is(DigestKind::Read, "search `x` in src"));
    assert_eq!(
        about("Task", json!({ "description": "look it up", "prompt": "…" })),
        is(DigestKind::Command, "Task look it up")
    );
    // What lies elsewhere keeps its whole path, also where it only begins alike.
    for path in ["/etc/hosts", "/home/ada/project-2/a.rs", "/home/ada/project"] {
        assert_eq!(about("Read", json!({ "file_path": path })), is(DigestKind::Read, path));
    }
}

#[test]
fn looking_around_matters_less_than_doing_something() {
    let weight = |command: &str| remembered("bash", &json!({ "command": command })).unwrap().2;
    for looks in ["ls", "ls -la", "git status", "sed -n 1,5p a", "cat a | wc -l"] {
        assert_eq!(weight(looks), 0, "{looks}");
    }
    for does in ["lsof", "git push", "make", "sed -i s/a/b/ a", "catalog"] {
        assert_eq!(weight(does), 1, "{does}");
    }
    let file = remembered("read_file", &json!({ "path": "a" })).unwrap().2;
    let search = remembered("search_files", &json!({ "pattern": "a" })).unwrap().2;
    assert!(file > search);
}

#[test]
fn a_change_that_failed_changed_nothing() {
    let leaves = leaves(&[
        answer("", &["1", "2"]),
        called("1", "edit_file", &json!({ "path": "a.rs" })),
        failed("1", "the text was not found in a.rs"),
        called("2", "bash", &json!({ "command": "make" })),
        finished("2", code(2), "exit code: 2\n", &["b.rs"]),
    ]);
    let of = |kind| leaves[0].digest.of_kind(kind).map(|item| item.text.clone()).collect::<Vec<_>>();
    // A command that failed may have changed something all the same.
    assert_eq!(of(DigestKind::Changed), ["b.rs"]);
    assert_eq!(of(DigestKind::Error), ["`a.rs`: the text was not found in a.rs", "`make`: exit 2"]);
}

#[test]
fn what_a_tool_says_it_changed_and_what_it_was_told_to_change_count_once() {
    let leaves = leaves(&[
        answer("", &["1"]),
        called("1", "write_file", &json!({ "path": "a.rs" })),
        finished("1", None, "", &["a.rs", "b.rs"]),
    ]);
    let changed: Vec<(&str, u32)> =
        leaves[0].digest.of_kind(DigestKind::Changed).map(|item| (item.text.as_str(), item.count)).collect();
    assert_eq!(changed, [("a.rs", 1), ("b.rs", 1)]);
    assert_eq!(leaves[0].digest.changed_files(), ["a.rs", "b.rs"]);
}

#[test]
fn of_a_long_path_the_end_stays_and_of_a_long_command_the_beginning() {
    let path = format!("{}/the_file.rs", "folder/".repeat(100));
    let (_, text, _) = remembered("read_file", &json!({ "path": path })).unwrap();
    assert!(text.starts_with('…') && text.ends_with("/the_file.rs") && text.len() <= 200, "{text}");
    let command = format!("cargo test --features {}", "a,".repeat(1_000));
    let (_, text, _) = remembered("bash", &json!({ "command": command })).unwrap();
    assert!(text.starts_with("cargo test") && text.ends_with('…') && text.len() <= 200, "{text}");
}

#[test]
fn results_without_a_call_say_what_they_can() {
    let leaves = leaves(&[
        answer("", &[]),
        finished("nobody", code(1), "error: it broke", &["a.rs"]),
        finished("nobody", None, "fine", &[]),
    ]);
    let kinds: Vec<(DigestKind, &str)> =
        leaves[0].digest.items.iter().map(|item| (item.kind, item.text.as_str())).collect();
    assert_eq!(kinds, [(DigestKind::Error, "error: it broke"), (DigestKind::Changed, "a.rs")]);
}

#[test]
fn inputs_that_are_no_object_are_borne() {
    for input in
        [json!(null), json!("text"), json!([1, 2]), json!({ "command": 7, "path": ["x"] }), json!({ "path": "" })]
    {
        let (kind, ..) = remembered("a_tool", &input).unwrap();
        assert_eq!(kind, DigestKind::Command, "{input}");
    }
}

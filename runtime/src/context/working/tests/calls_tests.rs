//! Calls as actions: the same work is the same action, whoever's tools do it.

use super::super::calls::{strings, within};
use super::super::happening::Action;
use super::made;
use serde_json::json;

#[test]
fn the_same_work_is_the_same_action() {
    let path = "/work/here/src/a.rs";
    let pairs = [
        ("Read", json!({ "file_path": path, "offset": 3 }), "read_file", json!({ "path": path, "offset": 3 })),
        (
            "Edit",
            json!({ "file_path": path, "old_string": "x", "new_string": "y", "replace_all": true }),
            "edit_file",
            json!({ "path": path, "old_string": "x", "new_string": "y", "replace_all": true }),
        ),
        ("Write", json!({ "file_path": path, "content": "x" }), "write_file", json!({ "path": path, "content": "x" })),
        ("Grep", json!({ "pattern": "x", "path": "src" }), "search_files", json!({ "pattern": "x", "path": "src" })),
        ("Bash", json!({ "command": "ls", "timeout": 3 }), "bash", json!({ "command": "ls" })),
        ("TodoWrite", json!({ "todos": [] }), "todo", json!({ "items": [] })),
    ];
    for (one, input, other, other_input) in pairs {
        assert_eq!(made(one, &input), made(other, &other_input), "{one} and {other}");
        assert!(!matches!(made(one, &input), Action::Other { .. }), "{one}");
    }
}

#[test]
fn many_edits_are_one_action_in_order() {
    let one = json!({ "old_string": "a", "new_string": "b" });
    let two = json!({ "old_string": "c", "new_string": "d", "replace_all": true });
    let input = json!({ "file_path": "a.rs", "edits": [one, { "old_string": 3 }, two] });
    let Action::Edit { edits, path } = made("MultiEdit", &input) else { panic!() };
    let edits: Vec<_> = edits.iter().map(|edit| (edit.old.as_str(), edit.new.as_str(), edit.every)).collect();
    assert_eq!((edits, path.known.as_str()), (vec![("a", "b", false), ("c", "d", true)], "a.rs"));
}

#[test]
fn an_edit_of_nothing_writes_the_file() {
    let input = json!({ "path": "new.rs", "old_string": "", "new_string": "all of it" });
    let Action::Write { content, .. } = made("edit_file", &input) else { panic!() };
    assert_eq!(content, "all of it");
}

#[test]
fn what_is_not_understood_is_still_something() {
    for (tool, input) in [
        ("Read", json!({})),
        ("Read", json!({ "file_path": 7 })),
        ("Read", json!({ "file_path": "" })),
        ("bash", json!({ "command": ["ls"] })),
        ("WebFetch", json!({ "url": "x" })),
        ("", json!({})),
    ] {
        assert_eq!(made(tool, &input), Action::Other { name: tool.to_owned(), place: None }, "{tool} {input}");
    }
    assert_eq!(made("Write", &json!({ "file_path": "a" })).place(), Some("a"));
    let listed = made("list_dir", &json!({ "path": "src" }));
    assert_eq!(listed.place(), Some("src"));
}

#[test]
fn paths_are_relative_to_the_workspace() {
    let pairs = [
        ("/work/here/src/a.rs", "src/a.rs"),
        ("/work/here/./src//a.rs", "src/a.rs"),
        ("./src/a.rs", "src/a.rs"),
        ("/work/hereafter/a.rs", "/work/hereafter/a.rs"),
        ("/etc/hosts", "/etc/hosts"),
        ("", ""),
    ];
    for (path, known) in pairs {
        assert_eq!(within("/work/here", path), known, "{path}");
    }
    assert_eq!(within("", "/a/b"), "/a/b");
}

#[test]
fn strings_are_gathered_in_order() {
    let input = json!({ "b": "two", "a": ["one", { "x": "", "y": "three" }], "n": 3 });
    assert_eq!(strings(&input), "two\none\n\nthree");
    assert_eq!(strings(&json!(null)), "");
}

//! Which paths a call has touched.

use super::touched_paths;
use proptest::prelude::*;
use serde_json::json;

fn touched(tool: &str, path: &str) -> Vec<String> {
    touched_paths(tool, &json!({ "path": path }).to_string(), &[])
}

#[test]
fn paths_of_the_file_tools() {
    for tool in ["read_file", "write_file", "edit_file"] {
        assert_eq!(touched(tool, "a/b.rs"), ["a/b.rs"], "{tool}");
    }
    for tool in ["list_dir", "search_files"] {
        assert_eq!(touched(tool, "a/b"), ["a/b/"], "{tool}");
        assert_eq!(touched(tool, "."), [""; 0], "the workspace itself is not nested");
        assert_eq!(touched_paths(tool, "{}", &[]), [""; 0], "{tool}");
    }
}

#[test]
fn of_a_command_only_what_it_changed() {
    let changed = ["src/./a.rs".to_owned(), "src/a.rs".to_owned(), "/abs/x".to_owned()];
    assert_eq!(touched_paths("bash", r#"{"command":"cat secret/x","cwd":"other"}"#, &changed), ["src/a.rs", "/abs/x"]);
    assert_eq!(touched("bash", "a/b"), [""; 0]);
    assert_eq!(touched("unheard_of", "a/b"), [""; 0]);
    assert_eq!(touched_paths("write_file", r#"{"path":"a/b"}"#, &["a/b".to_owned()]), ["a/b"], "once");
}

#[test]
fn paths_are_normalised() {
    let of = |path| touched("read_file", path);
    assert_eq!(of("./a//b/../c/./d"), ["a/c/d"]);
    assert_eq!(of("/w/x/../y"), ["/w/y"]);
    for nothing in ["", ".", "..", "../x", "a/../../x", "/", "/..", "a\0b", &"x/".repeat(3_000)] {
        assert_eq!(of(nothing), [""; 0], "{nothing:?}");
    }
}

#[test]
fn inputs_that_are_none_touch_nothing() {
    for input in ["", "not json", "[]", r#"{"path":5}"#, r#"{"path":null}"#, r#"{"file":"a/b"}"#] {
        assert_eq!(touched_paths("read_file", input, &[]), [""; 0], "{input}");
    }
}

proptest! {
    /// Nothing that comes out leads anywhere else than it says.
    #[test]
    fn no_dots_are_left(path in "[a/. ]{0,12}") {
        for touched in touched("list_dir", &path) {
            let body = touched.strip_prefix('/').unwrap_or(&touched).strip_suffix('/').unwrap();
            prop_assert!(body.split('/').all(|part| !part.is_empty() && part != "." && part != ".."), "{}", touched);
        }
    }
}

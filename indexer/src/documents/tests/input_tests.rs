//! The words and files in inputs of tools that are known, and of those that are not.

use super::super::call_input::CallInput;
use expect_test::{Expect, expect};

#[track_caller]
#[allow(clippy::needless_pass_by_value, reason = "expect![] makes a value")]
fn check(input: &str, expected: Expect) {
    let found = CallInput::of(input, "/work/x");
    expected.assert_eq(&format!("{:?} {:?}", found.words, found.paths));
}

#[test]
fn inputs_are_words_without_punctuation() {
    check(r#"{"path":"src/a.rs","offset":10,"limit":5}"#, expect![[r#""src/a.rs" ["src/a.rs"]"#]]);
    check(
        r#"{"command":"cat src/a.rs | head","description":"Show it","timeout_ms":1000,"background":false}"#,
        expect![[r#""cat src/a.rs | head\nShow it" ["src/a.rs"]"#]],
    );
    check(
        r#"{"file_path":"/work/x/a/b.go","edits":[{"old_string":"x","new_string":"y"},{"old_string":"","new_string":null}]}"#,
        expect![[r#""/work/x/a/b.go\nx\ny" ["a/b.go"]"#]],
    );
    check(
        r#"{"files":["a.rs","./b/../c.rs",{"path":"d.rs"}],"issue":1234}"#,
        expect![[r#""a.rs\n./b/../c.rs\nd.rs\n1234" ["a.rs", "c.rs", "d.rs"]"#]],
    );
    check(r#"{"pattern":"fn main","path":"/work/x"}"#, expect![[r#""fn main\n/work/x" []"#]]);
    check(r#"{"notebook_path":"n.ipynb","new_source":"print(1)"}"#, expect![[r#""n.ipynb\nprint(1)" ["n.ipynb"]"#]]);
}

#[test]
fn whatever_it_is_it_is_taken_as_it_is() {
    check("not json at all", expect![[r#""not json at all" []"#]]);
    check("", expect![[r#""" []"#]]);
    check("[]", expect![[r#""" []"#]]);
    check("\"just words\"", expect![[r#""just words" []"#]]);
    check(r#"{"path":{"path":[["deep.rs"]]}}"#, expect![[r#""deep.rs" ["deep.rs"]"#]]);
    check(r#"{"path":"a\u0000b"}"#, expect![[r#""a\0b" []"#]]);
}

#[test]
fn an_input_nested_without_end_is_words() {
    let deep = format!("{}{}", r#"{"a":["#.repeat(5_000), "]}".repeat(5_000));
    assert_eq!(CallInput::of(&deep, "/w").words, deep);
}

#[test]
fn words_and_paths_are_bounded() {
    let many: Vec<String> = (0..10_000).map(|n| format!("\"dir/file{n}.rs {}\"", "x".repeat(500))).collect();
    let found = CallInput::of(&format!(r#"{{"paths":[{}]}}"#, many.join(",")), "/w");
    assert!(found.words.len() < 1_200_000);
    assert!(found.paths.len() <= 16);
}

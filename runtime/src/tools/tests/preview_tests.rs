//! What a person is shown before allowing a call: all of it, nothing hidden, and against the files as they are.

use super::harness::{Bench, SECRET, tool_named};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

async fn preview(bench: &Bench, tool: &str, input: Value) -> String {
    tool_named(tool).preview(&bench.context, &input).await.unwrap()
}

#[tokio::test]
async fn of_a_command_all_of_it_is_shown() {
    let bench = Bench::new().await;
    let check = async |input: Value, expected: Expect| expected.assert_eq(&preview(&bench, "bash", input).await);
    check(
        json!({"command": "cargo test\n  --all"}),
        expect![[r#"
        cargo test
          --all"#]],
    )
    .await;
    check(
        json!({"command": "npm start", "cwd": "web", "background": true, "timeout_ms": 5_000}),
        expect![[r#"
        [in the folder web; in the background; for at most 5,000 ms]
        npm start"#]],
    )
    .await;
    check(json!({"command": format!("curl -H {SECRET}"), "cwd": ""}), expect!["curl -H [redacted:known]"]).await;
}

#[tokio::test]
async fn nothing_in_it_can_hide() {
    let bench = Bench::new().await;
    let command = "rm -rf x \r\u{1B}[2Kls\t# \u{202E}txt\u{200B}\0";
    let shown = preview(&bench, "bash", json!({"command": command})).await;
    assert_eq!(shown, "rm -rf x \\r\\u{1b}[2Kls\t# \\u{202e}txt\\u{200b}\\u{0}");
}

#[tokio::test]
async fn a_long_one_keeps_head_and_tail() {
    let bench = Bench::new().await;
    let content: String = (1..=20_000).map(|n| format!("line {n}\n")).collect();
    let shown = preview(&bench, "write_file", json!({"path": "a.txt", "content": content})).await;
    assert!(shown.len() <= 16 * 1024, "{}", shown.len());
    assert!(shown.starts_with(
        "[a new file: 20,000 lines, 208,894 bytes]\n--- a.txt\n+++ a.txt\n@@ -0,0 +1,20000 @@\n+line 1\n"
    ));
    assert!(shown.ends_with("\n+line 20000") && shown.contains(" bytes) left out here]\n"), "{shown}");
}

#[tokio::test]
async fn of_a_write_the_change_is_shown() {
    let bench = Bench::new().await;
    bench.file("a.txt", "one\ntwo\nthree\n");
    let check = async |path: &str, content: &str, expected: Expect| {
        expected.assert_eq(&preview(&bench, "write_file", json!({"path": path, "content": content})).await);
    };
    check(
        "a.txt",
        "one\n2\nthree\n",
        expect![[r#"
        --- a.txt
        +++ a.txt
        @@ -1,3 +1,3 @@
         one
        -two
        +2
         three"#]],
    )
    .await;
    check(
        "sub/new.txt",
        "first\n",
        expect![[r#"
        [a new file: 1 line, 6 bytes]
        --- sub/new.txt
        +++ sub/new.txt
        @@ -0,0 +1 @@
        +first"#]],
    )
    .await;
    check(
        "a.txt",
        "one\r\ntwo\r\nthree\r\n",
        expect![[r#"
        [line ends change: now LF line ends, then CRLF line ends]
        [the lines stay as they are]"#]],
    )
    .await;
    bench.file("latin.txt", b"caf\xE9\n");
    check(
        "latin.txt",
        "café\n",
        expect![[r#"
        [the encoding changes: now not UTF-8; read as Windows-1252 (Latin-1), then UTF-8]
        [the lines stay as they are]"#]],
    )
    .await;
    bench.file("tool", b"\x7FELF\0\0\0\0");
    check("tool", "#!/bin/sh\n", expect![[r#"
        [tool is no plain text: ELF executable, library or object file (8 bytes); it would be replaced by 1 line, 10 bytes]
        --- tool
        +++ tool
        @@ -0,0 +1 @@
        +#!/bin/sh"#]]).await;
    bench.file("huge.txt", "x\n".repeat(3_000_000));
    let huge = preview(&bench, "write_file", json!({"path": "huge.txt", "content": "y\n"})).await;
    assert!(
        huge.starts_with(
            "[huge.txt is too large to compare (6,000,000 bytes); it would be replaced by 1 line, 2 bytes]"
        ),
        "{huge}"
    );
    check("../outside.txt", "mine", expect!["[this will fail: ../outside.txt leads out of the workspace]"]).await;
    // A look changes nothing.
    assert_eq!(bench.bytes("a.txt"), b"one\ntwo\nthree\n");
    assert!(!bench.path("sub").exists());
}

#[tokio::test]
async fn of_an_edit_the_change_is_shown() {
    let bench = Bench::new().await;
    bench.file("a.rs", format!("fn main() {{\r\n    let key = \"{SECRET}\";\r\n}}\r\n"));
    let check = async |path: &str, old: &str, new: &str, expected: Expect| {
        let input = json!({"path": path, "old_string": old, "new_string": new});
        expected.assert_eq(&preview(&bench, "edit_file", input).await);
    };
    check(
        "a.rs",
        "fn main() {\n",
        "fn main() {\n    start();\n",
        expect![[r#"
        --- a.rs
        +++ a.rs
        @@ -1,3 +1,4 @@
         fn main() {
        +    start();
             let key = "[redacted:known]";
         }"#]],
    )
    .await;
    check(
        "new.rs",
        "",
        "fn f() {}\n",
        expect![[r#"
        [a new file: 1 line, 10 bytes]
        --- new.rs
        +++ new.rs
        @@ -0,0 +1 @@
        +fn f() {}"#]],
    )
    .await;
    check("a.rs", "no such text", "x", expect!["[this will fail: old_string is not in a.rs; nothing in the file is similar to it; read the file again before the next edit]"]).await;
    check(
        "b.rs",
        "x",
        "y",
        expect![[r#"
        [this will fail: b.rs: No such file or directory (os error 2)
        hint: did you mean a.rs?]"#]],
    )
    .await;
    assert!(bench.bytes("a.rs").starts_with(b"fn main() {\r\n    let"));
}

#[tokio::test]
async fn a_preview_without_a_sandbox_says_so() {
    let bench = Bench::new().await;
    bench.context.sandbox.shutdown().await;
    for (tool, input) in [
        ("write_file", json!({"path": "a", "content": "x"})),
        ("edit_file", json!({"path": "a", "old_string": "x", "new_string": "y"})),
    ] {
        let shown = preview(&bench, tool, input).await;
        assert!(shown.starts_with("[the file cannot be looked at: "), "{shown}");
    }
    for (tool, input) in
        [("read_file", json!({"path": "a"})), ("bash", json!({"cmd": "ls"})), ("todo", json!({"items": []}))]
    {
        assert_eq!(tool_named(tool).preview(&bench.context, &input).await, None);
    }
}

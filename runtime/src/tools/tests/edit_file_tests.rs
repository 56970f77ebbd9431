//! `edit_file` through a real sandbox: what changes, what stays, and what is refused.

use super::harness::{Bench, SECRET};
use expect_test::expect;
use serde_json::json;

#[tokio::test]
async fn an_edit_changes_one_place_and_shows_it() {
    let bench = Bench::new().await;
    bench.file("a.rs", (1..=12).map(|n| format!("line {n}\n")).collect::<String>());
    let result = bench
        .run("edit_file", json!({"path": "a.rs", "old_string": "line 6\n", "new_string": "line six\nand a half\n"}))
        .await;
    expect![[r#"
        edited a.rs
        --- a.rs
        +++ a.rs
        @@ -3,7 +3,8 @@
         line 3
         line 4
         line 5
        -line 6
        +line six
        +and a half
         line 7
         line 8
         line 9"#]]
    .assert_eq(&result.content);
    assert_eq!((result.is_error, result.changed), (false, vec!["a.rs".to_owned()]));
    assert!(String::from_utf8(bench.bytes("a.rs")).unwrap().contains("line 5\nline six\nand a half\nline 7\n"));
}

#[tokio::test]
async fn encoding_mark_line_ends_and_last_line_stay() {
    let bench = Bench::new().await;
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let table = [
        ("crlf", b"a\r\nb\r\nc".to_vec(), "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc".to_vec()),
        ("bom", "\u{FEFF}a\n".into(), "a", "ä", "\u{FEFF}ä\n".into()),
        ("utf16", utf16("\u{FEFF}a\r\nü\r\n"), "ü", "🚀", utf16("\u{FEFF}a\r\n🚀\r\n")),
        ("latin1", b"caf\xE9 \x80\n".to_vec(), "café", "thé", b"th\xE9 \x80\n".to_vec()),
        ("no end", b"a\nb".to_vec(), "b", "c", b"a\nc".to_vec()),
    ];
    for (path, before, old, new, after) in table {
        bench.file(path, before);
        bench.ok("edit_file", json!({"path": path, "old_string": old, "new_string": new})).await;
        assert_eq!(bench.bytes(path), after, "{path}");
    }
}

#[tokio::test]
async fn all_places_only_when_asked() {
    let bench = Bench::new().await;
    bench.file("a.txt", "x = 1\ny = 2\nx = 3\n");
    let text = bench.fails("edit_file", json!({"path": "a.txt", "old_string": "x = ", "new_string": "z = "})).await;
    assert!(text.starts_with("old_string is in a.txt 2 times (in lines 1, 3); "), "{text}");
    assert_eq!(bench.bytes("a.txt"), b"x = 1\ny = 2\nx = 3\n");
    let all = json!({"path": "a.txt", "old_string": "x = ", "new_string": "z = ", "replace_all": true});
    assert!(bench.ok("edit_file", all).await.starts_with("edited a.txt in 2 places\n"));
    assert_eq!(bench.bytes("a.txt"), b"z = 1\ny = 2\nz = 3\n");
}

#[tokio::test]
async fn a_file_can_be_created_but_not_emptied_by_accident() {
    let bench = Bench::new().await;
    bench.file("empty.txt", "");
    let create = |path: &str| json!({"path": path, "old_string": "", "new_string": "a\n"});
    let result = bench.run("edit_file", create("new/a.txt")).await;
    assert_eq!((result.content.as_str(), result.is_error), ("created new/a.txt (1 line, 2 bytes)", false));
    assert_eq!(result.changed, ["new/a.txt"]);
    assert_eq!(bench.ok("edit_file", create("empty.txt")).await, "overwrote empty.txt (1 line, 2 bytes)");
    let text = bench.fails("edit_file", create("new/a.txt")).await;
    assert_eq!(text, "new/a.txt is there and not empty: old_string must say what to replace");
    assert_eq!(bench.bytes("new/a.txt"), b"a\n");
}

#[tokio::test]
async fn what_cannot_be_done_is_explained_and_changes_nothing() {
    let bench = Bench::new().await;
    bench.file("a.rs", "fn main() {\n    run(1);\n}\n");
    bench.file("b.bin", b"\0\x01\x02");
    bench.file("latin1.txt", b"caf\xE9\n");
    bench.file("damaged.txt", [b"gr\xC3\xB6\xC3\x9Fe ".as_slice(), b"\xFF", "äöü x".as_bytes()].concat());
    let table = [
        ("a.rs", "run(1)", "run(1)", "old_string and new_string are the same"),
        ("a.rs", "  run(1);", "run(2);", "edited"),
        (
            "a.rs",
            "\trun(2);\n}",
            "run(3);",
            "old_string is not in a.rs; the same text with other white space is here:\n     1\tfn main() {\n     2\t  run(2);",
        ),
        ("a.rs", "     2\t  run(2);", "x", "old_string has the line numbers of read_file in it"),
        ("a.rs", "something else altogether", "x", "old_string is not in a.rs; nothing in the file is similar"),
        ("main.rs", "x", "y", "No such file"),
        ("b.bin", "x", "y", "b.bin is a binary file: edit_file cannot edit it"),
        ("latin1.txt", "café", "☕", "has no `☕`"),
        ("damaged.txt", "x", "y", "UTF-8 with invalid bytes in it, which would be lost in an edit"),
        ("../outside.txt", "not", "all", "leads out of the workspace"),
        ("", "x", "y", "not a regular file"),
    ];
    for (path, old, new, expected) in table {
        let result = bench.run("edit_file", json!({"path": path, "old_string": old, "new_string": new})).await;
        assert!(result.content.contains(expected), "{path}: {}", result.content);
        assert_eq!(result.is_error, expected != "edited", "{}", result.content);
        assert_eq!(result.changed.is_empty(), result.is_error);
    }
    assert_eq!(bench.bytes("a.rs"), b"fn main() {\n  run(2);\n}\n");
    assert_eq!(bench.bytes("latin1.txt"), b"caf\xE9\n");
    bench.assert_outside_untouched();
}

#[tokio::test]
async fn a_large_diff_is_cut_and_secrets_are_not_shown() {
    let bench = Bench::new().await;
    bench.file("a.txt", "old line\n".repeat(2_000));
    let all = json!({"path": "a.txt", "old_string": "old", "new_string": "new", "replace_all": true});
    let text = bench.ok("edit_file", all).await;
    assert!(text.len() < 6_200 && text.contains(" of the diff left out]"), "{}", text.len());
    assert_eq!(bench.bytes("a.txt"), "new line\n".repeat(2_000).as_bytes());
    bench.file("key.txt", format!("key {SECRET}\nother\n"));
    let text = bench.ok("edit_file", json!({"path": "key.txt", "old_string": "other", "new_string": "thing"})).await;
    assert!(!text.contains(SECRET) && text.contains("[redacted:known]"), "{text}");
    assert_eq!(bench.bytes("key.txt"), format!("key {SECRET}\nthing\n").as_bytes());
}

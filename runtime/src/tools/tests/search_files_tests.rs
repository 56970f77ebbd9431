//! `search_files` through a real sandbox.

use super::harness::{Bench, SECRET};
use expect_test::expect;
use serde_json::json;

async fn bench() -> Bench {
    let bench = Bench::new().await;
    bench.file("src/a.rs", "fn one() {}\nfn two() {}\n\n// end\nfn three() {}\n");
    bench.file("src/b.rs", "// FN\nlet x = 1;\n");
    bench.file("notes.md", "fn in text\n");
    bench.file("target/c.rs", "fn ignored() {}\n");
    bench.file(".gitignore", "target\n");
    bench.file("data.bin", b"fn \0 binary");
    bench
}

#[tokio::test]
async fn matches_come_with_path_and_line() {
    let bench = bench().await;
    expect![[r#"
        notes.md:1:fn in text

        src/a.rs:1:fn one() {}
        src/a.rs:2:fn two() {}
        src/a.rs:5:fn three() {}
        [4 matching lines; 5 files searched; 1 binary file skipped]"#]]
    .assert_eq(&bench.ok("search_files", json!({"pattern": "^fn "})).await);
}

#[tokio::test]
async fn it_can_be_narrowed_and_widened() {
    let bench = bench().await;
    expect![[r#"
        src/a.rs:1:fn one() {}
        src/a.rs-2-fn two() {}
        --
        src/a.rs-4-// end
        src/a.rs:5:fn three() {}
        [2 matching lines; 1 file searched]"#]]
    .assert_eq(&bench.ok("search_files", json!({"pattern": r"one\(|three", "path": "src/a.rs", "context": 1})).await);
    expect![[r#"
        src/a.rs
        src/b.rs
        [2 matching files; 2 files searched]"#]]
    .assert_eq(
        &bench
            .ok("search_files", json!({"pattern": "fn", "glob": "*.rs", "case_insensitive": true, "files_only": true}))
            .await,
    );
    let none = bench.ok("search_files", json!({"pattern": "nowhere", "path": "src", "glob": "!b.rs"})).await;
    assert_eq!(none, "[no matches; 1 file searched]");
}

#[tokio::test]
async fn too_much_is_cut_and_said() {
    let bench = bench().await;
    bench.file("many.txt", "match me\n".repeat(3_000));
    let text = bench.ok("search_files", json!({"pattern": "match", "max_results": 3})).await;
    assert!(
        text.ends_with("[3 matching lines; 2 files searched; there are more: narrow the search or raise max_results]")
            || text.contains("there are more: narrow the search or raise max_results"),
        "{text}"
    );
    assert_eq!(text.matches("match me").count(), 3);
    let text = bench.ok("search_files", json!({"pattern": "match", "max_results": 1_000_000})).await;
    assert!(text.len() < 16_500 && text.contains(" of this answer left out: narrow the search"), "{}", text.len());
    assert!(text.contains("[2,000 matching lines; "), "{}", &text[text.len() - 300..]);
    bench.file("wide.txt", format!("needle {}\n", "x".repeat(100_000)));
    let text = bench.ok("search_files", json!({"pattern": "needle"})).await;
    assert!(text.len() < 1_000 && text.contains("wide.txt:1:needle xxx"), "{}", text.len());
}

#[tokio::test]
async fn bad_input_is_explained() {
    let bench = bench().await;
    std::os::unix::fs::symlink("../outside.txt", bench.path("link")).unwrap();
    let table = [
        (json!({"pattern": "(unclosed"}), "unclosed group"),
        (json!({"pattern": ""}), "the pattern is empty"),
        (json!({"pattern": "x", "glob": "a[b"}), "bad glob"),
        (json!({"pattern": "x", "path": "scr/a.rs"}), "hint: did you mean src/a.rs?"),
        (json!({"pattern": "not", "path": ".."}), "leads out of the workspace"),
        (json!({"pattern": "not", "path": "link"}), "leads out of the workspace"),
        (json!({"pattern": "x{1000000}"}), "pattern"),
    ];
    for (input, expected) in table {
        let text = bench.fails("search_files", input).await;
        assert!(text.contains(expected) && !text.contains("not yours"), "{text}");
    }
    assert!(bench.ok("search_files", json!({"pattern": "yours"})).await.starts_with("[no matches"));
}

#[tokio::test]
async fn secrets_are_taken_out() {
    let bench = Bench::new().await;
    bench.file("a.env", format!("key {SECRET}\n"));
    let text = bench.ok("search_files", json!({"pattern": "key"})).await;
    assert!(text.starts_with("a.env:1:key [redacted:known]\n"), "{text}");
}

#[tokio::test]
async fn a_hostile_file_name_stays_in_its_line() {
    let bench = Bench::new().await;
    bench.file("a\nb.txt:1:fake", "found\n");
    let text = bench.ok("search_files", json!({"pattern": "found"})).await;
    assert_eq!(text, "a\\nb.txt:1:fake:1:found\n[1 matching line; 1 file searched]");
    let text = bench.ok("search_files", json!({"pattern": "found", "files_only": true})).await;
    assert!(text.starts_with("a\\nb.txt:1:fake\n["), "{text}");
}

//! Files of folders that were touched.

use super::*;

#[tokio::test]
async fn outer_folders_come_before_inner_ones_and_the_root_is_not_among_them() {
    let bench = Bench::new().await;
    bench.put("AGENTS.md", "root");
    bench.put("a/CLAUDE.md", "in a");
    bench.put("a/b/AGENTS.md", "in a/b");
    bench.put("c/AGENTS.md", "in c");
    bench.put("d/AGENTS.md", "not touched");
    let found = bench.nested(&["a/b/deep/x.rs", "c/y.rs", "z.rs"], &KnownInstructions::default()).await;
    assert_eq!(told(&found), [("a/CLAUDE.md", "in a"), ("a/b/AGENTS.md", "in a/b"), ("c/AGENTS.md", "in c")]);
    let none = bench.nested(&["z.rs"], &KnownInstructions::default()).await;
    assert_eq!(none, Instructions::default());
}

#[tokio::test]
async fn a_folder_that_is_listed_counts_and_a_file_that_is_searched_is_no_folder() {
    let bench = Bench::new().await;
    bench.put("a/AGENTS.md", "in a");
    bench.put("a/file.rs", "");
    let touched = touched_paths("list_dir", r#"{"path":"./a"}"#, &[]);
    let found = nested(&bench.sandbox, &bench.redactor, &touched, &KnownInstructions::default()).await;
    assert_eq!(told(&found), [("a/AGENTS.md", "in a")]);
    let touched = touched_paths("search_files", r#"{"pattern":"x","path":"a/file.rs"}"#, &[]);
    let found = nested(&bench.sandbox, &bench.redactor, &touched, &KnownInstructions::default()).await;
    assert_eq!((told(&found), found.notices.len()), (vec![("a/AGENTS.md", "in a")], 0));
}

#[tokio::test]
async fn a_file_that_is_no_good_leaves_a_trace_so_that_it_is_told_once() {
    let bench = Bench::new().await;
    bench.put("a/AGENTS.md", b"\0");
    let found = bench.nested(&["a/x"], &KnownInstructions::default()).await;
    assert_eq!(told(&found), [("a/AGENTS.md", "[not shown: a/AGENTS.md is not a text]")]);
    assert_eq!(found.notices, ["a/AGENTS.md is not a text; it is not used"]);
}

#[tokio::test]
async fn odd_names_make_no_odd_notices() {
    let bench = Bench::new().await;
    bench.put("a\u{1b}[2J\n/AGENTS.md", b"\0");
    let found = bench.nested(&["a\u{1b}[2J\n/x"], &KnownInstructions::default()).await;
    assert_eq!(found.notices, ["a?[2J?/AGENTS.md is not a text; it is not used"]);
    assert_eq!(path_of(&found.passages[0]), "a\u{1b}[2J\n/AGENTS.md", "the name it is known by is the true one");
}

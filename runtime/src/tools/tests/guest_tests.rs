//! What all tools share: hostile paths stay inside, calls run side by side, cancelling ends them.

use super::harness::{Bench, tool_named};
use crate::tools::ToolFailure;
use crate::tools::guest::plain_path;
use serde_json::json;

#[test]
fn paths_in_lists_are_plain() {
    let table = [("a", "a"), ("./a//b/./c", "a/b/c"), ("", ""), (".", ""), ("../x", "../x"), ("/work/a/", "work/a")];
    for (path, expected) in table {
        assert_eq!(plain_path(path), expected, "{path}");
    }
}

/// All paths of up to three of these parts, for every tool that takes one: whatever they do, they do it inside.
#[tokio::test]
async fn no_path_leads_out() {
    let bench = Bench::new().await;
    bench.file("a/b.txt", "inside\n");
    std::os::unix::fs::symlink("..", bench.path("up")).unwrap();
    std::os::unix::fs::symlink("../../outside.txt", bench.path("a/out")).unwrap();
    std::os::unix::fs::symlink("/etc", bench.path("etc")).unwrap();
    let parts = ["..", ".", "", "a", "up", "out", "etc", "outside.txt", "passwd", "\0"];
    let mut paths: Vec<String> = Vec::new();
    for one in parts {
        paths.push(one.to_owned());
        paths.extend(parts.map(|two| format!("{one}/{two}")));
    }
    for one in ["..", "a", "up"] {
        paths.extend(parts.iter().flat_map(|two| parts.map(|three| format!("{one}/{two}/{three}"))));
    }
    for path in &paths {
        let calls = [
            ("read_file", json!({"path": path})),
            ("list_dir", json!({"path": path, "depth": 1})),
            ("search_files", json!({"pattern": "not yours|root:", "path": path})),
            ("edit_file", json!({"path": path, "old_string": "not yours", "new_string": "mine"})),
        ];
        for (tool, input) in calls {
            let text = bench.run(tool, input).await.content;
            assert!(!text.contains("not yours") && !text.contains("root:x:"), "{tool} {path:?}: {text}");
        }
    }
    for path in &paths {
        bench.run("write_file", json!({"path": path, "content": "mine"})).await;
    }
    bench.assert_outside_untouched();
    assert!(bench.bytes("a/b.txt") == b"inside\n");
}

#[tokio::test]
async fn calls_run_side_by_side() {
    let bench = Bench::new().await;
    bench.file("a.txt", "one\n");
    // The first command ends only when the second has run.
    let first = bench.run("bash", json!({"command": "until [ -e go ]; do :; done; echo first"}));
    let second = bench.run("bash", json!({"command": "touch go; echo second"}));
    let read = bench.run("read_file", json!({"path": "a.txt"}));
    let (first, second, read) = tokio::join!(first, second, read);
    assert_eq!((first.content.as_str(), second.content.as_str()), ("exit code: 0\nfirst", "exit code: 0\nsecond"));
    assert_eq!(read.content, "     1\tone\n[1 line]");
}

#[tokio::test]
async fn a_cancelled_call_says_so() {
    let bench = Bench::new().await;
    bench.file("a.txt", "one\n");
    let context = bench.context.clone();
    context.cancel.cancel();
    // Nothing has been asked of the guest yet, so no answer can come first.
    let calls = [
        ("bash", json!({"command": "sleep 1000"})),
        ("read_file", json!({"path": "a.txt"})),
        ("write_file", json!({"path": "a.txt", "content": "two"})),
        ("edit_file", json!({"path": "a.txt", "old_string": "one", "new_string": "two"})),
        ("list_dir", json!({"depth": 9})),
        ("search_files", json!({"pattern": "x"})),
    ];
    for (tool, input) in calls {
        let outcome = tool_named(tool).run(&context, input).await;
        assert!(matches!(outcome, Err(ToolFailure::Cancelled)), "{tool}: {outcome:?}");
    }
    assert_eq!(bench.bytes("a.txt"), b"one\n");
}

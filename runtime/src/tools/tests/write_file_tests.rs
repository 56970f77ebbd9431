//! `write_file` through a real sandbox.

use super::harness::Bench;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

#[tokio::test]
async fn a_new_file_is_created_with_its_folders() {
    let bench = Bench::new().await;
    let result = bench.run("write_file", json!({"path": "./src/deep/a.rs", "content": "fn a() {}\n// ü\n"})).await;
    assert_eq!(result.content, "created ./src/deep/a.rs (2 lines, 16 bytes)");
    assert_eq!((result.is_error, result.changed), (false, vec!["src/deep/a.rs".to_owned()]));
    assert_eq!(bench.bytes("src/deep/a.rs"), "fn a() {}\n// ü\n".as_bytes());
}

#[tokio::test]
async fn an_old_file_is_overwritten_and_keeps_its_permissions() {
    let bench = Bench::new().await;
    bench.file("run.sh", "#!/bin/sh\n");
    std::fs::set_permissions(bench.path("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let text = bench.ok("write_file", json!({"path": "run.sh", "content": ""})).await;
    assert_eq!(text, "overwrote run.sh (0 lines, 0 bytes; it had 10 bytes)");
    assert_eq!(bench.bytes("run.sh"), b"");
    let mode = std::fs::metadata(bench.path("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[tokio::test]
async fn nothing_is_written_outside() {
    let bench = Bench::new().await;
    bench.file("folder/x", "");
    std::os::unix::fs::symlink("../outside.txt", bench.path("link")).unwrap();
    std::os::unix::fs::symlink("..", bench.path("up")).unwrap();
    for path in ["../outside.txt", "../new.txt", "/tmp/x/../../new.txt", "link", "up/new.txt", "folder/../../new.txt"] {
        let text = bench.fails("write_file", json!({"path": path, "content": "mine"})).await;
        assert!(text.contains("leads out of the workspace"), "{path}: {text}");
    }
    for path in ["folder", "", ".", "folder/x/y"] {
        bench.fails("write_file", json!({"path": path, "content": "mine"})).await;
    }
    bench.assert_outside_untouched();
}

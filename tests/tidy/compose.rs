//! The NATS configuration inside compose.yaml is one that the real server takes, and it keeps what durability needs.
//!
//! No container is started here. The configuration stands in compose.yaml as a text; the test hands that text to the
//! `nats-server` that the set-up installed.

use crate::tree::{Finding, Tree};
use crate::{finds, keeps};
use expect_test::expect;
use std::path::PathBuf;
use std::process::Command;

/// Lines without which an acknowledgement means less than "on the disk", or cannot be asked about, or a full disk hangs the log.
const NEEDED: &[&str] =
    &["sync_interval: always", "max_file_store:", "max_memory_store:", "store_dir: /data", "imports: ["];

fn durable(tree: &Tree) -> Vec<Finding> {
    let config = server_config(tree.text("compose.yaml"));
    let lines: Vec<&str> = config.lines().map(str::trim).collect();
    let missing = NEEDED.iter().filter(|needed| !lines.iter().any(|line| line.starts_with(**needed)));
    missing.map(|needed| Finding::file("compose.yaml", format!("the NATS configuration has no `{needed}`"))).collect()
}

/// Ports are published to this machine only: the servers have no passwords.
fn loopback(tree: &Tree) -> Vec<Finding> {
    let text = tree.text("compose.yaml");
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with("ports:") && !line.starts_with("ports: [\"127.0.0.1:") {
            found.push(Finding {
                path: "compose.yaml".to_owned(),
                line: number + 1,
                what: "publishes beyond loopback".to_owned(),
            });
        }
    }
    found
}

/// The text behind `content: |`, as the server would see it.
fn server_config(compose: &str) -> String {
    let body = compose.split_once("content: |\n").map_or("", |(_, body)| body);
    let indent = body.len() - body.trim_start_matches(' ').len();
    let lines = body.lines().take_while(|line| line.trim().is_empty() || line.starts_with(&" ".repeat(indent)));
    lines.map(|line| format!("{}\n", line.get(indent..).unwrap_or(""))).collect::<String>().replace("$$", "$")
}

#[test]
fn the_cluster_is_durable_and_private() {
    keeps(durable);
    keeps(loopback);
    let example = [(
        "compose.yaml",
        "ports: [\"4222:4222\"]\nx:\n  content: |\n    # sync_interval: always\n    max_file_store: 1GB\nmax_memory_store: 1\n",
    )];
    finds(
        durable,
        &example,
        expect![[r#"
            compose.yaml: the NATS configuration has no `sync_interval: always`
            compose.yaml: the NATS configuration has no `max_memory_store:`
            compose.yaml: the NATS configuration has no `store_dir: /data`
            compose.yaml: the NATS configuration has no `imports: [`
        "#]],
    );
    finds(
        loopback,
        &example,
        expect![[r#"
        compose.yaml:1: publishes beyond loopback
    "#]],
    );
}

#[test]
fn the_real_server_takes_the_configuration() {
    let config = server_config(Tree::of_this_repository().text("compose.yaml"));
    let (is_valid, message) = ask_server(&config);
    assert!(is_valid, "{message}");
    let (is_valid, message) = ask_server(&config.replace("sync_interval", "sync_intervall"));
    assert!(!is_valid, "a misspelt setting was taken: {message}");
}

/// What `nats-server -t` says of a configuration.
fn ask_server(config: &str) -> (bool, String) {
    let cache = std::env::var_os("RETRACE_CACHE").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").expect("HOME")).join(".cache/retrace"));
    let server = cache.join("bin/nats-server");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("nats.conf");
    std::fs::write(&file, config).expect("written");
    let output = Command::new(&server).arg("-t").arg("-c").arg(&file).env("NATS_NAME", "nats-1").output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}\nhint: run: .ci/setup nats", server.display()));
    (
        output.status.success(),
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout),
    )
}

//! The rule a call would be remembered by.

use super::{World, word};
use crate::permissions::Permissions;
use serde_json::json;

fn like(tool: &str, input: &serde_json::Value) -> String {
    Permissions::builtin(true).rule_like(tool, &input.to_string())
}

fn command(text: &str) -> String {
    like("bash", &json!({ "command": text }))
}

#[test]
fn one_plain_command_is_taken_by_its_beginning() {
    let cases = [
        ("cargo test --all", "bash(cargo test *)"),
        ("cargo test", "bash(cargo test *)"),
        ("# all\ncargo test 2>&1", "bash(cargo test *)"),
        ("git status -s", "bash(git status *)"),
        ("git add 'a b.txt'", "bash(git add *)"),
        ("npm test", "bash(npm test *)"),
        ("go vet ./...", "bash(go vet *)"),
        ("ls -la src", "bash(ls *)"),
        ("cat README.md", "bash(cat *)"),
        ("ruff check .", "bash(ruff check *)"),
        ("mytool frobnicate:all x", "bash(mytool frobnicate:all *)"),
        ("pytest -x tests/a.py", "bash(pytest *)"),
        ("./check.sh --fast", "bash(./check.sh *)"),
        ("/usr/bin/wc -l x", "bash(/usr/bin/wc *)"),
    ];
    for (script, rule) in cases {
        assert_eq!(command(script), rule, "{script}");
    }
}

#[test]
fn what_could_do_anything_stays_word_for_word() {
    let exact = [
        "bash x.sh",
        "sh -c 'ls'",
        "zsh",
        "python -c 'print(1)'",
        "python3 x.py",
        "python3.12 -m x",
        "node x.js",
        "perl -e 1",
        "ruby x",
        "lua5.4 x",
        "sudo ls",
        "env ls",
        "xargs ls",
        "timeout 5 ls",
        "nice make",
        "command ls",
        "eval ls",
        "source x",
        ". x",
        "exec ls",
        "find . -name x",
        "rm x",
        "/bin/rm x",
        "mv a b",
        "chmod +x y",
        "dd if=a of=b",
        "curl https://example.org",
        "wget x",
        "ssh host",
        "docker ps",
        "kubectl get pods",
        "git push",
        "git push origin main",
        "git -C x status",
        "git reset --hard",
        "git checkout x",
        "git",
        "git config a b",
        "cargo publish",
        "cargo run",
        "cargo install x",
        "cargo --version",
        "npm run build",
        "npm install",
        "npx x",
        "make install",
        "make",
        "pip install x",
        "mytool push",
        "mytool delete x",
        "mytool run y",
        "sed -i s/a/b/ f",
        "awk '{print}' f",
        "tar xf a",
        "cd src",
        "tee x",
        // More than one command, or not plain.
        "cargo build && cargo test",
        "ls | wc",
        "ls > out",
        "FOO=1 ls",
        "ls $(pwd)",
        "echo $HOME",
        "ls; ",
        "(ls)",
        "ls &",
    ];
    for script in exact {
        let rule = command(script);
        if script == "ls; " {
            assert_eq!(rule, "bash(ls *)");
            continue;
        }
        assert_eq!(rule, format!("bash(={script})"), "{script}");
    }
    assert_eq!(command("a \\\n&& b\tc\u{1b}"), "bash(=a \\\\\\n&& b\\tc\\u{1b})");
}

#[test]
fn files_are_taken_by_their_folder() {
    let path = |tool: &str, path: &str| like(tool, &json!({ "path": path }));
    assert_eq!(path("edit_file", "src/a.rs"), "edit_file(src/**)");
    assert_eq!(path("write_file", "./src//deep/x/../a.rs"), "write_file(src/deep/**)");
    assert_eq!(path("edit_file", "Cargo.toml"), "edit_file(/Cargo.toml)");
    assert_eq!(path("edit_file", "odd [x]/{*}/!a, b.rs"), "edit_file(odd \\[x\\]/\\{\\*\\}/**)");
    assert_eq!(path("edit_file", "!a"), "edit_file(/\\!a)");
    assert_eq!(path("list_dir", ""), "list_dir");
    assert_eq!(like("list_dir", &json!({})), "list_dir");
    assert_eq!(like("todo", &json!({ "items": [] })), "todo");
    let world = World::new(&[]).session(&["edit_file(/Cargo.toml)", "edit_file(src/**)"]);
    assert_eq!(word(&world.path("edit_file", "sub/Cargo.toml")), "ask");
    assert_eq!(word(&world.path("edit_file", "sub/src/x")), "ask");
}

#[test]
fn what_no_rule_can_cover_has_none() {
    for path in ["/etc/passwd", "../x", "src/../../x", "~/x", "a\nb"] {
        assert_eq!(like("edit_file", &json!({ "path": path })), "", "{path}");
    }
    assert_eq!(like("edit_file", &json!({ "path": 3 })), "");
    assert_eq!(like("bash", &json!({})), "");
    assert_eq!(Permissions::builtin(true).rule_like("bash", "{"), "");
    assert_eq!(command(&"x".repeat(20_000)), "", "nobody would read such a rule");
    assert_eq!(like("bash", &json!({ "command": "./run", "cwd": "sub" })), "");
    assert_eq!(like("a b", &json!({})), "");
}

//! What the texts promise is there: paths in the code map, make targets in the README, a section for this version in
//! the change log. And what scripts may not name: hosts.

use crate::tree::{Finding, Tree, is_test};
use crate::{finds, keeps};
use expect_test::expect;
use regex::Regex;
use std::collections::BTreeSet;

/// Every path that ARCHITECTURE.md or README.md puts in backticks exists.
fn paths_exist(tree: &Tree) -> Vec<Finding> {
    let path =
        Regex::new(r"`((?:\.ci|\.config|benches|events|indexer|runtime|sandbox|tests)/[\w./-]*)`").expect("regex");
    let mut found = Vec::new();
    for file in ["ARCHITECTURE.md", "README.md"] {
        let text = tree.text(file);
        for hit in path.captures_iter(text).filter_map(|captures| captures.get(1)) {
            if !tree.exists(hit.as_str()) {
                found.push(Finding::at(file, text, hit.start(), format!("`{}` does not exist", hit.as_str())));
            }
        }
    }
    found
}

/// Every folder of sources has its line in the code map.
fn map_is_whole(tree: &Tree) -> Vec<Finding> {
    let map = tree.text("ARCHITECTURE.md");
    let mut folders = BTreeSet::new();
    for (path, _) in tree.product().filter(|(path, _)| !is_test(path)) {
        if let Some((crate_folder, inner)) = path.split_once("/src/") {
            folders.insert(match inner.split_once('/') {
                Some((module, _)) => format!("{crate_folder}/src/{module}/"),
                None => format!("{crate_folder}/"),
            });
        }
    }
    let missing = folders.into_iter().filter(|folder| !map.contains(&format!("`{folder}`")));
    missing.map(|folder| Finding::file("ARCHITECTURE.md", format!("the code map has no line for `{folder}`"))).collect()
}

/// The README shows the two commands, and no target that is not there.
fn readme_commands(tree: &Tree) -> Vec<Finding> {
    let (readme, makefile) = (tree.text("README.md"), tree.text("Makefile"));
    let mut found = Vec::new();
    for command in ["make demo", "make test"] {
        if !readme.contains(command) {
            found.push(Finding::file("README.md", format!("does not show `{command}`")));
        }
    }
    let target = Regex::new(r"(?m)(?:^|`)make ([a-z][a-z-]*)").expect("regex");
    for hit in target.captures_iter(readme).filter_map(|captures| captures.get(1)) {
        if !makefile.lines().any(|line| line.starts_with(&format!("{}:", hit.as_str()))) {
            found.push(Finding::at(
                "README.md",
                readme,
                hit.start(),
                format!("the Makefile has no `{}`", hit.as_str()),
            ));
        }
    }
    found
}

/// The change log has a section for what is not released yet or for the version in Cargo.toml.
fn change_log(tree: &Tree) -> Vec<Finding> {
    let manifest: toml::Table = tree.text("Cargo.toml").parse().expect("Cargo.toml is TOML");
    let version = manifest["workspace"]["package"]["version"].as_str().expect("a version").to_owned();
    let log = tree.text("CHANGELOG.md");
    let has_section = ["## [Unreleased]".to_owned(), format!("## [{version}]")].iter().any(|it| log.contains(it));
    if has_section {
        Vec::new()
    } else {
        vec![Finding::file("CHANGELOG.md", format!("no section for {version} or [Unreleased]"))]
    }
}

/// Scripts and settings reach hosts only through the package managers, as the machine has set them up; code names the
/// one service it is made for, and its comments may link to what they explain. Loopback and the names kept for examples are free.
fn hosts(tree: &Tree) -> Vec<Finding> {
    let url = Regex::new(r"\b(?:https?|nats|tls|wss?)://([^\s/:?#'\x22`<>()\[\]{},]+)").expect("regex");
    let free = Regex::new(
        r"^(localhost|127\.[\d.]+|0\.0\.0\.0|\$.*|.*\.?example(\.com|\.org|\.net)?|.*\.(test|invalid)|host|…|nats-\d)$",
    );
    let free = free.expect("regex");
    let mut found = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| !is_prose(path)) {
        for captures in url.captures_iter(text) {
            let (whole, host) = (captures.get(0).expect("whole"), captures.get(1).expect("host").as_str());
            let is_fine_in_rust = host == "api.anthropic.com" || before_on_line(text, whole.start()).contains("//");
            let is_fine = free.is_match(host) || (path.ends_with(".rs") && is_fine_in_rust);
            if !is_fine {
                found.push(Finding::at(path, text, whole.start(), format!("names the host `{host}`")));
            }
        }
    }
    found
}

/// Tests, texts for people, the licence, lists that tools write, recorded data, what the played model says: links in them are
/// not acted on.
fn is_prose(path: &str) -> bool {
    let is_text = [".md", ".lock", ".jsonl"].iter().any(|ending| path.ends_with(ending));
    is_text || is_test(path) || matches!(path, "LICENSE" | "runtime/src/demo/demo.toml")
}

fn before_on_line(text: &str, offset: usize) -> &str {
    let start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    &text[start..offset]
}

#[test]
fn paths_in_the_texts_exist() {
    keeps(paths_exist);
    let example =
        [("README.md", "see `events/src/lib.rs`,\n`events/src/` and `runtime/nowhere.rs`"), ("events/src/lib.rs", "")];
    finds(
        paths_exist,
        &example,
        expect![[r#"
        README.md:2: `runtime/nowhere.rs` does not exist
    "#]],
    );
}

#[test]
fn the_code_map_is_whole() {
    keeps(map_is_whole);
    let example = [
        ("ARCHITECTURE.md", "`events/` and `events/src/log/`"),
        ("events/src/lib.rs", ""),
        ("events/src/log/mod.rs", ""),
        ("events/src/fold/deep/x.rs", ""),
        ("events/src/tests/mod.rs", ""),
        ("sandbox/guest/src/main.rs", ""),
    ];
    finds(
        map_is_whole,
        &example,
        expect![[r#"
            ARCHITECTURE.md: the code map has no line for `events/src/fold/`
            ARCHITECTURE.md: the code map has no line for `sandbox/guest/`
        "#]],
    );
}

#[test]
fn the_readme_shows_commands_that_work() {
    keeps(readme_commands);
    let example =
        [("README.md", "run\n\nmake demo\n\nor `make fly`; make do with it"), ("Makefile", "demo: build\n\tx\n")];
    finds(
        readme_commands,
        &example,
        expect![[r#"
            README.md: does not show `make test`
            README.md:5: the Makefile has no `fly`
        "#]],
    );
}

#[test]
fn the_change_log_has_a_section_for_now() {
    keeps(change_log);
    let manifest = "[workspace.package]\nversion = \"0.2.0\"";
    finds(
        change_log,
        &[("Cargo.toml", manifest), ("CHANGELOG.md", "## [0.1.0]")],
        expect![[r#"
            CHANGELOG.md: no section for 0.2.0 or [Unreleased]
        "#]],
    );
}

#[test]
fn no_file_fetches_from_a_host_of_its_own() {
    keeps(hosts);
    let example = [
        (
            ".ci/setup",
            "curl https://files.somewhere.net/x\ncurl http://127.0.0.1:1/\nu=$(cat p)\ncurl \"http://$u/\"\n",
        ),
        ("README.md", "https://anything.net"),
        (
            "a/src/x.rs",
            "// see https://docs.net/x\nlet a = \"https://evil.net\";\nlet b = \"https://api.anthropic.com\";\nlet c = \"http://mirror.example\";\n",
        ),
    ];
    finds(
        hosts,
        &example,
        expect![[r#"
            .ci/setup:1: names the host `files.somewhere.net`
            a/src/x.rs:2: names the host `evil.net`
        "#]],
    );
}

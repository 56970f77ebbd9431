//! Tests of the demo's material.

use super::crate_source::CrateSource;
use super::{LAST_STEP, Playground, SCRIPT, manifest};
use crate::scripted::Script;
use std::path::Path;

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn the_script_is_sound_and_ends_as_the_command_expects() {
    Script::parse(SCRIPT).unwrap();
    let steps: Vec<&str> = SCRIPT.lines().filter_map(|line| line.strip_prefix("name = \"")).collect();
    assert!(steps.contains(&format!("{LAST_STEP}\"").as_str()), "{steps:?}");
}

#[test]
fn the_newest_version_is_taken() {
    let root = tempfile::tempdir().unwrap();
    for (registry, name) in [
        ("a", "regex-syntax-0.8.9"),
        ("b", "regex-syntax-0.8.11"),
        ("a", "regex-syntax-0.7.5"),
        ("a", "regex-1.9.0"),
        ("a", "regex-syntax-0.9.0-rc.1"),
    ] {
        write(&root.path().join(registry).join(name).join("Cargo.toml"), "");
    }
    assert_eq!(CrateSource::newest_in(root.path()).unwrap().name, "regex-syntax-0.8.11");
    assert!(CrateSource::newest_in(&root.path().join("nothing")).is_err());
}

#[test]
fn sources_are_counted_without_ballast_and_links() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("c-1.0.0");
    write(&path.join("Cargo.toml"), "");
    write(&path.join("src/lib.rs"), "1\n2\n3\n");
    write(&path.join("src/target/mod.rs"), "4\n");
    write(&path.join("target/debug/out.rs"), "x\n");
    write(&path.join(".git/config"), "x\n");
    write(&path.join(".gitignore"), "src\n");
    std::os::unix::fs::symlink("/etc/passwd", path.join("src/link.rs")).unwrap();
    let source = CrateSource::at(&path).unwrap();
    let files: Vec<&str> = source.files.iter().map(|file| file.to_str().unwrap()).collect();
    assert_eq!(files, [".gitignore", "Cargo.toml", "src/lib.rs", "src/target/mod.rs"]);
    assert_eq!((source.lines, source.name.as_str()), (4, "c-1.0.0"));
}

#[test]
fn a_manifest_is_cut_down_to_what_needs_no_network() {
    let cut = manifest::without_network(
        r#"
        [package]
        name = "x"
        [features]
        default = ["std", "a"]
        std = []
        a = ["dep:gone", "std"]
        b = ["gone?/f", "kept/f"]
        [dependencies.gone]
        version = "1"
        optional = true
        [dependencies]
        kept = "1"
        [target.'cfg(unix)'.dependencies]
        also-gone = { version = "1", optional = true }
        [target.'cfg(unix)'.dev-dependencies]
        d = "1"
        [dev-dependencies]
        e = "1"
        [[bench]]
        name = "y"
        "#,
    )
    .unwrap();
    let table: toml::Table = cut.parse().unwrap();
    assert_eq!(table["dependencies"].as_table().unwrap().keys().collect::<Vec<_>>(), ["kept"]);
    assert_eq!(table["features"]["a"], toml::Value::from(vec!["std"]));
    assert_eq!(table["features"]["b"], toml::Value::from(vec!["kept/f"]));
    assert_eq!(table["features"]["default"], toml::Value::from(vec!["std", "a"]));
    assert!(table.contains_key("workspace"));
    for gone in ["also-gone", "dev-dependencies", "bench"] {
        assert!(!cut.contains(gone), "{gone}:\n{cut}");
    }
    assert_eq!(manifest::without_network("not [ toml"), None);
}

#[test]
fn the_copy_can_be_changed_and_the_difference_seen() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("c-1.0.0");
    write(&path.join("Cargo.toml"), "[package]\nname = \"c\"\n");
    write(&path.join("Cargo.lock"), "version = 4\n");
    write(&path.join("src/lib.rs"), "one\ntwo\nthree\n");
    let file = path.join("src/lib.rs");
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o444)).unwrap();
    let copy = Playground::make(CrateSource::at(&path).unwrap(), &root.path().join("copy")).unwrap();
    assert_eq!(copy.diff(), "");
    assert!(!copy.path.join("Cargo.lock").exists());
    assert!(std::fs::read_to_string(copy.path.join("Cargo.toml")).unwrap().contains("[workspace]"));
    std::fs::write(copy.path.join("src/lib.rs"), "one\n2\nthree\n").unwrap();
    assert_eq!(copy.diff(), "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
    assert!(Playground::make(CrateSource::at(&path).unwrap(), &copy.path).is_err());
}

#[test]
fn only_old_copies_are_pruned() {
    let root = tempfile::tempdir().unwrap();
    for name in ["old", "new"] {
        write(&root.path().join(name).join("file"), "");
    }
    let yesterday = std::time::SystemTime::now() - std::time::Duration::from_secs(25 * 3_600);
    std::fs::File::open(root.path().join("old")).unwrap().set_modified(yesterday).unwrap();
    Playground::prune(root.path());
    assert!(!root.path().join("old").exists() && root.path().join("new").exists());
}

/// The demo's script as it is written.
fn steps() -> Vec<toml::Table> {
    let script: toml::Table = SCRIPT.parse().unwrap();
    script["step"].as_array().unwrap().iter().map(|step| step.as_table().unwrap().clone()).collect()
}

fn name(step: &toml::Table) -> &str {
    step["name"].as_str().unwrap()
}

fn named(step: &str) -> toml::Table {
    steps().into_iter().find(|other| name(other) == step).unwrap()
}

/// The inputs of the step's calls of `tool`.
fn inputs(step: &toml::Table, tool: &str) -> Vec<toml::Table> {
    let blocks = step["block"].as_array().unwrap().iter().map(|block| block.as_table().unwrap());
    let calls = blocks.filter(|block| block.get("name").and_then(toml::Value::as_str) == Some(tool));
    calls.filter_map(|call| Some(call.get("input")?.as_table()?.clone())).collect()
}

/// The results that lead from each step to the next, as the tools of this project write them.
const RESULTS: [(&str, &str); 5] = [
    ("read", "src/error.rs:224:    fn notate_line(&self, i: usize) -> Option<String> {"),
    (
        "test",
        "        let mut pos = 0;\n        for span in spans {\n…\n// See: https://github.com/rust-lang/regex/issues/464",
    ),
    ("fix", "exit code: 101\ntest error::tests::caret_behind_a_tab ... FAILED\n"),
    ("check", "exit code: 0\ntest error::tests::caret_behind_a_tab ... ok\n\ntest result: ok. 3 passed; 0 failed\n"),
    ("done", "exit code: 0\ntest result: ok. 123 passed; 0 failed; 0 ignored\n"),
];

#[test]
fn every_condition_compiles_and_fits_the_results_it_was_written_for() {
    let when = |step: &toml::Table| step.get("when").map(|when| regex::Regex::new(when.as_str().unwrap()).unwrap());
    assert!(steps().iter().filter_map(when).count() >= RESULTS.len());
    for (step, result) in RESULTS {
        assert!(when(&named(step)).unwrap().is_match(result), "{step}");
    }
    let passed = when(&named("done")).unwrap().captures(RESULTS[4].1).unwrap()["passed"].to_owned();
    assert_eq!(passed, "123");
    // A failure never passes for a success, nor a success for the failure that the test has to show first.
    let failed =
        "exit code: 101\ntest error::tests::caret_behind_a_tab ... FAILED\ntest result: FAILED. 2 passed; 1 failed\n";
    for (step, result) in [("check", failed), ("done", failed), ("fix", RESULTS[3].1), ("no_failure", failed)] {
        assert!(!when(&named(step)).unwrap().is_match(result), "{step}");
    }
}

#[test]
fn every_step_can_be_reached_and_every_way_ends() {
    let all = steps();
    let names: Vec<&str> = all.iter().map(name).collect();
    let mut reached = vec![names[0].to_owned()];
    let mut at = 0;
    while let Some(step) = reached.get(at).map(|step| named(step)) {
        at += 1;
        let next: Vec<String> = step
            .get("next")
            .map(|next| next.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect())
            .unwrap_or_default();
        let calls = step["block"].as_array().unwrap().iter().any(|block| block["type"].as_str() == Some("tool_use"));
        // Calls want an answer to their results, and without calls the turn is over.
        assert_eq!(calls, !next.is_empty(), "{}", name(&step));
        // The last way out is open whatever comes.
        assert!(next.last().is_none_or(|last| named(last).get("when").is_none()), "{}", name(&step));
        reached.extend(next.into_iter().filter(|name| !reached.contains(name)).collect::<Vec<_>>());
    }
    let missed: Vec<&&str> = names.iter().filter(|name| !reached.iter().any(|step| step == *name)).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn the_edits_fit_the_crate_on_this_machine() {
    // Cargo keeps the sources, since this crate uses regex; elsewhere there is nothing to hold the edits against.
    let Ok(source) = CrateSource::find(|name| std::env::var(name).ok()) else {
        assert!(!inputs(&named("fix"), "edit_file").is_empty());
        return;
    };
    let mut text = std::fs::read_to_string(source.path.join("src/error.rs")).unwrap();
    for edit in ["test", "fix"].iter().flat_map(|step| inputs(&named(step), "edit_file")) {
        assert_eq!(edit["path"].as_str(), Some("src/error.rs"));
        let (old, new) = (edit["old_string"].as_str().unwrap(), edit["new_string"].as_str().unwrap());
        assert_eq!(text.matches(old).count(), 1, "{} in {}", old, source.name);
        text = text.replacen(old, new, 1);
        assert_eq!(text.matches(new).count(), 1, "{new}");
    }
    assert!(text.contains("fn caret_behind_a_tab()") && text.contains("let is_tab = "));
}

#[test]
fn what_the_script_runs_stays_in_the_crate_and_off_the_network() {
    let runs: Vec<toml::Table> = steps().iter().flat_map(|step| inputs(step, "bash")).collect();
    assert_eq!(runs.len(), 3);
    for run in &runs {
        let command = run["command"].as_str().unwrap();
        assert!(command.starts_with("cargo test --offline --lib"), "{command}");
        assert!(run["timeout_ms"].as_integer().unwrap() <= 300_000, "{command}");
    }
    for step in steps() {
        for tool in ["read_file", "edit_file", "list_dir", "search_files"] {
            for input in inputs(&step, tool) {
                let path = input["path"].as_str().unwrap();
                assert!(path.starts_with("src") && !path.contains(".."), "{path}");
            }
        }
    }
}

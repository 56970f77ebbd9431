//! What stands at the top, which crate may depend on which, and which crates of others are confined to one of ours.

use crate::tree::{Finding, Tree};
use crate::{finds, keeps};
use expect_test::expect;
use std::collections::BTreeSet;
use toml::{Table, Value};

/// The whole top level. It is fixed: a new thing goes into one of these rooms.
const TOP: &[&str] = &[
    ".ci",
    ".clippy.toml",
    ".config",
    ".deny.toml",
    ".editorconfig",
    ".env.example",
    ".gitattributes",
    ".gitignore",
    ".rustfmt.toml",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "Makefile",
    "README.md",
    "benches",
    "compose.yaml",
    "events",
    "indexer",
    "runtime",
    "sandbox",
    "tests",
];

/// Each crate of the workspace, where it is, and which others it may name.
const CRATES: &[(&str, &str, &[&str])] = &[
    ("retrace-events", "events", &[]),
    ("retrace-indexer", "indexer", &["retrace-events"]),
    ("retrace-guest", "sandbox/guest", &[]),
    ("retrace-sandbox", "sandbox", &["retrace-events", "retrace-guest"]),
    ("retrace-runtime", "runtime", &["retrace-events", "retrace-indexer", "retrace-sandbox"]),
    (
        "retrace-tests",
        "tests",
        &["retrace-events", "retrace-indexer", "retrace-sandbox", "retrace-guest", "retrace-runtime"],
    ),
    (
        "retrace-benches",
        "benches",
        &["retrace-events", "retrace-indexer", "retrace-sandbox", "retrace-guest", "retrace-runtime"],
    ),
];

/// Crates of others that only one of our product crates may name.
const CONFINED: &[(&str, &str)] = &[
    ("async-nats", "retrace-events"),
    ("bincode", "retrace-events"),
    ("rusqlite", "retrace-events"),
    ("rusqlite", "retrace-sandbox"),
    ("bollard", "retrace-sandbox"),
    ("fastembed", "retrace-indexer"),
    ("lancedb", "retrace-indexer"),
    ("tantivy", "retrace-indexer"),
];

/// Nothing but [`TOP`] at the top.
fn top_level(tree: &Tree) -> Vec<Finding> {
    let names: BTreeSet<&str> = tree.files().map(|(path, _)| path.split('/').next().unwrap_or(path)).collect();
    let stray = names.into_iter().filter(|name| !TOP.contains(name));
    stray.map(|name| Finding::file(name, "the top level is fixed; find it a place in one of the rooms")).collect()
}

/// The members of the workspace are the crates of [`CRATES`], and each manifest keeps their direction.
fn direction(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, manifest) in manifests(tree) {
        let name =
            manifest.get("package").and_then(|package| package.get("name")).and_then(Value::as_str).unwrap_or("");
        let Some((_, folder, allowed)) = CRATES.iter().find(|(known, _, _)| *known == name) else {
            found.push(Finding::file(path, format!("crate `{name}` is not one of ours")));
            continue;
        };
        if path != format!("{folder}/Cargo.toml") {
            found.push(Finding::file(path, format!("`{name}` belongs to {folder}/")));
        }
        for (dependency, _, _) in dependencies(&manifest) {
            // A crate may name itself as a dev-dependency, to switch on its own test features.
            if dependency.starts_with("retrace-") && dependency != name && !allowed.contains(&dependency) {
                found.push(Finding::file(path, format!("`{name}` may not depend on `{dependency}`")));
            }
        }
    }
    found
}

/// [`CONFINED`], for what is shipped: tests and benches may name them.
fn confinement(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, manifest) in manifests(tree) {
        for (dependency, table, _) in dependencies(&manifest) {
            let homes: Vec<&str> =
                CONFINED.iter().filter(|(known, _)| *known == dependency).map(|(_, home)| *home).collect();
            let room =
                CRATES.iter().find(|(_, folder, _)| path == format!("{folder}/Cargo.toml")).map_or("", |it| it.0);
            let is_product = table != "dev-dependencies" && !matches!(room, "retrace-tests" | "retrace-benches");
            if is_product && !homes.is_empty() && !homes.contains(&room) {
                let homes = homes.join("` and `");
                found.push(Finding::file(path, format!("`{dependency}` is named by `{homes}` only")));
            }
        }
    }
    found
}

/// One place for versions and lints: the root manifest.
fn inherits(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, manifest) in manifests(tree) {
        let has_lints = manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(Value::as_bool);
        if has_lints != Some(true) {
            found.push(Finding::file(path, "has no `[lints] workspace = true`"));
        }
        for (dependency, _, value) in dependencies(&manifest) {
            let is_inherited = value.get("workspace").and_then(Value::as_bool) == Some(true);
            if !is_inherited && value.get("path").and_then(Value::as_str) != Some(".") {
                found.push(Finding::file(path, format!("`{dependency}` takes its version from the root Cargo.toml")));
            }
        }
    }
    found
}

/// The manifests of the members; what is a workspace of its own (fuzzing) is none.
fn manifests(tree: &Tree) -> impl Iterator<Item = (&str, Table)> {
    let found = tree.files().filter(|(path, _)| path.ends_with("/Cargo.toml"));
    let read = found.map(|(path, text)| {
        let manifest: Table = text.parse().unwrap_or_else(|error| panic!("{path}: {error}"));
        (path, manifest)
    });
    read.filter(|(_, manifest)| !manifest.contains_key("workspace"))
}

/// Name, table and value of each dependency, those for one target only included.
fn dependencies(manifest: &Table) -> Vec<(&str, &str, &Value)> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let tables = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table).chain([manifest]);
    let mut all = Vec::new();
    for table in tables {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for (name, value) in table.get(kind).and_then(Value::as_table).into_iter().flatten() {
                let renamed = value.get("package").and_then(Value::as_str);
                all.push((renamed.unwrap_or(name), kind, value));
            }
        }
    }
    all
}

#[test]
fn only_the_fixed_names_stand_at_the_top() {
    keeps(top_level);
    let example =
        [("README.md", ""), ("docs/a.md", ""), ("docs/b.md", ""), ("events/src/lib.rs", ""), ("notes.txt", "")];
    finds(
        top_level,
        &example,
        expect![[r#"
            docs: the top level is fixed; find it a place in one of the rooms
            notes.txt: the top level is fixed; find it a place in one of the rooms
        "#]],
    );
}

#[test]
fn dependencies_go_one_way() {
    keeps(direction);
    let example = [
        (
            "events/Cargo.toml",
            "[package]\nname = \"retrace-events\"\n[dependencies]\nretrace-runtime.workspace = true\nserde = \"1\"",
        ),
        ("events/x/Cargo.toml", "[package]\nname = \"retrace-extra\""),
        (
            "indexer/Cargo.toml",
            "[package]\nname = \"retrace-indexer\"\n[target.'cfg(unix)'.dev-dependencies]\nx = { package = \"retrace-sandbox\" }",
        ),
        (
            "sandbox/Cargo.toml",
            "[package]\nname = \"retrace-runtime\"\n[dependencies]\nretrace-indexer.workspace = true",
        ),
    ];
    finds(
        direction,
        &example,
        expect![[r#"
            events/Cargo.toml: `retrace-events` may not depend on `retrace-runtime`
            events/x/Cargo.toml: crate `retrace-extra` is not one of ours
            indexer/Cargo.toml: `retrace-indexer` may not depend on `retrace-sandbox`
            sandbox/Cargo.toml: `retrace-runtime` belongs to runtime/
        "#]],
    );
}

#[test]
fn each_large_dependency_has_one_home() {
    keeps(confinement);
    let example = [
        ("events/Cargo.toml", "[dependencies]\nbincode.workspace = true\nbollard.workspace = true"),
        (
            "runtime/Cargo.toml",
            "[build-dependencies]\nrusqlite.workspace = true\n[dev-dependencies]\nasync-nats.workspace = true",
        ),
        ("tests/Cargo.toml", "[dependencies]\nasync-nats.workspace = true"),
    ];
    finds(
        confinement,
        &example,
        expect![[r#"
            events/Cargo.toml: `bollard` is named by `retrace-sandbox` only
            runtime/Cargo.toml: `rusqlite` is named by `retrace-events` and `retrace-sandbox` only
        "#]],
    );
}

#[test]
fn versions_and_lints_come_from_the_root() {
    keeps(inherits);
    let example = [
        (
            "events/Cargo.toml",
            "[lints]\nworkspace = true\n[dependencies]\nserde = \"1\"\na = { workspace = true }\n[dev-dependencies]\nb = { path = \".\" }",
        ),
        ("indexer/Cargo.toml", ""),
    ];
    finds(
        inherits,
        &example,
        expect![[r#"
            events/Cargo.toml: `serde` takes its version from the root Cargo.toml
            indexer/Cargo.toml: has no `[lints] workspace = true`
        "#]],
    );
}

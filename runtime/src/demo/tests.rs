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

//! `retrace demo`, on a crate made up for the test.

use super::Machine;
use crate::cli::Exit;
use std::path::PathBuf;

/// A crate of a few lines.
fn small_crate(machine: &Machine) -> PathBuf {
    let path = machine.folders.cache.parent().unwrap().with_file_name("small-1.0.0");
    std::fs::create_dir_all(path.join("src")).unwrap();
    std::fs::write(path.join("Cargo.toml"), "[package]\nname = \"small\"\nversion = \"1.0.0\"\n").unwrap();
    std::fs::write(path.join("src/lib.rs"), "/// One.\npub fn one() -> u8 {\n    2\n}\n").unwrap();
    path
}

const SCRIPT: &str = r#"
[[step]]
[[step.block]]
type = "tool_use"
name = "edit_file"
input = { path = "src/lib.rs", old_string = "    2", new_string = "    1" }
[[step]]
[[step.block]]
type = "text"
text = "One is one now."
"#;

#[tokio::test]
async fn another_script_on_another_crate() {
    let machine = Machine::alone();
    let source = small_crate(&machine);
    let script = source.with_file_name("script.toml");
    std::fs::write(&script, SCRIPT).unwrap();
    let keep = source.with_file_name("kept");
    let (source, script, keep) = (source.to_str().unwrap(), script.to_str().unwrap(), keep.to_str().unwrap());
    let args = ["demo", "--crate-dir", source, "--script", script, "--task", "fix it", "--keep", keep];
    let ran = machine.run(&args).await;
    assert_eq!(ran.exit, Exit::Done, "{ran:?}");
    for expected in [
        "One is one now.\n",
        "-    2\n+    1\n",
        "all 2 requests render to the bytes",
        "the server's own hashes of the 2 requests it received agree\n",
    ] {
        assert!(ran.out.contains(expected), "{expected:?} is missing in:\n{}", ran.out);
    }
    assert!(ran.err.contains("crate: small-1.0.0, 4 lines of Rust, copied to "), "{}", ran.err);
    assert!(std::fs::read_to_string(format!("{keep}/src/lib.rs")).unwrap().contains("    1\n"));
    assert!(
        std::fs::read_to_string(format!("{source}/src/lib.rs")).unwrap().contains("    2\n"),
        "the original was touched"
    );
    let again = machine.run(&args).await;
    assert!(again.exit == Exit::Usage && again.err.contains("is not empty"), "{again:?}");
}

#[tokio::test]
async fn the_built_in_script_says_when_it_is_lost() {
    let machine = Machine::alone();
    let source = small_crate(&machine);
    let ran = machine.run(&["demo", "--crate-dir", source.to_str().unwrap(), "--json"]).await;
    assert_eq!(ran.exit, Exit::Failed, "{ran:?}");
    let last: serde_json::Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
    assert_eq!((&last["demo"]["last_step"], &last["demo"]["server_agrees"]), (&"lost".into(), &true.into()));
    assert_eq!(last["demo"]["diff"], "");
}

#[tokio::test]
async fn without_sources_there_is_a_hint() {
    let mut machine = Machine::alone();
    let empty = machine.folders.cache.display().to_string();
    machine.set("CARGO_HOME", &empty);
    let ran = machine.run(&["demo"]).await;
    assert!(
        ran.exit == Exit::Usage && ran.err.contains("no sources of regex-syntax") && ran.err.contains("hint: "),
        "{ran:?}"
    );
    let ran = machine.run(&["demo", "--crate-dir", machine.workspace.to_str().unwrap()]).await;
    assert!(ran.exit == Exit::Usage && ran.err.contains("it has no Cargo.toml"), "{ran:?}");
    std::fs::write(machine.workspace.join("bad.toml"), "[[step]]\nwhen = \"(\"\n").unwrap();
    let script = machine.workspace.join("bad.toml");
    let ran = machine.run(&["demo", "--script", script.to_str().unwrap()]).await;
    assert!(ran.exit == Exit::Usage && ran.err.contains("bad.toml: script, line 2"), "{ran:?}");
}

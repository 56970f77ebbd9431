//! `export`, `import` and `log copy` when something is wrong: the place is named, and what was there stays.

use super::Machine;
use super::made::{self, prompted, put, started, stream};
use crate::cli::Exit;
use retrace_events::jsonl;
use retrace_events::testing::{EventMaker, example_payloads};
use std::path::{Path, PathBuf};

/// A path beside the machine's workspace.
fn beside(machine: &Machine, name: &str) -> PathBuf {
    machine.workspace.with_file_name(name)
}

fn file(machine: &Machine, name: &str, bytes: &[u8]) -> String {
    let path = beside(machine, name);
    std::fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

/// Three lines of an export.
fn three_lines(machine: &Machine) -> Vec<String> {
    let mut maker = EventMaker::new(stream(machine, "made-1"), 5);
    maker.prompts(3).iter().map(|envelope| jsonl::export_line(envelope).unwrap()).collect()
}

fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_bad_line_is_named_by_its_number_whatever_is_wrong_with_it() {
    let machine = Machine::alone();
    let lines = three_lines(&machine);
    let tampered = lines[1].replacen("made-1", "made-2", 1);
    let cut = &lines[1][..lines[1].len() / 2];
    let bad: [(&[u8], &str); 8] = [
        (b"not JSON", "not a line of an export"),
        (b"[]", "not a line of an export"),
        (b"{}", "not a line of an export"),
        (b"null", "not a line of an export"),
        (b"{\"seq\":-1}", "not a line of an export"),
        (b"\xff\xfe", "not UTF-8"),
        (cut.as_bytes(), "not a line of an export"),
        (tampered.as_bytes(), "was changed"),
    ];
    for (bytes, said) in bad {
        // Empty lines count.
        let text = [lines[0].as_bytes(), b"\n\n  \n", bytes, b"\n", lines[2].as_bytes(), b"\n"].concat();
        let path = file(&machine, "bad.jsonl", &text);
        let ran = machine.run(&["import", &path]).await;
        assert_eq!((ran.exit, ran.out.as_str()), (Exit::Failed, ""), "{said}: {ran:?}");
        assert!(ran.err.starts_with(&format!("error: {path}:4: ")) && ran.err.contains(said), "{said}: {ran:?}");
        assert_eq!(machine.sessions().await, [], "{said}");
        assert!(!machine.folders.imported_file().exists(), "{said}");
    }
}

#[tokio::test]
async fn empty_lines_and_line_ends_of_other_systems_do_not_matter() {
    let machine = Machine::alone();
    let path = file(&machine, "odd.jsonl", format!("\n  {}\r\n", three_lines(&machine).join("  \r\n\r\n")).as_bytes());
    assert_eq!(machine.out(&["import", &path]).await, "3 events imported into 1 stream (0 already there)\n");
    let path = file(&machine, "empty.jsonl", b"\n\n");
    assert_eq!(machine.out(&["import", &path]).await, "0 events imported into 0 streams (0 already there)\n");
}

#[tokio::test]
async fn import_says_which_sessions_came_and_only_once() {
    let machine = Machine::alone();
    let path = file(&machine, "some.jsonl", three_lines(&machine).join("\n").as_bytes());
    let ran = machine.run(&["import", &path, "--json"]).await;
    let told: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(told, serde_json::json!({ "streams": 1, "stored": 3, "present": 0, "blobs": 0, "snapshots": 0 }));
    assert_eq!(ran.err, "session made-1\n");
    let again = machine.run(&["import", &path]).await;
    assert_eq!((again.exit, again.err.as_str()), (Exit::Done, ""));
    let list = std::fs::read_to_string(machine.folders.imported_file()).unwrap();
    let list: Vec<String> = serde_json::from_str(&list).unwrap();
    assert_eq!(list, [stream(&machine, "made-1").subject()]);
}

#[tokio::test]
async fn a_folder_or_a_missing_file_cannot_be_imported() {
    let machine = Machine::alone();
    let missing = beside(&machine, "missing").display().to_string();
    let ran = machine.run(&["import", &missing]).await;
    assert_eq!(ran.exit, Exit::Usage);
    assert!(ran.err.starts_with(&format!("error: cannot read {missing}: No such file")), "{ran:?}");
    let ran = machine.run(&["import", machine.workspace.to_str().unwrap()]).await;
    assert!(ran.exit == Exit::Usage && ran.err.contains("cannot read "), "{ran:?}");
}

#[tokio::test]
async fn a_file_that_was_there_stays_when_the_export_fails() {
    let machine = Machine::alone();
    put(&machine, "good-1", &[started("t"), prompted("x")]).await;
    // A session with an output that is not in the log any more cannot be exported whole.
    put(&machine, "gone-2", &example_payloads()).await;
    let folder = beside(&machine, "out");
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("export.jsonl");
    std::fs::write(&path, "what was there").unwrap();
    let name = path.display().to_string();
    let ran = machine.run(&["export", "gone-2", "-o", &name]).await;
    assert_ne!(ran.exit, Exit::Done, "{ran:?}");
    assert!(ran.err.starts_with("error: "), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "what was there");
    assert_eq!(machine.run(&["export", "unknown", "-o", &name]).await.exit, Exit::NotFound);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "what was there");
    assert_eq!(entries(&folder), ["export.jsonl"], "a half-written file was left behind");

    let ran = machine.run(&["export", "good-1", "-o", &name]).await;
    assert_eq!((ran.exit, ran.err), (Exit::Done, format!("2 lines to {name}\n")));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), machine.out(&["export", "good-1"]).await);
    assert_eq!(entries(&folder), ["export.jsonl"]);
}

#[tokio::test]
async fn an_export_does_not_replace_a_folder_and_a_dash_is_stdout() {
    let machine = Machine::alone();
    put(&machine, "good-1", &[started("t"), prompted("x")]).await;
    let folder = beside(&machine, "folder");
    std::fs::create_dir(&folder).unwrap();
    let ran = machine.run(&["export", "good-1", "-o", folder.to_str().unwrap()]).await;
    assert!(ran.exit == Exit::Failed && ran.err.contains("cannot write "), "{ran:?}");
    assert!(folder.is_dir());
    let plain = machine.out(&["export", "good-1"]).await;
    assert_eq!(machine.out(&["export", "good-1", "-o", "-", "--jsonl"]).await, plain);
    assert_eq!(machine.out(&["--json", "export", "good-1"]).await, plain);
    assert!(!Path::new("-").exists());
}

#[tokio::test]
async fn a_copy_leaves_out_other_sessions_and_goes_on_where_it_stopped() {
    let machine = Machine::alone();
    let mut maker = EventMaker::new(stream(&machine, "grows-1"), 4);
    made::append(&machine, &maker.prompts(450)).await;
    put(&machine, "other-2", &[started("t")]).await;
    let target = beside(&machine, "copy").display().to_string();
    // More than two pages and four batches.
    let copied = machine.out(&["log", "copy", "--to", &target, "grows"]).await;
    assert_eq!(copied, "450 events copied, 0 already there\n");
    assert_eq!(
        machine.out(&["log", "info", "--log", &target]).await.matches("1 session, 1 stream, 450 events").count(),
        1
    );
    made::append(&machine, &maker.prompts(7)).await;
    let json = machine.out(&["log", "copy", "--to", &target, "grows", "--json"]).await;
    let told: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(told, serde_json::json!({ "streams": 1, "stored": 7, "present": 450, "blobs": 0 }));
    assert_eq!(machine.out(&["export", "grows", "--log", &target]).await, machine.out(&["export", "grows"]).await);
    assert_eq!(machine.out(&["log", "verify", "--log", &target]).await, "1 stream sound, 457 events\n");
}

#[tokio::test]
async fn a_copy_over_a_session_that_went_on_differently_changes_nothing() {
    let machine = Machine::alone();
    let mut mine = EventMaker::new(stream(&machine, "same-1"), 4);
    let first = mine.prompts(2);
    made::append(&machine, &first).await;
    let target = beside(&machine, "copy").display().to_string();
    machine.out(&["log", "copy", "--to", &target, "--all"]).await;
    made::append(&machine, &mine.prompts(2)).await;
    let other = retrace_events::log::open_log(&target.parse().unwrap()).await.unwrap();
    let last = (1, first[1].hash().unwrap());
    other.append(&[EventMaker::behind(stream(&machine, "same-1"), 99, last).prompt("elsewhere")]).await.unwrap();
    drop(other);
    let before = machine.out(&["export", "--all", "--log", &target]).await;
    let ran = machine.run(&["log", "copy", "--to", &target, "--all"]).await;
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Failed, ""), "{ran:?}");
    assert!(ran.err.contains("same-1 exists already, with other events from event 2 on"), "{ran:?}");
    assert!(ran.err.contains("hint: nothing was changed"), "{ran:?}");
    assert_eq!(machine.out(&["export", "--all", "--log", &target]).await, before);
}

#[tokio::test]
async fn odd_targets_of_a_copy_are_refused() {
    let machine = Machine::alone();
    put(&machine, "good-1", &[started("t")]).await;
    let state = machine.folders.state.display().to_string();
    for own in [state.clone(), format!("{state}/"), format!("{state}/.")] {
        let ran = machine.run(&["log", "copy", "--to", &own, "--all"]).await;
        assert_eq!(ran.exit, Exit::Usage, "{own}: {ran:?}");
        assert!(ran.err.contains("this is the log the sessions are in already"), "{ran:?}");
    }
    for odd in ["redis://host", "http://host:1"] {
        let ran = machine.run(&["log", "copy", "--to", odd, "--all"]).await;
        assert!(ran.exit != Exit::Done && ran.err.starts_with("error: "), "{odd}: {ran:?}");
    }
    let parse =
        |args: &[&str]| crate::cli::command().try_get_matches_from(["retrace", "log", "copy"].iter().chain(args));
    assert!(parse(&["--to", "x"]).is_err(), "neither a session nor --all");
    assert!(parse(&["--to", "x", "s", "--all"]).is_err(), "both a session and --all");
    assert!(parse(&["s"]).is_err(), "no target");
}

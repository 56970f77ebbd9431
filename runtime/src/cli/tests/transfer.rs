//! `export`, `import`, `log copy`: sessions move between logs unharmed, or not at all.

use super::{LOOKS, Machine};
use crate::cli::Exit;

/// A machine with one session, and its export as events alone.
async fn exported() -> (Machine, String, String) {
    let machine = Machine::with(LOOKS).await;
    machine.run(&["run", "the task"]).await;
    let id = machine.session().await;
    let lines = machine.out(&["export", &id, "--no-snapshots"]).await;
    (machine, id, lines)
}

fn file(machine: &Machine, name: &str, text: &str) -> String {
    let path = machine.folders.cache.parent().unwrap().with_file_name(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[tokio::test]
async fn a_session_moves_to_another_machine_and_back() {
    let (machine, id, lines) = exported().await;
    let other = Machine::alone();
    let path = file(&other, "session.jsonl", &lines);
    let said = other.out(&["import", "--jsonl", &path]).await;
    let events = lines.lines().count();
    assert_eq!(said, format!("{events} events imported into 1 stream (0 already there)\n"));
    assert_eq!(other.out(&["export", &id]).await, lines);
    assert_eq!(other.out(&["show", &id, "--json"]).await, machine.out(&["show", &id, "--json"]).await);
    assert!(other.out(&["replay", &id, "--verify"]).await.contains("all 2 requests render"));
    assert_eq!(
        other.out(&["import", &path]).await,
        format!("0 events imported into 1 stream ({events} already there)\n")
    );
    assert_eq!(other.out(&["export", "--all"]).await, lines);
}

#[tokio::test]
async fn the_rest_of_a_session_is_taken_too() {
    let (_machine, id, lines) = exported().await;
    let other = Machine::alone();
    let half: String = lines.split_inclusive('\n').take(4).collect();
    other.out(&["import", &file(&other, "half", &half)]).await;
    let said = other.out(&["import", &file(&other, "all", &lines)]).await;
    assert!(said.ends_with("(4 already there)\n"), "{said}");
    assert_eq!(other.out(&["export", &id]).await, lines);
    // And less than what is there changes nothing.
    other.out(&["import", &file(&other, "half", &half)]).await;
    assert_eq!(other.out(&["export", &id]).await, lines);
}

#[tokio::test]
async fn bad_files_change_nothing() {
    let (_machine, _, lines) = exported().await;
    let all: Vec<&str> = lines.lines().collect();
    let last = all.len() - 1;
    let without_second = [&all[..1], &all[2..]].concat().join("\n");
    let swapped = [&all[..2], &[all[3], all[2]], &all[4..]].concat().join("\n");
    let changed = [&all[..last], &[all[last].replacen("\"seq\":", "\"seq\":1", 1).as_str()]].concat().join("\n");
    let garbage = format!("{lines}this is not JSON\n");
    let cases = [
        (without_second, "does not follow"),
        (swapped, "does not follow"),
        (changed, "was changed"),
        (garbage, &format!(":{}: not a line of an export", all.len() + 1)),
        ("{}".to_owned(), ":1: "),
        ("\u{0}".to_owned(), ":1: "),
    ];
    for (text, said) in cases {
        let other = Machine::alone();
        let ran = other.run(&["import", &file(&other, "bad", &text)]).await;
        assert!(ran.exit != Exit::Done && ran.err.contains(said), "{said}: {ran:?}");
        assert!(other.out(&["log", "info"]).await.contains(" 0 events\n"), "{said}");
    }
    let other = Machine::alone();
    assert_eq!(other.run(&["import", "/nonexistent/file"]).await.exit, Exit::Usage);
}

#[tokio::test]
async fn a_session_that_went_on_differently_is_refused() {
    let (machine, id, lines) = exported().await;
    let other = Machine::with(LOOKS).await;
    let path = file(&other, "session", &lines);
    other.out(&["import", &path]).await;
    let folder = machine.workspace.display().to_string();
    // Both go on, each in its own way.
    machine.run(&["resume", &id, "here"]).await;
    std::fs::create_dir_all(&machine.workspace).unwrap();
    assert_eq!(other.run(&["resume", &id, "there", "--workspace", &folder]).await.exit, Exit::Done);
    let (mine, theirs) = (machine.out(&["export", &id]).await, other.out(&["export", &id]).await);
    assert_ne!(mine, theirs);
    let ran = other.run(&["import", &file(&other, "mine", &mine)]).await;
    assert!(ran.exit == Exit::Failed && ran.err.contains("exists already, with other events from event "), "{ran:?}");
    assert_eq!(other.out(&["export", &id]).await, theirs);
}

#[tokio::test]
async fn redacted_exports_are_for_reading_only() {
    let (machine, id, lines) = exported().await;
    let redacted = machine.out(&["export", &id, "--redact"]).await;
    assert_eq!(redacted.lines().count(), lines.lines().count());
    assert!(!redacted.contains("payload_bytes"));
    let ran = machine.run(&["import", &file(&machine, "redacted", &redacted)]).await;
    assert!(ran.err.contains("redacted export") && ran.err.contains("hint: export again without redaction"), "{ran:?}");
}

#[tokio::test]
async fn a_file_is_written_whole_or_not_at_all() {
    let (machine, id, lines) = exported().await;
    let path = file(&machine, "out.jsonl", "old");
    let ran = machine.run(&["export", &id, "--no-snapshots", "-o", &path]).await;
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Done, ""));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), lines);
    let ran = machine.run(&["export", &id, "-o", "/nonexistent/folder/out"]).await;
    assert!(ran.exit == Exit::Failed && ran.err.contains("cannot write /nonexistent/folder/out"), "{ran:?}");
}

#[tokio::test]
async fn an_imported_session_asks_before_it_works() {
    let (machine, id, lines) = exported().await;
    let other = Machine::with(LOOKS).await;
    other.out(&["import", &file(&other, "session", &lines)]).await;
    let folder = machine.workspace.display().to_string();
    let ran = other.run(&["resume", &id, "go on"]).await;
    assert_eq!(ran.exit, Exit::Usage);
    assert!(
        ran.err
            .contains(&format!("was imported and wants to work in {folder}\nhint: say --workspace {folder} if it may")),
        "{ran:?}"
    );
    let elsewhere = other.run(&["resume", &id, "go on", "--workspace", "."]).await;
    assert!(elsewhere.exit == Exit::Usage && elsewhere.err.contains("cannot move"), "{elsewhere:?}");
    let ran = other.run(&["resume", &id, "go on", "--workspace", &folder]).await;
    assert_eq!(ran.exit, Exit::Done, "{ran:?}");
}

#[tokio::test]
async fn copies_go_to_another_log_and_are_complete() {
    let (machine, id, lines) = exported().await;
    let target = machine.folders.cache.parent().unwrap().with_file_name("other-log").display().to_string();
    let events = lines.lines().count();
    assert_eq!(
        machine.out(&["log", "copy", "--to", &target, &id]).await,
        format!("{events} events copied, 0 already there\n")
    );
    assert_eq!(
        machine.out(&["log", "copy", "--to", &target, "--all"]).await,
        format!("0 events copied, {events} already there\n")
    );
    assert_eq!(machine.out(&["export", "--all", "--no-snapshots", "--log", &target]).await, lines);
    let own = machine.folders.state.display().to_string();
    assert_eq!(machine.run(&["log", "copy", "--to", &own, "--all"]).await.exit, Exit::Usage);
}

#[tokio::test]
async fn large_outputs_move_with_their_events() {
    let script = LOOKS.replace("echo found; exit 3", "seq 1 60000; exit 3");
    let machine = Machine::with(&script).await;
    machine.run(&["run", "x"]).await;
    let id = machine.session().await;
    let lines = machine.out(&["export", &id]).await;
    assert!(lines.lines().any(|line| line.starts_with("{\"blob\":")), "no blob in the export");
    let other = Machine::alone();
    other.out(&["import", &file(&other, "session", &lines)]).await;
    assert_eq!(other.out(&["export", &id]).await, lines);
    let target = machine.folders.cache.parent().unwrap().with_file_name("other-log").display().to_string();
    machine.out(&["log", "copy", "--to", &target, &id]).await;
    assert_eq!(machine.out(&["export", "--all", "--log", &target]).await, lines);
}

#[tokio::test]
async fn snapshots_move_with_their_session_and_an_older_file_has_none() {
    let script = LOOKS.replace("echo found; exit 3", "echo found > made.txt; exit 3");
    let machine = Machine::with(&script).await;
    std::fs::write(machine.workspace.join("before.txt"), "before").unwrap();
    machine.run(&["run", "x"]).await;
    let id = machine.session().await;
    let lines = machine.out(&["export", &id]).await;
    let (snapshots, events): (Vec<&str>, Vec<&str>) =
        lines.lines().partition(|line| line.starts_with("{\"snapshots\":"));
    assert_eq!((snapshots.len(), snapshots[0].contains("\"last\":true")), (1, true));
    let logged = events.iter().filter(|line| line.contains("\"kind\":\"workspace.snapshotted\"")).count();
    assert_eq!(logged, 2, "as the turn began, and after its call");
    let other = Machine::alone();
    let said = other.out(&["import", &file(&other, "session", &lines)]).await;
    assert!(said.ends_with("(0 already there), 2 snapshots\n"), "{said}");
    assert_eq!(other.out(&["export", &id]).await, lines, "the same bytes again");
    let again = other.out(&["import", &file(&other, "session", &lines), "--json"]).await;
    assert!(again.contains("\"stored\":0") && again.contains("\"snapshots\":2"), "{again}");
    // As older versions wrote it; the export says what is not there.
    let bare = Machine::alone();
    bare.out(&["import", &file(&bare, "bare", &events.join("\n"))]).await;
    let ran = bare.run(&["export", &id]).await;
    assert_eq!((ran.exit, ran.out.lines().count()), (Exit::Done, events.len()));
    assert_eq!(ran.err.matches("a snapshot is left out: snapshot ").count(), 2, "{ran:?}");
    // Nothing of a redacted export can be restored.
    let redacted = machine.run(&["export", &id, "--redact"]).await;
    assert!(
        !redacted.out.contains("{\"snapshots\"") && redacted.err.contains("snapshots are left out"),
        "{redacted:?}"
    );
}

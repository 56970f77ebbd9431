//! Sessions on the move: export, import and copy keep every byte of the chain, and take nothing that was changed.

use crate::checks::{find, objects, text};
use crate::scripts::{runs, says, script};
use crate::world::{Backend, Ran, World};
use retrace_events::testing::NatsServer;
use std::fs;

/// A world with two sessions; one has an output that is kept as a blob.
fn world() -> World {
    let steps = [runs("seq 1 60000"), runs("printf 'caf\\351 \\033[31m'"), says("döne")];
    let world = World::new(Backend::Embedded, &script(&steps));
    world.run(&["run", "first"]).expect(0);
    world.run(&["run", "second"]).expect(0);
    world
}

/// Runs the command with another state folder.
#[track_caller]
fn elsewhere(world: &World, folder: &str, args: &[&str]) -> Ran {
    fs::create_dir_all(world.path(folder)).unwrap();
    let mut command = world.command(args);
    command.env("XDG_STATE_HOME", world.path(folder));
    world.finish(command)
}

/// Exports everything into a file outside the workspace, and gives its path and text.
fn exported(world: &World) -> (String, String) {
    let path = world.path("export.jsonl");
    world.run(&["export", "--all", "--no-snapshots", "--output", path.to_str().unwrap()]).expect(0);
    (path.to_str().unwrap().to_owned(), fs::read_to_string(path).unwrap())
}

#[test]
fn an_import_into_a_fresh_log_has_the_same_chains() {
    let world = world();
    let (path, lines) = exported(&world);
    assert_eq!(lines.lines().filter(|line| line.starts_with("{\"blob\"")).count(), 2, "an output is kept as a blob");
    elsewhere(&world, "fresh", &["import", &path]).expect(0);
    assert_eq!(elsewhere(&world, "fresh", &["export", "--all"]).expect(0).stdout, lines, "not the same bytes");
    let verify = |folder: &str| elsewhere(&world, folder, &["log", "verify", "--json"]).expect(0).stdout;
    assert_eq!(verify("fresh"), verify("state"), "not the same heads");
    for session in objects(&elsewhere(&world, "fresh", &["sessions", "--json"])) {
        elsewhere(&world, "fresh", &["replay", "--verify", text(&session["session"])]).expect(0);
    }
}

#[test]
fn importing_twice_changes_nothing() {
    let world = world();
    let (path, lines) = exported(&world);
    let events = lines.lines().count() as u64 - 2;
    for (stored, present) in [(events, 0), (0, events)] {
        let ran = elsewhere(&world, "fresh", &["import", "--json", &path]).expect(0);
        let tally = &objects(&ran)[0];
        assert_eq!((tally["stored"].as_u64(), tally["present"].as_u64()), (Some(stored), Some(present)), "{tally}");
    }
    // Into the log it came from, too.
    assert_eq!(objects(&world.run(&["import", "--json", &path]).expect(0))[0]["stored"], 0);
    assert_eq!(exported(&world).1, lines);
}

#[test]
fn an_imported_session_goes_on_when_its_folder_is_named() {
    let world = World::new(Backend::Embedded, &script(&[says("one"), says("two")]));
    world.run(&["run", "first"]).expect(0);
    let (path, _) = exported(&world);
    elsewhere(&world, "fresh", &["import", &path]).expect(0);
    let session = world.session();
    let ran = elsewhere(&world, "fresh", &["resume", &session, "more"]).expect(2);
    assert!(ran.stderr.contains("--workspace"), "{}", ran.stderr);
    let folder = world.workspace();
    let folder = folder.canonicalize().unwrap();
    elsewhere(&world, "fresh", &["resume", &session, "more", "--workspace", folder.to_str().unwrap()]).expect(0);
    elsewhere(&world, "fresh", &["replay", "--verify", &session]).expect(0);
}

#[test]
fn a_redacted_export_is_no_import() {
    let world = world();
    let path = world.path("redacted.jsonl");
    let path = path.to_str().unwrap();
    world.run(&["export", "--all", "--redact", "--output", path]).expect(0);
    let ran = elsewhere(&world, "fresh", &["import", path]).expect(1);
    assert!(ran.stderr.contains("redacted export") && ran.stderr.contains("hint:"), "{}", ran.stderr);
    assert!(ran.stderr.contains("redacted.jsonl:1:"), "{}", ran.stderr);
    assert_eq!(elsewhere(&world, "fresh", &["sessions", "--json"]).expect(0).stdout, "");
}

#[test]
fn a_line_that_was_changed_is_refused_by_its_number_and_nothing_is_taken() {
    let world = world();
    let (path, lines) = exported(&world);
    let total = lines.lines().count();
    for (number, from, to) in [
        (1, "\"seq\":0", "\"seq\":1"),
        (4, "\"at_ms\":1", "\"at_ms\":2"),
        (total, "\"payload_bytes\":\"", "\"payload_bytes\":\"AA"),
    ] {
        let changed: Vec<String> = lines
            .lines()
            .enumerate()
            .map(|(at, line)| if at + 1 == number { line.replacen(from, to, 1) } else { line.to_owned() })
            .collect();
        assert_ne!(changed.join("\n"), lines.trim_end(), "line {number} was not changed");
        fs::write(&path, changed.join("\n")).unwrap();
        let ran = elsewhere(&world, "fresh", &["import", &path]).expect(1);
        assert!(ran.stderr.contains(&format!("export.jsonl:{number}:")), "{}", ran.stderr);
        assert_eq!(elsewhere(&world, "fresh", &["sessions", "--json"]).expect(0).stdout, "", "line {number}");
    }
}

#[test]
fn a_line_that_is_missing_is_noticed() {
    let world = world();
    let (path, lines) = exported(&world);
    let without: Vec<&str> = lines.lines().enumerate().filter(|(at, _)| *at != 5).map(|(_, line)| line).collect();
    fs::write(&path, without.join("\n")).unwrap();
    let ran = elsewhere(&world, "fresh", &["import", &path]).expect(6);
    assert!(ran.stderr.contains("does not follow"), "{}", ran.stderr);
    assert_eq!(elsewhere(&world, "fresh", &["sessions", "--json"]).expect(0).stdout, "");
}

#[test]
fn a_session_goes_to_a_server_and_back_unchanged() {
    let world = world();
    let (_, lines) = exported(&world);
    let nats = NatsServer::start();
    let url = nats.url();
    let back = world.path("back");
    let back = back.to_str().unwrap();
    let copied = objects(&world.run(&["log", "copy", "--all", "--to", &url, "--json"]).expect(0));
    assert_eq!((&copied[0]["streams"], &copied[0]["present"]), (&2.into(), &0.into()));
    world.run(&["--log", &url, "log", "copy", "--all", "--to", back]).expect(0);
    for place in [url.as_str(), back] {
        assert_eq!(
            world.run(&["--log", place, "export", "--all", "--no-snapshots"]).expect(0).stdout,
            lines,
            "{place}"
        );
        world.run(&["--log", place, "log", "verify"]).expect(0);
        for session in objects(&world.run(&["--log", place, "sessions", "--json"]).expect(0)) {
            world.run(&["--log", place, "replay", "--verify", text(&session["session"])]).expect(0);
        }
    }
    // Once more: all is there already.
    let again = objects(&world.run(&["log", "copy", "--all", "--to", &url, "--json"]).expect(0));
    assert_eq!(again[0]["stored"], 0);
    assert!(find(&world.path("back"), "log.db").exists());
}

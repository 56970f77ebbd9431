//! Files travel with their session: in an export, and through a server that several hosts share.

use crate::checks::find;
use crate::scripts::{runs, says, script};
use crate::world::{Backend, Ran, World, payloads};
use retrace_events::log::{LogLocation, open_log};
use retrace_runtime::travelling::{ensure, publish, store_of};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// A world with a session that makes files, and changes one of them.
fn world(backend: Backend) -> World {
    let steps = [
        runs(
            "mkdir -p deep/er; printf one > deep/er/file; printf x > script.sh; chmod 755 script.sh; mkdir empty; ln -s deep link",
        ),
        runs("printf two > deep/er/file"),
        says("done"),
    ];
    let world = World::new(backend, &script(&steps));
    world.file("there-before.txt", "mine\n");
    world.run(&["run", "make files"]).expect(0);
    world
}

/// Runs the command on another host: with another state folder.
#[track_caller]
fn elsewhere(world: &World, args: &[&str]) -> Ran {
    fs::create_dir_all(world.path("elsewhere")).unwrap();
    let mut command = world.command(args);
    command.env("XDG_STATE_HOME", world.path("elsewhere"));
    world.finish(command)
}

/// The snapshots of the session and the one before each, in their order.
fn trees(events: &[Value]) -> Vec<(String, Option<String>)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let snapshots = payloads(events, "workspace.snapshotted");
    snapshots.into_iter().map(|snapshot| (text(&snapshot["tree"]).unwrap(), text(&snapshot["previous"]))).collect()
}

/// Forks the session on the other host into a folder, and checks its files.
#[track_caller]
fn forked_elsewhere(world: &World) -> PathBuf {
    let folder = world.path("forked");
    elsewhere(world, &["fork", &world.session(), "--dir", folder.to_str().unwrap()]).expect(0);
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(
        (read("deep/er/file"), read("there-before.txt"), read("script.sh")),
        ("two".into(), "mine\n".into(), "x".into())
    );
    assert!(folder.join("empty").is_dir());
    assert_eq!(fs::read_link(folder.join("link")).unwrap(), PathBuf::from("deep"));
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(fs::metadata(folder.join("script.sh")).unwrap().permissions().mode() & 0o777, 0o755);
    folder
}

#[test]
fn an_export_brings_the_files_along() {
    let world = world(Backend::Embedded);
    let path = world.path("session.jsonl");
    let export = path.to_str().unwrap();
    world.run(&["export", &world.session(), "--output", export]).expect(0);
    let said = elsewhere(&world, &["import", export]).expect(0);
    assert!(said.stdout.contains("(0 already there), ") && said.stdout.contains(" snapshot"), "{}", said.stdout);
    forked_elsewhere(&world);
    // The other host has all that the first one has, and the fork's export has the session that it comes from.
    let lines = world.run(&["export", "--all"]).expect(0).stdout;
    let fork = elsewhere(&world, &["sessions", "--json"]).expect(0).stdout;
    let fork: Value = serde_json::from_str(fork.lines().next().unwrap()).unwrap();
    let fork = elsewhere(&world, &["export", fork["session"].as_str().unwrap()]).expect(0);
    assert!(fork.stderr.contains("which it was forked from"), "{}", fork.stderr);
    for line in lines.lines().filter(|line| line.contains("\"kind\"")) {
        assert!(fork.stdout.contains(line), "{line}");
    }
    let third = world.path("fork.jsonl");
    fs::write(&third, &fork.stdout).unwrap();
    fs::remove_dir_all(world.path("elsewhere")).unwrap();
    elsewhere(&world, &["import", third.to_str().unwrap()]).expect(0);
    elsewhere(&world, &["log", "verify"]).expect(0);
    // Without them, the file is as small as events are, and says nothing of files.
    let bare = world.run(&["export", "--all", "--no-snapshots"]).expect(0).stdout;
    assert!(!bare.contains("{\"snapshots\":") && lines.contains("{\"snapshots\":"));
    let redacted = world.run(&["export", "--all", "--redact"]).expect(0);
    assert!(!redacted.stdout.contains("{\"snapshots\":"));
    assert!(redacted.stderr.contains("snapshots are left out"), "{}", redacted.stderr);
}

#[test]
fn a_damaged_snapshot_keeps_the_whole_file_out() {
    let world = world(Backend::Embedded);
    let lines = world.run(&["export", "--all"]).expect(0).stdout;
    let lines: Vec<&str> = lines.lines().collect();
    let (at, piece) = lines.iter().enumerate().find(|(_, line)| line.starts_with("{\"snapshots\":")).unwrap();
    let middle = piece.len() / 2;
    let letter = if piece.as_bytes()[middle] == b'A' { "B" } else { "A" };
    let changed = format!("{}{letter}{}", &piece[..middle], &piece[middle + 1..]);
    let without_last = piece.replacen("\"last\":true,", "", 1);
    let renumbered = piece.replacen("\"snapshots\":0", "\"snapshots\":7", 1);
    for (line, said) in [
        (changed.as_str(), "cannot import snapshots"),
        (&without_last, "are cut"),
        (&renumbered, "piece 7 of the snapshots stands where 0 should"),
        ("{\"snapshots\":0,\"bytes\":\"????\"}", "not a line of an export"),
    ] {
        let text = [&lines[..at], &[line], &lines[at + 1..]].concat().join("\n");
        let path = world.path("damaged.jsonl");
        fs::write(&path, text).unwrap();
        let ran = elsewhere(&world, &["import", path.to_str().unwrap()]).expect(1);
        assert!(ran.stderr.contains(said) && ran.stderr.contains("damaged.jsonl"), "{said}: {}", ran.stderr);
        assert_eq!(ran.stderr.matches("error:").count(), 1, "{}", ran.stderr);
        assert_eq!(elsewhere(&world, &["sessions", "--json"]).expect(0).stdout, "");
        let state = world.path("elsewhere/retrace");
        assert!(
            fs::read_dir(&state).unwrap().all(|entry| !entry
                .unwrap()
                .file_name()
                .to_string_lossy()
                .starts_with("checking-"))
        );
    }
}

/// Two hosts, one server: what one of them made the other one has.
#[test]
fn another_host_forks_a_session_and_has_its_files() {
    let world = world(Backend::JetStream);
    let trees = trees(&world.events());
    assert!(trees.len() >= 2, "{trees:?}");
    let log: LogLocation = world.nats.as_ref().unwrap().url().parse().unwrap();
    world.runtime.block_on(async {
        let log = open_log(&log).await.unwrap();
        let here = store_of(&world.path("state/retrace"), log.as_ref()).unwrap();
        for (tree, previous) in &trees {
            let previous = previous.as_ref().map(|previous| previous.parse().unwrap());
            publish(log.as_ref(), &here, &tree.parse().unwrap(), previous.as_ref()).await.unwrap();
        }
        let there = store_of(&world.path("elsewhere/retrace"), log.as_ref()).unwrap();
        let last = trees.last().unwrap().0.parse().unwrap();
        assert!(!there.has(&last).unwrap());
        ensure(log.as_ref(), &there, &last).await.unwrap();
    });
    forked_elsewhere(&world);
    // The fork is in the log that both share; deleted with what it comes from, nothing of them is left to either.
    let ran = elsewhere(&world, &["delete", &trees_session(&world), "--yes"]).expect(1);
    assert!(ran.stderr.contains("was forked from it"), "{}", ran.stderr);
    elsewhere(&world, &["delete", &trees_session(&world), "--yes", "--with-forks"]).expect(0);
    assert_eq!(world.run(&["sessions", "--json"]).expect(0).stdout, "");
    world.run(&["log", "verify"]).expect(0);
}

/// The session that was not forked: the last one listed.
fn trees_session(world: &World) -> String {
    let listed = world.run(&["sessions", "--json"]).expect(0).stdout;
    let last: Value = serde_json::from_str(listed.lines().last().unwrap()).unwrap();
    last["session"].as_str().unwrap().to_owned()
}

/// A copy into a server brings the files there too, and a copy out of it brings them here.
#[test]
fn a_copy_of_a_log_has_the_files() {
    let mut world = world(Backend::Embedded);
    let server = retrace_events::testing::NatsServer::start();
    world.run(&["log", "copy", "--all", "--to", &server.url()]).expect(0);
    world.nats = Some(server);
    let here = world.path("copied");
    let copied = elsewhere(&world, &["log", "copy", "--all", "--to", here.to_str().unwrap()]).expect(0);
    assert_eq!(copied.stderr, "");
    // The first host, its log and its store are gone.
    fs::remove_dir_all(world.path("state")).unwrap();
    world.nats = None;
    let folder = world.path("forked");
    let mut command = world.command(&["--log", here.to_str().unwrap(), "sessions", "--json"]);
    command.env("XDG_STATE_HOME", world.path("elsewhere"));
    let listed = world.finish(command).expect(0).stdout;
    let session: Value = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    let session = session["session"].as_str().unwrap();
    elsewhere(&world, &["--log", here.to_str().unwrap(), "fork", session, "--dir", folder.to_str().unwrap()]).expect(0);
    assert_eq!(fs::read_to_string(find(&folder, "file")).unwrap(), "two");
}

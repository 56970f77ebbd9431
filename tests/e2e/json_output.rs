//! For programs: with `--json` stdout is one JSON object a line and nothing else, also when a command fails; and the exit
//! codes are those that `--help` lists.

use crate::checks::{objects, text};
use crate::scripts::{runs, says, script};
use crate::world::{Backend, Ran, World};
use std::fs;

fn world() -> World {
    World::new(Backend::Embedded, &script(&[runs("echo hi; echo oops >&2; exit 3"), says("done"), says("more")]))
}

/// Runs the command with `--json`; there must be at least one object, and nothing but objects.
#[track_caller]
fn json(world: &World, code: i32, args: &[&str]) -> Vec<serde_json::Value> {
    let ran = world.run(&[args, &["--json"]].concat()).expect(code);
    let objects = objects(&ran);
    assert!(!objects.is_empty(), "{args:?} says nothing: {}", ran.stderr);
    objects
}

#[test]
fn every_command_writes_objects_and_nothing_else() {
    let world = world();
    let ran = json(&world, 0, &["run", "go"]);
    let summary = &ran.last().unwrap()["summary"];
    assert_eq!((&summary["exit_code"], &summary["calls"]), (&0.into(), &1.into()));
    let session = text(&summary["session"]).to_owned();
    json(&world, 0, &["resume", "--last", "more"]);
    assert_eq!(json(&world, 0, &["sessions"])[0]["session"], session.as_str());
    let shown = json(&world, 0, &["show", &session]);
    assert_eq!(shown.len(), world.events().len());
    assert_eq!(json(&world, 0, &["show", &session, "--event", "0"])[0]["kind"], "session.started");
    assert_eq!(json(&world, 0, &["summary", &session])[0]["first_seq"], 0);
    assert_eq!(json(&world, 0, &["replay", &session, "--speed", "0"]).len(), shown.len());
    assert_eq!(json(&world, 0, &["replay", &session, "--verify"])[0]["requests"], 3);
    assert_eq!(json(&world, 0, &["export", &session, "--no-snapshots"]).len(), shown.len());
    let file = world.path("e.jsonl");
    fs::write(&file, world.run(&["export", "--all"]).stdout).unwrap();
    assert_eq!(json(&world, 0, &["import", file.to_str().unwrap()])[0]["present"], shown.len() as u64);
    assert_eq!(json(&world, 0, &["log", "info"])[0]["sessions"], 1);
    assert_eq!(json(&world, 0, &["log", "verify"])[0]["events"], shown.len() as u64);
    assert_eq!(json(&world, 0, &["log", "tail", "-n", "4"]).len(), 4);
    let other = world.path("other");
    assert_eq!(
        json(&world, 0, &["log", "copy", "--all", "--to", other.to_str().unwrap()])[0]["stored"],
        shown.len() as u64
    );
    assert!(json(&world, 0, &["config", "show"]).len() > 10);
    assert_eq!(json(&world, 0, &["config", "path"]).len(), 8);
    json(&world, 0, &["config", "trust"]);
    json(&world, 0, &["config", "untrust"]);
    assert!(json(&world, 0, &["doctor"]).iter().all(|row| row["health"].is_string()));
}

#[test]
fn an_empty_list_is_no_line_at_all() {
    let world = world();
    assert_eq!(world.run(&["sessions", "--json"]).expect(0).stdout, "");
    assert_eq!(world.run(&["export", "--all", "--json"]).expect(0).stdout, "");
    assert_eq!(world.run(&["log", "tail", "--json"]).expect(0).stdout, "");
}

#[test]
fn an_error_is_an_object_too() {
    let world = world();
    for (code, args) in [
        (2, &["run", " "][..]),
        (6, &["run", "go", "--log", "nats://127.0.0.1:1"]),
        (7, &["run", "go", "--sandbox", "krun"]),
        (8, &["show", "nonesuch"]),
        (8, &["resume", "--last", "go"]),
        (2, &["run", "go", "--max-steps", "many"]),
    ] {
        let objects = json(&world, code, args);
        let error = &objects.last().unwrap()["error"];
        assert_eq!(error["exit_code"], code, "{args:?}: {error}");
        assert!(!text(&error["message"]).contains('\n'), "{error}");
    }
}

/// The exit codes in `--help`, with their words.
fn documented(world: &World) -> Vec<(i32, String)> {
    let help = world.run(&["--help"]).expect(0).stdout;
    let (_, table) = help.split_once("Exit codes:").expect("the help lists them");
    let row = |line: &str| {
        let (code, words) = line.trim().split_once("  ")?;
        Some((code.parse().ok()?, words.to_owned()))
    };
    table.lines().filter_map(row).collect()
}

#[test]
fn the_exit_codes_are_the_documented_ones() {
    let world = world();
    let listed: Vec<i32> = documented(&world).into_iter().map(|(code, _)| code).collect();
    assert_eq!(listed, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 130]);
    let step = |reason: &str| {
        World::new(
            Backend::Embedded,
            &format!("[[step]]\nstop_reason = \"{reason}\"\n[[step.block]]\ntype = \"text\"\ntext = \"x\"\n"),
        )
    };
    let broken = world.path("broken.jsonl");
    fs::write(&broken, "{}\n").unwrap();
    let ends: [(i32, Ran); 9] = [
        (0, world.run(&["run", "go"])),
        (1, world.run(&["import", broken.to_str().unwrap()])),
        (2, world.run(&["frobnicate"])),
        (3, step("refusal").run(&["run", "go"])),
        (4, step("max_tokens").run(&["run", "go"])),
        (5, world.run(&["run", "--model", "claude-nonesuch-9", "go"])),
        (6, world.run(&["sessions", "--log", "nats://127.0.0.1:1"])),
        (7, world.run(&["run", "--sandbox", "krun", "go"])),
        (8, world.run(&["show", "nonesuch"])),
    ];
    for (code, ran) in ends {
        ran.expect(code);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let world = world();
    world.run(&["run", "go"]).expect(0);
    let session = world.session();
    let mut command = tokio::process::Command::new("sh");
    let program = env!("CARGO_BIN_EXE_retrace-under-test");
    let line = format!("{{ '{program}' show {session} --full; echo \"code $?\" >&2; }} | head -n 1");
    command
        .args(["-c", &line])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", world.path("home"));
    command
        .env("XDG_STATE_HOME", world.path("state"))
        .env("XDG_CONFIG_HOME", world.path("config"))
        .current_dir(world.workspace());
    let ran = world.finish(command).expect(0);
    assert!(ran.stderr.contains("code 0") && !ran.stderr.contains("error"), "{}", ran.stderr);
}

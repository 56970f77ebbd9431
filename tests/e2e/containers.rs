//! Whole sessions in a container, where an engine is named (`make test-container` names one): the model works in
//! `/workspace`, the files land in the user's folder, and a crash leaves neither a running command nor a container.

use crate::checks::{Running, kill, outcome, sound, text, wait_for, waits};
use crate::scripts::{calls, runs, says, script};
use crate::world::{Backend, Ran, World, payloads};
use std::process::Command;

const SOCKET: &str = "RETRACE_CONTAINER_SOCKET";

/// A world whose sessions run in containers; `None` where no engine is named.
fn world(steps: &[String]) -> Option<World> {
    std::env::var_os(SOCKET)?;
    Some(World::new(Backend::Embedded, &script(steps)))
}

fn command(world: &World, args: &[&str]) -> tokio::process::Command {
    let mut command = world.command(args);
    command.env(SOCKET, std::env::var_os(SOCKET).unwrap_or_default());
    command
}

fn run(world: &World, args: &[&str]) -> Ran {
    world.finish(command(world, args))
}

/// How many containers have a mount of this world's workspace.
fn containers_of(world: &World) -> usize {
    let listed = Command::new("podman").args(["ps", "--all", "--quiet"]).output().unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let ids = String::from_utf8(listed.stdout).unwrap();
    let holds = |id: &&str| {
        let seen = Command::new("podman").args(["inspect", id]).output().unwrap();
        String::from_utf8_lossy(&seen.stdout).contains(world.workspace().to_str().unwrap())
    };
    ids.lines().filter(holds).count()
}

#[test]
fn a_session_works_in_a_container_and_its_files_land_in_the_folder() {
    let steps = [
        runs("pwd; id -u; touch /usr/x 2>/dev/null || echo read-only; echo made > made.txt; cat given.txt"),
        calls("write_file", "{ path = \"sub/written.txt\", content = \"by the tool\\n\" }"),
        calls("read_file", "{ path = \"made.txt\" }"),
        says("done"),
    ];
    let Some(world) = world(&steps) else { return };
    world.file("given.txt", "from the host\n");
    run(&world, &["run", "--sandbox", "container", "go"]).expect(0);
    let events = sound(&world);
    assert_eq!(outcome(&events), "Completed");
    let results: Vec<&str> = payloads(&events, "tool.finished").iter().map(|result| text(&result["content"])).collect();
    assert!(results[0].contains("/workspace\n1000\nread-only\nfrom the host"), "{}", results[0]);
    assert!(results[2].contains("made"), "{}", results[2]);
    assert_eq!((world.read("made.txt"), world.read("sub/written.txt")), ("made\n".into(), "by the tool\n".into()));
    let started = payloads(&events, "sandbox.started");
    assert_eq!((&started[0]["backend"], &started[0]["level"]), (&"container".into(), &"container".into()));
    let proofs = started[0]["proofs"].as_array().unwrap();
    assert!(proofs.len() > 10 && proofs.iter().all(|proof| proof["passed"] == true), "{proofs:?}");
    assert!(started[0]["limits"].to_string().contains("512 MiB"), "{}", started[0]["limits"]);
    let begun = payloads(&events, "context.epoch_started");
    assert!(text(&begun[0]["system"]).contains("Workspace: /workspace"));
    assert_eq!(containers_of(&world), 0);
}

#[test]
fn a_crash_leaves_no_container_and_the_session_goes_on_in_another() {
    let Some(world) = world(&[waits("one"), runs("cat one.begun && echo resumed"), says("done")]) else { return };
    let running = Running::start(&world, command(&world, &["run", "--sandbox", "container", "go"]));
    let begun = world.workspace().join("one.begun");
    wait_for("the command", || begun.exists());
    assert_eq!(containers_of(&world), 1);
    kill(running.pid, libc::SIGKILL);
    let ran = running.end(&world);
    assert_eq!(ran.signal, Some(libc::SIGKILL));
    run(&world, &["resume", &world.session(), "--sandbox", "container"]).expect(0);
    let events = sound(&world);
    let unknown = payloads(&events, "tool.outcome_unknown");
    assert_eq!(unknown.len(), 1, "the interrupted call is told");
    assert_eq!(payloads(&events, "sandbox.started").len(), 2);
    assert!(!world.workspace().join("one.over").exists(), "the killed command went on");
    assert_eq!(containers_of(&world), 0);
}

#[test]
fn what_cannot_be_had_is_refused_and_nothing_weaker_is_taken() {
    let Some(world) = world(&[says("never")]) else { return };
    let ran = run(&world, &["run", "--sandbox", "krun", "go"]).expect(7);
    assert!(ran.stderr.contains("krun") && ran.stderr.contains("hint: "), "{}", ran.stderr);
    let mut missing = command(&world, &["run", "--sandbox", "container", "go"]);
    missing.env("RETRACE_IMAGE", "localhost/no-such-image:1");
    let ran = world.finish(missing).expect(7);
    assert!(ran.stderr.contains("localhost/no-such-image:1") && ran.stderr.contains("hint: "), "{}", ran.stderr);
    let mut nowhere = world.command(&["run", "--sandbox", "container", "go"]);
    nowhere.env(SOCKET, "/nowhere/podman.sock");
    let ran = world.finish(nowhere).expect(7);
    assert!(ran.stderr.contains("/nowhere/podman.sock") && ran.stderr.contains("hint: "), "{}", ran.stderr);
}

#[test]
fn the_doctor_says_what_can_be_had_and_what_is_in_the_way() {
    let Some(world) = world(&[says("never")]) else { return };
    let ran = run(&world, &["doctor", "--offline"]);
    assert!(ran.stdout.contains("sandbox: container (asked for: auto)"), "{}", ran.stdout);
    assert!(ran.stdout.contains("container: container: started in "), "{}", ran.stdout);
    assert!(ran.stdout.contains("process: process: started in "), "{}", ran.stdout);
    assert!(ran.stdout.contains("warn    krun: "), "{}", ran.stdout);
}

//! The sandbox is killed under a running command: nobody pretends to know how far it came, another sandbox is started,
//! and after several times the turn ends.

use crate::checks::{Running, kill, outcome, sound, text, wait_for, waits};
use crate::scripts::{runs, says, script};
use crate::world::{Backend, World, payloads};
use std::collections::HashMap;
use std::fs;

/// All processes below `pid`, by what the kernel says.
fn below(pid: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(this) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        // The name may hold anything; the parent is the second field behind its bracket.
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        children.entry(parent.unwrap_or(0)).or_default().push(this);
    }
    let mut found = Vec::new();
    let mut open = vec![pid];
    while let Some(pid) = open.pop() {
        let children = children.remove(&pid).unwrap_or_default();
        found.extend(&children);
        open.extend(children);
    }
    found
}

/// Kills everything below the command as soon as the call `mark` has begun.
pub(crate) fn kill_the_sandbox_in(world: &World, running: &Running, mark: &str) {
    let begun = world.workspace().join(format!("{mark}.begun"));
    wait_for(mark, || begun.exists());
    for pid in below(running.pid) {
        kill(pid, libc::SIGKILL);
    }
}

fn killed_once(backend: Backend) {
    let steps = [waits("one"), runs("cat one.begun; echo $RETRACE_CALL_ID >> effects.log"), says("done")];
    let world = World::new(backend, &script(&steps));
    let running = Running::start(&world, world.command(&["run", "go"]));
    kill_the_sandbox_in(&world, &running, "one");
    running.end(&world).expect(0);
    let events = sound(&world);
    let unknown = payloads(&events, "tool.outcome_unknown");
    assert_eq!(unknown.len(), 1);
    let told = text(&unknown[0]["content"]);
    assert!(told.contains("not known") && told.contains("sandbox"), "{told}");
    assert_eq!(payloads(&events, "sandbox.started").len(), 2);
    let stopped = payloads(&events, "sandbox.stopped");
    assert_eq!((stopped.len(), &stopped[0]["unexpected"]), (1, &true.into()));
    assert_eq!(outcome(&events), "Completed");
    assert_eq!(world.read("effects.log").lines().count(), 1, "the new sandbox works");
    assert!(!world.workspace().join("one.over").exists(), "the killed command went on");
}

#[test]
fn killed_in_a_call_another_one_goes_on_on_the_embedded_log() {
    killed_once(Backend::Embedded);
}

#[test]
fn killed_in_a_call_another_one_goes_on_on_jetstream() {
    killed_once(Backend::JetStream);
}

#[test]
fn killed_again_and_again_it_ends_the_turn_and_the_session_can_go_on() {
    let marks = ["one", "two", "three", "four"];
    let mut steps: Vec<String> = marks.iter().map(|mark| waits(mark)).collect();
    steps.push(says("at last"));
    let world = World::new(Backend::Embedded, &script(&steps));
    let running = Running::start(&world, world.command(&["run", "go"]));
    for mark in marks {
        kill_the_sandbox_in(&world, &running, mark);
    }
    let ran = running.end(&world).expect(1);
    assert!(ran.stderr.contains("the sandbox ended 4 times"), "{}", ran.stderr);
    let events = sound(&world);
    assert_eq!(outcome(&events), "RuntimeFailed");
    assert_eq!(payloads(&events, "tool.outcome_unknown").len(), 4);
    assert_eq!(payloads(&events, "sandbox.started").len(), 4);
    let ran = world.run(&["resume", "--last", "try again"]).expect(0);
    assert!(ran.stdout.contains("at last"), "{}", ran.stdout);
    sound(&world);
}

#[test]
fn a_command_that_kills_whatever_it_can_reach_does_not_end_the_session() {
    let world = World::new(
        Backend::Embedded,
        &script(&[runs("kill -9 -1; sleep 0.2; echo survived"), runs("echo alive"), says("done")]),
    );
    world.run(&["run", "go"]).expect(0);
    let events = sound(&world);
    assert_eq!(outcome(&events), "Completed");
    let last = payloads(&events, "tool.finished");
    assert!(text(&last.last().unwrap()["content"]).contains("alive"), "{last:?}");
}

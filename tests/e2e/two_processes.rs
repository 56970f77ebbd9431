//! Several processes at one log: of writers of one session exactly one goes on, writers of different sessions do not
//! notice each other, and readers see what a writer does while it does it.

use crate::checks::{Running, objects, one_result_a_call, outcome, sound, text, wait_for, waits};
use crate::scripts::{runs, says, script};
use crate::world::{Backend, Ran, World, payloads};
use serde_json::Value;
use std::collections::HashSet;

/// A session that was killed before its last step.
fn killed_session(backend: Backend) -> World {
    let world = World::new(backend, &script(&[runs("echo $RETRACE_CALL_ID >> effects.log"), says("done")]));
    let ran = world.run_until("after append tool.finished=return", &["run", "go"]);
    assert_eq!(ran.signal, Some(libc::SIGKILL));
    world
}

fn of_racers_one_goes_on(backend: Backend, racers: usize) {
    let world = killed_session(backend);
    let before = world.events();
    let race = || {
        let mut command = world.command(&["resume", "--last"]);
        // All of them want it before the first of them writes.
        command.env("FAILPOINTS", "before append sandbox.started=sleep(3000)");
        Running::start(&world, command)
    };
    let running: Vec<Running> = (0..racers).map(|_| race()).collect();
    let ran: Vec<Ran> = running.into_iter().map(|running| running.end(&world)).collect();
    let winners = ran.iter().filter(|ran| ran.code == Some(0)).count();
    let losers: Vec<&Ran> = ran.iter().filter(|ran| ran.code == Some(6)).collect();
    assert_eq!((winners, losers.len()), (1, racers - 1), "{ran:#?}");
    for loser in losers {
        assert!(loser.stderr.contains("is held by `retrace resume` (process "), "{}", loser.stderr);
    }
    let events = sound(&world);
    assert_eq!(events[..before.len()], before[..], "what was in the log has changed");
    assert_eq!(payloads(&events, "turn.ended").len(), 1);
    assert_eq!(payloads(&events, "sandbox.started").len(), 2, "a loser left something in the log");
    assert_eq!(world.read("effects.log").lines().count(), 1, "a call was carried out twice");
}

#[test]
fn of_two_that_resume_a_session_at_once_one_goes_on_on_the_embedded_log() {
    of_racers_one_goes_on(Backend::Embedded, 2);
}

#[test]
fn of_two_that_resume_a_session_at_once_one_goes_on_on_jetstream() {
    of_racers_one_goes_on(Backend::JetStream, 2);
}

#[test]
fn of_six_that_resume_a_session_at_once_one_goes_on() {
    of_racers_one_goes_on(Backend::Embedded, 6);
}

/// The second comes while the first is in the middle of a call.
fn a_latecomer_and_a_running_session(backend: Backend) {
    let world = World::new(backend, &script(&[waits("one"), says("done")]));
    let mut first = Running::start(&world, world.command(&["run", "go"]));
    wait_for("the call", || world.workspace().join("one.begun").exists());
    let mut second = Running::start(&world, world.command(&["resume", "--last"]));
    wait_for("one of them to end", || first.has_ended() || second.has_ended());
    world.file("one.go", "");
    let (first, second) = (first.end(&world), second.end(&world));
    let codes = HashSet::from([first.code, second.code]);
    assert_eq!(codes, HashSet::from([Some(0), Some(6)]), "{first:#?} {second:#?}");
    let loser = if first.code == Some(6) { &first } else { &second };
    assert!(loser.stderr.contains("is held by `retrace run` (process "), "{}", loser.stderr);
    assert_eq!(second.code, Some(6), "the latecomer took the session over");
    let events = sound(&world);
    assert_eq!((outcome(&events), payloads(&events, "turn.ended").len()), ("Completed", 1));
}

#[test]
fn a_latecomer_does_not_tear_a_running_session_on_the_embedded_log() {
    a_latecomer_and_a_running_session(Backend::Embedded);
}

#[test]
fn a_latecomer_does_not_tear_a_running_session_on_jetstream() {
    a_latecomer_and_a_running_session(Backend::JetStream);
}

#[test]
fn eight_processes_write_eight_sessions_of_one_log() {
    let steps = [runs("echo $RETRACE_CALL_ID >> effects.log"), runs("seq 1 100000"), runs("echo two"), says("done")];
    let world = World::new(Backend::Embedded, &script(&steps));
    let start = |n: usize| Running::start(&world, world.command(&["run", &format!("task {n}")]));
    let running: Vec<Running> = (0..8).map(start).collect();
    for running in running {
        running.end(&world).expect(0);
    }
    world.run(&["log", "verify"]).expect(0);
    let sessions = objects(&world.run(&["sessions", "--json"]).expect(0));
    assert_eq!(sessions.len(), 8);
    for session in &sessions {
        assert_eq!((text(&session["status"]), &session["steps"], &session["calls"]), ("done", &4.into(), &3.into()));
        world.run(&["replay", "--verify", text(&session["session"])]).expect(0);
    }
    let titles: HashSet<&str> = sessions.iter().map(|session| text(&session["title"])).collect();
    assert_eq!(titles.len(), 8, "a session took another's place: {titles:?}");
    assert!(world.server.requests().iter().all(|request| request.refusal.is_none()));
    assert_eq!(world.read("effects.log").lines().count(), 8);
}

fn readers_beside_a_writer(backend: Backend) {
    let world = World::new(backend, &script(&[waits("one"), says("all is well")]));
    let writer = Running::start(&world, world.command(&["run", "go"]));
    wait_for("the call", || world.workspace().join("one.begun").exists());
    let follower = Running::start(&world, world.command(&["log", "tail", "--follow", "--json", "-n", "100"]));
    let listed = objects(&world.run(&["sessions", "--json"]).expect(0));
    assert_eq!((listed.len(), text(&listed[0]["status"])), (1, "open"));
    let session = world.session();
    let shown = world.run(&["show", &session]).expect(0);
    assert!(shown.stdout.contains("one.begun") && !shown.stdout.contains("all is well"), "{}", shown.stdout);
    world.run(&["log", "verify"]).expect(0);
    world.file("one.go", "");
    writer.end(&world).expect(0);
    let shown = world.run(&["show", &session]).expect(0);
    assert!(shown.stdout.contains("all is well"), "{}", shown.stdout);
    let events = sound(&world);
    // The follower has the last event when it has as many lines as there are events; only its end tells.
    let followed = followed_until_the_end(&world, follower);
    let kinds = |events: &[Value]| events.iter().map(|event| text(&event["kind"]).to_owned()).collect::<Vec<_>>();
    assert_eq!(kinds(&followed), kinds(&events), "the follower missed something");
    one_result_a_call(&followed);
}

/// What a follower wrote until it has seen the turn's end; it is stopped then as a user does.
fn followed_until_the_end(world: &World, mut follower: Running) -> Vec<Value> {
    let lines = follower.lines_until(world, "turn.ended");
    follower.signal(libc::SIGINT);
    let ended = follower.end(world);
    assert!(ended.signal == Some(libc::SIGINT) || ended.code == Some(130), "{ended:?}");
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn readers_see_a_writer_at_work_on_the_embedded_log() {
    readers_beside_a_writer(Backend::Embedded);
}

#[test]
fn readers_see_a_writer_at_work_on_jetstream() {
    readers_beside_a_writer(Backend::JetStream);
}

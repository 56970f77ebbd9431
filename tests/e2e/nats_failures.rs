//! A server that dies, and one whose word is worth too little.

use crate::checks::{Running, outcome, sound, wait_for, waits};
use crate::scripts::{runs, says, script};
use crate::world::{Backend, World, payloads};
use retrace_events::testing::{NatsConfig, NatsServer};

#[test]
fn a_server_killed_in_mid_session_loses_nothing() {
    let steps = [
        runs("echo $RETRACE_CALL_ID >> effects.log"),
        waits("one"),
        runs("echo $RETRACE_CALL_ID >> effects.log"),
        says("done"),
    ];
    let mut world = World::new(Backend::JetStream, &script(&steps));
    let running = Running::start(&world, world.command(&["run", "go"]));
    wait_for("the call", || world.workspace().join("one.begun").exists());
    let before = world.events();
    world.nats.as_mut().unwrap().kill();
    world.file("one.go", "");
    let ran = running.end(&world).expect(6);
    assert!(ran.stderr.contains("hint:"), "{}", ran.stderr);
    world.nats.as_mut().unwrap().restart();
    assert_eq!(world.events(), before, "the log lost or gained something");
    world.run(&["resume", "--last"]).expect(0);
    let events = sound(&world);
    assert_eq!(events[..before.len()], before[..]);
    assert_eq!(outcome(&events), "Completed");
    assert_eq!(payloads(&events, "tool.outcome_unknown").len(), 1, "nobody saw that call end");
    assert_eq!(world.read("effects.log").lines().count(), 2);
}

#[test]
fn a_server_that_comes_back_at_once_is_waited_for() {
    let steps = [waits("one"), runs("echo $RETRACE_CALL_ID >> effects.log"), says("done")];
    let mut world = World::new(Backend::JetStream, &script(&steps));
    let running = Running::start(&world, world.command(&["run", "go"]));
    wait_for("the call", || world.workspace().join("one.begun").exists());
    world.nats.as_mut().unwrap().restart();
    world.file("one.go", "");
    running.end(&world).expect(0);
    let events = sound(&world);
    assert_eq!((outcome(&events), payloads(&events, "tool.outcome_unknown").len()), ("Completed", 0));
    assert_eq!(world.read("effects.log").lines().count(), 1);
}

#[test]
fn a_server_that_acks_before_it_syncs_is_refused_unless_accepted() {
    let world = World::new(Backend::Embedded, &script(&[says("done"), says("more")]));
    for (may_ask, word) in [(true, "acks before it syncs"), (false, "not known")] {
        let nats = NatsServer::start_with(NatsConfig { durable: false, may_ask, ..NatsConfig::default() });
        let ran = world.run(&["run", "--log", &nats.url(), "go"]).expect(6);
        assert!(ran.stderr.contains(word), "{}", ran.stderr);
        assert!(ran.stderr.contains("hint:") && ran.stderr.contains("--accept-nondurable"), "{}", ran.stderr);
        assert!(world.server.requests().is_empty() || !may_ask, "something was sent");
        let ran = world.run(&["run", "--log", &nats.url(), "--accept-nondurable", "go"]).expect(0);
        assert!(ran.stderr.contains("NOT DURABLE"), "{}", ran.stderr);
        world.run(&["resume", "--last", "--log", &nats.url(), "more"]).expect(6);
        world.run(&["resume", "--last", "--log", &nats.url(), "--accept-nondurable", "more"]).expect(0);
    }
}

//! Ctrl-C: the turn ends cleanly, with the interruption in the log, and the session goes on afterwards.

use crate::scripts::{runs, says, script};
use crate::world::{Backend, World, payloads};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt as _, BufReader};

/// Runs a session and interrupts it as soon as a line with `sign` is seen on stderr; gives the exit code.
fn interrupt_at(world: &World, sign: &str) -> Option<i32> {
    world.runtime.block_on(async {
        let mut command = world.command(&["run", "go"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let pid = i32::try_from(child.id().unwrap()).unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut signalled = false;
        while let Some(line) = lines.next_line().await.unwrap() {
            if !signalled && line.contains(sign) {
                // SAFETY: a signal to a child of this process that was not waited for yet.
                assert_eq!(unsafe { libc::kill(pid, libc::SIGINT) }, 0);
                signalled = true;
            }
        }
        assert!(signalled, "`{sign}` was never seen");
        child.wait().await.unwrap().code()
    })
}

#[test]
fn in_a_command_its_outcome_is_unknown_and_the_session_goes_on() {
    let world = World::new(Backend::Embedded, &script(&[runs("echo begun; touch begun; sleep 1000"), says("fine")]));
    assert_eq!(interrupt_at(&world, "sleep 1000"), Some(130));
    let events = world.events();
    assert_eq!(payloads(&events, "turn.interrupted").len(), 1);
    assert_eq!(payloads(&events, "tool.outcome_unknown").len(), 1);
    assert_eq!(payloads(&events, "tool.finished").len(), 0);
    world.run(&["replay", "--verify", &world.session()]).expect(0);
    world.run(&["resume", "--last", "go on"]).expect(0);
    assert!(world.server.requests().iter().all(|request| request.refusal.is_none()), "{:?}", world.server.requests());
}

#[test]
fn in_a_request_what_had_come_is_kept() {
    let slow = "[[step]]\n[[step.fault]]\nstall_after_events = 4\n[[step.block]]\ntype = \"text\"\ntext = \"here it comes and comes and comes\"\n";
    let world = World::new(Backend::Embedded, slow);
    assert_eq!(interrupt_at(&world, "sandbox"), Some(130));
    let events = world.events();
    assert_eq!(payloads(&events, "turn.interrupted").len(), 1);
    world.run(&["replay", "--verify", &world.session()]).expect(0);
}

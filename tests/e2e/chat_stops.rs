//! What stops a conversation: Ctrl-C in the midst of a command and of an answer, a terminal that closes, `kill -9`. The session
//! goes on afterwards, and nothing happened twice.

use crate::chat_talk::{ECHO, prompts};
use crate::checks::{sound, text, wait_for, waits};
use crate::scripts::{runs, says, script};
use crate::talk::Talk;
use crate::world::{Backend, World, payloads};

/// A command that tells of itself in `effects.log` and then waits for `<mark>.go`.
fn counts_and_waits(mark: &str) -> String {
    runs(&format!(
        "echo $RETRACE_CALL_ID >> effects.log; touch {mark}.begun; \
         for i in $(seq 1200); do [ -e {mark}.go ] && break; sleep 0.05; done; echo {mark} is over"
    ))
}

#[track_caller]
pub(crate) fn wait_begun(world: &World, mark: &str) {
    let file = world.workspace().join(format!("{mark}.begun"));
    wait_for("the command", || file.exists());
}

#[test]
fn ctrl_c_stops_a_command_and_a_second_one_leaves() {
    for backend in [Backend::Embedded, Backend::JetStream] {
        let world = World::new(backend, &script(&[counts_and_waits("one"), ECHO.to_owned()]));
        let talk = Talk::begin(&world, &[]);
        talk.terminal.enter("go");
        wait_begun(&world, "one");
        // What stands in the line belongs to the next prompt: it is not Ctrl-C's.
        talk.terminal.press("C-c");
        talk.wait_turns(1);
        let screen = talk.ask("prompt after it", 2);
        assert!(screen.contains("answer to after it"), "{screen}");
        talk.terminal.press("C-c");
        talk.terminal.wait_text("once more leaves");
        talk.terminal.press("C-c");
        assert_eq!(talk.terminal.wait_exit(), 0);
        drop(talk);
        let events = sound(&world);
        assert_eq!(payloads(&events, "turn.interrupted").len(), 1);
        assert_eq!(payloads(&events, "tool.outcome_unknown").len(), 1);
        assert_eq!(payloads(&events, "turn.ended").len(), 1);
        assert_eq!(world.read("effects.log").lines().count(), 1);
    }
}

#[test]
fn ctrl_c_stops_an_answer_and_what_had_come_is_kept() {
    let words = "here it comes\n\nand comes\n\nand comes\n\nand comes";
    let slow = format!("{}[[step.fault]]\nstall_after_events = 5\n[step.delivery]\ndelta_chars = 12\n", says(words));
    let world = World::new(Backend::Embedded, &script(&[ECHO.to_owned(), slow]));
    let talk = Talk::begin(&world, &[]);
    talk.terminal.enter("go");
    wait_for("the request", || !world.server.requests().is_empty());
    talk.terminal.wait_text("here it");
    talk.terminal.press("C-c");
    let screen = talk.wait_turns(1);
    let own_line = screen.lines().any(|line| line == "stopping the turn; once more leaves");
    assert!(own_line, "what is said stands within the answer: {screen}");
    talk.ask("prompt after it", 2);
    let events = talk.quit_soundly(&world);
    assert_eq!(payloads(&events, "turn.interrupted").len(), 1);
    let failed = payloads(&events, "turn.failed");
    assert_eq!((failed.len(), text(&failed[0]["failure"])), (1, "Cancelled"));
    assert!(text(&failed[0]["partial"]).contains("here it"), "{failed:?}");
}

#[test]
fn a_terminal_that_closes_leaves_a_session_that_goes_on() {
    for backend in [Backend::Embedded, Backend::JetStream] {
        let world = World::new(backend, &script(&[counts_and_waits("one"), ECHO.to_owned()]));
        let talk = Talk::begin(&world, &[]);
        talk.terminal.enter("go");
        wait_begun(&world, "one");
        talk.terminal.close();
        let events = sound(&world);
        assert_eq!(payloads(&events, "turn.ended").len(), 0);
        let talk = Talk::begin(&world, &["--last"]);
        // Where it stood is shown.
        talk.terminal.wait_text("touch one.begun");
        talk.terminal.enter("prompt again");
        talk.terminal.wait_text("answer to again");
        let events = talk.quit_soundly(&world);
        assert_eq!(prompts(&events), ["go", "prompt again"]);
        assert_eq!(world.read("effects.log").lines().count(), 1);
    }
}

#[test]
fn killed_in_mid_turn_it_goes_on_where_it_was_and_does_nothing_twice() {
    for backend in [Backend::Embedded, Backend::JetStream] {
        let world = World::new(backend, &script(&[counts_and_waits("one"), says("so much for that"), ECHO.to_owned()]));
        let talk = Talk::begin(&world, &[]);
        talk.terminal.enter("go");
        wait_begun(&world, "one");
        talk.terminal.enter("prompt that waits");
        talk.terminal.wait_text("queued");
        talk.terminal.kill(libc::SIGKILL);
        drop(talk);
        let talk = Talk::begin(&world, &["--last"]);
        // The turn goes on by itself, and the prompt that waited comes after it.
        let screen = talk.terminal.wait_text("answer to that waits");
        assert!(screen.contains("so much for that"), "{screen}");
        talk.wait_prompt();
        let events = talk.quit_soundly(&world);
        assert_eq!(prompts(&events), ["go", "prompt that waits"]);
        assert_eq!(payloads(&events, "tool.outcome_unknown").len(), 1);
        assert_eq!(payloads(&events, "turn.ended").len(), 2);
        assert_eq!(world.read("effects.log").lines().count(), 1);
    }
}

#[test]
fn killed_in_mid_answer_it_is_asked_for_again() {
    let hangs = format!("{}[[step.fault]]\nhang = true\n", says("at last"));
    let world = World::new(Backend::Embedded, &hangs);
    let talk = Talk::begin(&world, &[]);
    talk.terminal.enter("go");
    wait_for("the request", || !world.server.requests().is_empty());
    talk.terminal.kill(libc::SIGKILL);
    drop(talk);
    let talk = Talk::begin(&world, &["--last"]);
    talk.terminal.wait_text("at last");
    talk.wait_prompt();
    let events = talk.quit_soundly(&world);
    assert_eq!(prompts(&events), ["go"]);
    assert_eq!(payloads(&events, "turn.ended").len(), 1);
}

#[test]
fn prompts_typed_while_a_command_runs_are_answered_in_their_order() {
    for backend in [Backend::Embedded, Backend::JetStream] {
        let world = World::new(backend, &script(&[waits("one"), says("over"), ECHO.to_owned()]));
        let talk = Talk::begin(&world, &[]);
        talk.terminal.enter("go");
        wait_begun(&world, "one");
        for n in 1..=5 {
            talk.terminal.enter(&format!("prompt {n}"));
        }
        talk.terminal.wait_screen("the queue", |screen| screen.matches("queued").count() >= 5);
        talk.terminal.enter("/queue");
        talk.terminal.wait_text("5 prompts:");
        world.file("one.go", "");
        let screen = talk.wait_turns(6);
        let places: Vec<usize> = (1..=5).map(|n| screen.find(&format!("answer to {n}")).unwrap()).collect();
        assert!(places.is_sorted(), "{screen}");
        let events = talk.quit_soundly(&world);
        assert_eq!(prompts(&events), ["go", "prompt 1", "prompt 2", "prompt 3", "prompt 4", "prompt 5"]);
        assert_eq!(payloads(&events, "turn.queued").len(), 6);
    }
}

#[test]
fn what_waits_when_the_user_leaves_is_there_when_they_come_back() {
    let world = World::new(Backend::Embedded, &script(&[waits("one"), ECHO.to_owned()]));
    let talk = Talk::begin(&world, &[]);
    talk.terminal.enter("go");
    wait_begun(&world, "one");
    talk.terminal.enter("prompt for later");
    talk.terminal.wait_text("queued");
    let screen = talk.quit();
    assert!(screen.contains("1 queued prompt left"), "{screen}");
    assert_eq!(prompts(&sound(&world)), ["go"]);
    let talk = Talk::begin(&world, &["--last"]);
    talk.terminal.wait_text("answer to for later");
    talk.wait_prompt();
    let events = talk.quit_soundly(&world);
    assert_eq!(prompts(&events), ["go", "prompt for later"]);
}

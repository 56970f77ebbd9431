//! Every way an answer can stop, and every budget: the right end, the right exit code, no command from a cut answer, and a
//! session that goes on afterwards.

use crate::checks::{objects, outcome, sound, text};
use crate::scripts::{runs, says, script};
use crate::world::{Backend, World, payloads};

/// A step that stops for `reason`, with these blocks.
fn stops(reason: &str, blocks: &str) -> String {
    format!("[[step]]\nstop_reason = \"{reason}\"\n{blocks}\n")
}

const TEXT: &str = "[[step.block]]\ntype = \"text\"\ntext = \"so far, so\"\n";
const CALL: &str = "[[step.block]]\ntype = \"tool_use\"\nname = \"bash\"\ninput = { command = \"touch planted\" }\n";
const CUT_CALL: &str =
    "[[step.block]]\ntype = \"tool_use\"\nname = \"bash\"\nraw_input = '{\"command\": \"touch planted'\n";

fn world(steps: &[String]) -> World {
    World::new(Backend::Embedded, &script(steps))
}

#[test]
fn a_text_that_is_cut_ends_the_turn_and_can_be_continued() {
    for backend in [Backend::Embedded, Backend::JetStream] {
        let world = World::new(backend, &script(&[stops("max_tokens", TEXT), says("good")]));
        let ran = world.run(&["run", "go"]).expect(4);
        assert!(ran.stdout.contains("so far, so"), "{}", ran.stdout);
        assert_eq!(outcome(&sound(&world)), "AnswerTooLong");
        let ran = world.run(&["resume", "--last", "go on"]).expect(0);
        assert!(ran.stdout.contains("good"), "{}", ran.stdout);
        assert_eq!(outcome(&sound(&world)), "Completed");
    }
}

#[test]
fn a_call_that_is_cut_is_not_run_and_the_model_is_told() {
    for call in [CALL, CUT_CALL] {
        let world = world(&[stops("max_tokens", &format!("{TEXT}{call}")), says("shorter this time")]);
        world.run(&["run", "go"]).expect(0);
        assert!(!world.workspace().join("planted").exists(), "a command ran from a cut answer");
        let events = sound(&world);
        let result = payloads(&events, "tool.finished")[0];
        assert!(result["is_error"] == true && text(&result["content"]).contains("cut at its token limit"), "{result}");
    }
}

#[test]
fn only_the_last_call_of_a_cut_answer_is_left_out() {
    let first = CALL.replace("planted", "whole");
    let world = world(&[stops("max_tokens", &format!("{first}{CALL}")), says("done")]);
    world.run(&["run", "go"]).expect(0);
    assert!(world.workspace().join("whole").exists() && !world.workspace().join("planted").exists());
    sound(&world);
}

#[test]
fn three_cut_answers_in_a_row_end_the_turn() {
    let cut = || stops("max_tokens", CUT_CALL);
    let world = world(&[cut(), cut(), cut(), says("now I can")]);
    let ran = world.run(&["run", "go"]).expect(4);
    assert!(ran.stderr.contains("cut at their token limit"), "{}", ran.stderr);
    let events = sound(&world);
    assert_eq!((outcome(&events), payloads(&events, "turn.answered").len()), ("AnswerTooLong", 3));
    assert!(!world.workspace().join("planted").exists());
    world.run(&["resume", "--last", "in small steps, please"]).expect(0);
    sound(&world);
}

#[test]
fn two_cut_answers_and_a_whole_one_do_not_end_the_turn() {
    let cut = || stops("max_tokens", CUT_CALL);
    let world = world(&[cut(), cut(), runs("echo fine"), cut(), cut(), says("done")]);
    world.run(&["run", "go"]).expect(0);
    sound(&world);
}

#[test]
fn a_paused_turn_is_sent_back_as_it_is() {
    let world = world(&[stops("pause_turn", TEXT), runs("echo after the pause"), says("good")]);
    world.run(&["run", "go"]).expect(0);
    let events = sound(&world);
    assert_eq!(payloads(&events, "turn.prompted").len(), 1, "nobody said a word in between");
    assert_eq!(payloads(&events, "turn.answered").len(), 3);
    assert_eq!(outcome(&events), "Completed");
}

#[test]
fn a_refusal_without_a_word_leaves_a_session_that_goes_on() {
    for backend in [Backend::Embedded, Backend::JetStream] {
        let refusal = "[[step]]\nwhen = \"^evil$\"\nstop_reason = \"refusal\"\n";
        let world = World::new(backend, &script(&[refusal.to_owned(), says("with pleasure")]));
        let ran = world.run(&["run", "evil"]).expect(3);
        assert!(ran.stderr.contains("declined"), "{}", ran.stderr);
        let events = sound(&world);
        assert_eq!((outcome(&events), text(&payloads(&events, "turn.answered")[0]["content"])), ("Refused", "[]"));
        let ran = world.run(&["resume", "--last", "something good, then"]).expect(0);
        assert!(ran.stdout.contains("with pleasure"), "{}", ran.stdout);
        assert_eq!(outcome(&sound(&world)), "Completed");
    }
}

#[test]
fn a_full_context_window_is_said() {
    let full = || stops("model_context_window_exceeded", TEXT);
    let world = world(&[full(), full(), says("good")]);
    let ran = world.run(&["run", "go"]).expect(4);
    assert!(ran.stderr.contains("context window"), "{}", ran.stderr);
    let events = sound(&world);
    assert_eq!(outcome(&events), "ContextFull");
    assert_eq!(payloads(&events, "turn.requested").len(), 2, "it was tried once in a fresh context");
}

#[test]
fn a_full_context_window_is_cured_by_a_fresh_context() {
    let world = world(&[stops("model_context_window_exceeded", TEXT), says("good")]);
    world.run(&["run", "go"]).expect(0);
    let events = sound(&world);
    assert_eq!(outcome(&events), "Completed");
    assert_eq!(payloads(&events, "context.epoch_started").len(), 2);
}

#[test]
fn no_call_is_run_from_an_answer_that_broke_off_for_another_reason() {
    for (reason, ends, code) in [("model_context_window_exceeded", "ContextFull", 4), ("refusal", "Refused", 3)] {
        let whole = CALL.replace("planted", "whole");
        let world = world(&[stops(reason, &format!("{TEXT}{whole}{CALL}")), says("fine")]);
        world.run(&["run", "go"]).expect(code);
        assert!(!world.workspace().join("whole").exists(), "{reason}");
        assert!(!world.workspace().join("planted").exists(), "{reason}: a command ran from an answer that broke off");
        let events = sound(&world);
        assert_eq!(outcome(&events), ends, "{reason}");
        assert_eq!(payloads(&events, "turn.requested").len(), 1, "{reason}: the turn went on");
        world.run(&["resume", "--last", "something else"]).expect(0);
        sound(&world);
    }
}

#[test]
fn each_budget_ends_the_turn_with_its_figures_and_can_be_raised() {
    let step = |n: u32| {
        format!("{}[step.usage]\ninput_tokens = 1000\noutput_tokens = 500\n", runs(&format!("echo {n} >> effects.log")))
    };
    for (flag, limit, words, raised) in [
        ("--max-total-tokens", "2000", "of 2000 tokens", "1000000"),
        ("--max-cost", "0.000001", "$0.0000 are used", "100"),
        ("--max-steps", "2", "2 of 2 steps", "20"),
        ("--max-time", "1ms", "of 0 s are used", "10m"),
    ] {
        let world = world(&[step(1), step(2), step(3), says("done")]);
        let ran = world.run(&["run", flag, limit, "go"]).expect(4);
        assert!(ran.stderr.contains(words), "{flag}: {}", ran.stderr);
        let events = sound(&world);
        assert_eq!(outcome(&events), "BudgetReached", "{flag}");
        let so_far = world.read("effects.log").lines().count();
        assert!(so_far < 3, "{flag}: {so_far} commands ran");
        // The same limit stops the session at once, another lets it go on.
        world.run(&["resume", "--last", "go on"]).expect(4);
        assert_eq!(world.read("effects.log").lines().count(), so_far, "{flag}");
        let ran = world.run(&["resume", "--last", flag, raised, "--json", "go on"]).expect(0);
        assert_eq!(world.read("effects.log").lines().count(), 3, "{flag}");
        assert_eq!(objects(&ran).last().unwrap()["summary"]["exit_code"], 0);
        sound(&world);
    }
}

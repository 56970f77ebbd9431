//! A conversation as a user has it, in a terminal: prompts of several lines, pastes, commands, sessions to and fro.

use crate::checks::{objects, sound, text};
use crate::scripts::{runs, says, script};
use crate::talk::{Talk, statuses};
use crate::world::{Backend, World, payloads};
use serde_json::Value;

/// A step that answers each `prompt …` with the rest of it, any number of times.
pub(crate) const ECHO: &str = "[[step]]\nname = \"echo\"\nwhen = '(?m)^/?prompt (.+)$'\nnext = \"echo\"\n\
                               [[step.block]]\ntype = \"text\"\ntext = \"answer to $1\"\n";

/// The texts of the prompts in the log.
pub(crate) fn prompts(events: &[Value]) -> Vec<&str> {
    payloads(events, "turn.prompted").iter().map(|prompted| text(&prompted["text"])).collect()
}

fn a_whole_conversation(backend: Backend) {
    let world = World::new(backend, &script(&[runs("echo the command was here"), says("zero"), ECHO.to_owned()]));
    let talk = Talk::begin(&world, &[]);
    let screen = talk.ask("prompt zero", 1);
    assert!(screen.contains("the command was here"), "{screen}");
    // Several lines, written one below the other.
    talk.terminal.type_keys("prompt one");
    talk.terminal.press("M-Enter");
    talk.terminal.type_keys("and its second line");
    talk.terminal.press("Enter");
    let screen = talk.wait_turns(2);
    assert!(screen.contains("answer to one"), "{screen}");
    let status = *statuses(&screen).last().unwrap();
    assert!(status.contains("3 steps") && status.contains("sandbox process"), "{status}");

    talk.terminal.enter("/help");
    let screen = talk.terminal.wait_text("Ctrl-C stops the turn");
    for command in ["/load", "/clear", "/sessions", "/cost", "/model", "/sandbox", "/quit"] {
        assert!(screen.contains(&format!("  {command}")), "/help does not list {command}: {screen}");
    }
    talk.terminal.enter("/cost");
    talk.terminal.wait_text("2 prompts · 3 steps · 1 call");
    talk.terminal.enter("/sandbox");
    talk.terminal.wait_text("proven");
    talk.terminal.enter("/sessions");
    let id = world.session();
    talk.terminal.wait_screen("the list", |screen| screen.matches(&id[..8]).count() > 1);
    talk.terminal.enter("/modle");
    talk.terminal.wait_text("did you mean /model?");
    let screen = talk.quit();
    assert!(screen.contains(&id), "how to come back is not said: {screen}");

    let events = sound(&world);
    assert_eq!(prompts(&events), ["prompt zero", "prompt one\nand its second line"]);
    assert_eq!(payloads(&events, "turn.ended").len(), 2);
    let handled = payloads(&events, "session.control_handled");
    assert!(handled.len() == 2 && handled.iter().all(|handled| handled["accepted"] == true), "{handled:?}");
}

#[test]
fn a_whole_conversation_on_the_embedded_log() {
    a_whole_conversation(Backend::Embedded);
}

#[test]
fn a_whole_conversation_on_jetstream() {
    a_whole_conversation(Backend::JetStream);
}

#[test]
fn a_paste_of_10_000_lines_is_one_prompt() {
    let world = World::new(Backend::Embedded, ECHO);
    let talk = Talk::begin(&world, &[]);
    let lines: Vec<String> = (0..10_000).map(|n| format!("\tline {n} of 'a' \"paste\" with ünïcode, 漢字")).collect();
    let pasted = format!("{}\nprompt pasted", lines.join("\n"));
    talk.terminal.paste(&pasted);
    let screen = talk.terminal.wait_text("10,001 lines]");
    assert!(!screen.contains("line 5000"), "{screen}");
    talk.terminal.type_keys(" and typed");
    talk.terminal.press("Enter");
    talk.wait_turns(1);
    let screen = talk.ask("prompt after it", 2);
    assert!(screen.contains("answer to pasted and typed") && screen.contains("answer to after it"), "{screen}");
    let events = talk.quit_soundly(&world);
    let prompts = prompts(&events);
    assert_eq!(prompts.len(), 2);
    assert!(prompts[0] == format!("{pasted} and typed"), "{} bytes of {}", prompts[0].len(), pasted.len());
}

#[test]
fn a_paste_with_escapes_and_nul_bytes_is_cleaned_and_said() {
    let world = World::new(Backend::Embedded, ECHO);
    let talk = Talk::begin(&world, &[]);
    talk.terminal
        .paste("prompt \x1b[31mred\x1b[0m\0 nul\x07 bell\x1b]0;their title\x07 \x1b[2Jend\u{9b}1m \u{85}\x7f.\n");
    talk.terminal.wait_text("left out of what was pasted");
    talk.terminal.press("Enter");
    let screen = talk.wait_turns(1);
    assert!(screen.contains("answer to red nul bell"), "{screen}");
    assert!(!talk.terminal.ask("#{pane_title}").contains("their title"));
    let events = talk.quit_soundly(&world);
    let prompt = prompts(&events)[0];
    assert!(prompt.starts_with("prompt red nul bell") && prompt.contains("end"), "{prompt:?}");
    assert!(prompt.chars().all(|c| !c.is_control() || c == '\n'), "{prompt:?}");
}

#[test]
fn escapes_of_the_model_and_of_a_command_do_not_reach_the_terminal() {
    let evil = "before \u{1b}]0;their title\u{7}\u{1b}[2J\u{1b}[8m after \u{9b}2J the end";
    let steps = [runs("printf 'x \\033]0;their title\\007\\033[2J\\033[8m y\\n'"), says(evil)];
    let world = World::new(Backend::Embedded, &script(&steps));
    let talk = Talk::begin(&world, &[]);
    talk.terminal.enter("go");
    let screen = talk.wait_turns(1);
    assert!(screen.contains("before") && screen.contains("after") && screen.contains("the end"), "{screen}");
    assert!(screen.contains("> go"), "the screen was cleared: {screen}");
    assert!(!talk.terminal.ask("#{pane_title}").contains("their title"));
    talk.quit_soundly(&world);
}

#[test]
fn another_session_and_back_and_another_model_at_the_next_prompt() {
    let world = World::new(Backend::Embedded, ECHO);
    let talk = Talk::begin(&world, &[]);
    talk.ask("prompt one", 1);
    let first = world.session();
    talk.terminal.enter("/model claude-sonnet-5");
    talk.wait_prompt();
    let screen = talk.ask("prompt two", 2);
    assert!(statuses(&screen)[1].contains("claude-sonnet-5"), "{screen}");
    talk.terminal.enter("/clear");
    talk.terminal.wait_text(&format!("session {first} stays"));
    talk.wait_prompt();
    talk.ask("prompt three", 3);
    let second = world.session();
    assert_ne!(first, second);
    talk.terminal.enter(&format!("/load {}", &first[..first.len() - 2]));
    talk.terminal.wait_screen("the old session", |screen| screen.matches("answer to two").count() == 2);
    talk.wait_prompt();
    let before = statuses(&talk.terminal.screen()).len();
    talk.ask("prompt four", before + 1);
    talk.terminal.enter("/load nonsense");
    talk.terminal.wait_text("error:");
    talk.quit();

    let listed = objects(&world.run(&["sessions", "--json"]).expect(0));
    assert_eq!(listed.len(), 2, "{listed:?}");
    world.run(&["log", "verify"]).expect(0);
    for (session, said) in [(&first, &["prompt one", "prompt two", "prompt four"][..]), (&second, &["prompt three"])] {
        world.run(&["replay", "--verify", session]).expect(0);
        let exported = world.run(&["export", session]).expect(0);
        let events: Vec<Value> = exported.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(prompts(&events), said);
        let models: Vec<&str> =
            payloads(&events, "context.epoch_started").iter().map(|epoch| text(&epoch["model"])).collect();
        let expected =
            if *session == first { &["claude-opus-5-5", "claude-sonnet-5"][..] } else { &["claude-sonnet-5"] };
        assert_eq!(models, expected, "of {said:?}");
    }
    assert!(world.server.requests().iter().all(|request| request.refusal.is_none()));
}

#[test]
fn a_budget_that_is_reached_is_said_and_can_be_raised() {
    let steps = [runs("echo 1 >> effects.log"), runs("echo 2 >> effects.log"), says("all done")];
    let world = World::new(Backend::Embedded, &script(&steps));
    let talk = Talk::begin(&world, &["--max-steps", "1"]);
    let screen = talk.ask("go", 1);
    assert!(screen.contains("1 of 1 steps") && screen.contains("hint: `/budget steps"), "{screen}");
    talk.terminal.enter("/budget steps 5");
    talk.wait_prompt();
    let screen = talk.ask("go on", 2);
    assert!(screen.contains("all done"), "{screen}");
    let events = talk.quit_soundly(&world);
    let outcomes: Vec<&str> = payloads(&events, "turn.ended").iter().map(|ended| text(&ended["outcome"])).collect();
    assert_eq!(outcomes, ["BudgetReached", "Completed"]);
    assert_eq!(world.read("effects.log"), "1\n2\n");
}

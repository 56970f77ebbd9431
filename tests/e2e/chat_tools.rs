//! What goes on beside the answers: commands in the background, the plan, questions of the model's.

use crate::checks::{sound, text, wait_for};
use crate::scripts::{calls, says, script};
use crate::talk::Talk;
use crate::terminal::Terminal;
use crate::world::{Backend, World, payloads};

/// Whether a process runs with `mark` in its command line.
fn runs_now(mark: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    let mut lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.any(|line| line.contains(mark))
}

/// A step for when the user's side has said what `when` fits.
fn when(when: &str, step: &str) -> String {
    step.replacen("[[step]]", &format!("[[step]]\nwhen = '{when}'"), 1)
}

/// A background command that says something, and then runs on; nothing else on this machine has `mark`.
fn background(mark: &str) -> String {
    let command = format!("echo it is up; touch up; sleep {mark} & wait");
    calls("bash", &format!("{{ command = \"{command}\", background = true }}"))
}

fn a_background_command(backend: Backend, mark: &str) {
    let look = calls("read_output", "{ call_id = \"$1\", wait_ms = 5000 }");
    let steps = [
        background(mark),
        when(r"call_id (\S+) ", &look),
        when("it is up", &says("it runs")),
        when(r"look at (\S+)", &look),
        when("it is up", &says("it runs still")),
        when(r"end (\S+)", &calls("kill", "{ call_id = \"$1\" }")),
        says("it is over"),
    ];
    let world = World::new(backend, &script(&steps));
    let talk = Talk::begin(&world, &[]);
    talk.ask("go", 1);
    let screen = talk.terminal.screen();
    assert!(screen.contains("it runs") && screen.contains("1 in background"), "{screen}");
    assert!(runs_now(&format!("sleep {mark}")), "it does not outlive the turn");
    let events = world.events();
    let call = text(&payloads(&events, "tool.background_started")[0]["call"]).to_owned();
    let screen = talk.ask(&format!("look at {call}"), 2);
    assert!(screen.contains("it runs still"), "{screen}");
    talk.ask(&format!("end {call}"), 3);
    wait_for("its end", || !runs_now(&format!("sleep {mark}")));
    let screen = talk.quit();
    assert!(screen.contains("it is over"), "{screen}");
    let events = sound(&world);
    let ended = payloads(&events, "tool.background_ended");
    assert_eq!((ended.len(), text(&ended[0]["call"])), (1, call.as_str()));
    assert!(text(&ended[0]["why"]).contains("kill"), "{ended:?}");
}

#[test]
fn a_background_command_is_looked_at_and_ended_on_the_embedded_log() {
    a_background_command(Backend::Embedded, "94217.1");
}

#[test]
fn a_background_command_is_looked_at_and_ended_on_jetstream() {
    a_background_command(Backend::JetStream, "94217.2");
}

#[test]
fn a_background_command_ends_with_the_chat_and_the_log_says_so() {
    let world = World::new(Backend::Embedded, &script(&[background("94217.3"), says("it runs"), says("what of it?")]));
    let talk = Talk::begin(&world, &[]);
    talk.ask("go", 1);
    wait_for("the command", || world.workspace().join("up").exists() && runs_now("sleep 94217.3"));
    let events = talk.quit_soundly(&world);
    assert!(!runs_now("sleep 94217.3"), "it outlives the chat");
    assert_eq!(payloads(&events, "tool.background_ended").len(), 1, "its end is not in the log");
}

#[test]
fn a_background_command_that_was_killed_with_the_chat_is_found_to_be_over_and_the_model_is_told() {
    let told = when(r"(?s)background command of call \S+ is over", &says("I was told"));
    let world = World::new(Backend::Embedded, &script(&[background("94217.4"), says("it runs"), told]));
    let talk = Talk::begin(&world, &[]);
    talk.ask("go", 1);
    wait_for("the command", || world.workspace().join("up").exists() && runs_now("sleep 94217.4"));
    talk.terminal.kill(libc::SIGKILL);
    wait_for("its end", || !runs_now("sleep 94217.4"));
    drop(talk);
    let talk = Talk::begin(&world, &["--last"]);
    talk.terminal.enter("what of it?");
    talk.terminal.wait_text("I was told");
    talk.wait_prompt();
    let events = talk.quit_soundly(&world);
    assert_eq!(payloads(&events, "tool.background_ended").len(), 1);
}

#[test]
fn the_plan_is_shown_and_kept() {
    let plan = calls(
        "todo",
        "{ items = [{ text = \"look around\", status = \"done\" }, { text = \"mend it\", status = \"in_progress\" }, \
         { text = \"tell\", status = \"pending\" }] }",
    );
    let world = World::new(Backend::Embedded, &script(&[plan, says("that is the plan")]));
    let talk = Talk::begin(&world, &[]);
    let screen = talk.ask("go", 1);
    for item in ["[x] look around", "[~] mend it", "[ ] tell"] {
        assert!(screen.contains(item), "{item}: {screen}");
    }
    talk.quit();
    let talk = Talk::begin(&world, &["--last"]);
    let before = talk.terminal.screen().matches("[~] mend it").count();
    talk.terminal.enter("/plan");
    talk.terminal.wait_screen("the plan", |screen| screen.matches("[~] mend it").count() == before + 1);
    let events = talk.quit_soundly(&world);
    assert_eq!(payloads(&events, "session.planned").len(), 1);
}

#[test]
fn a_question_is_answered_with_a_number_or_in_words() {
    let question = |ask: &str| {
        calls(
            "ask_user",
            &format!("{{ question = \"{ask}\", options = [\"keep it\", \"throw it away\", \"neither\"] }}"),
        )
    };
    let steps = [
        question("what of the file?"),
        when("throw it away", &question("and the folder?")),
        when("let me think about it", &says("as you wish")),
    ];
    for backend in [Backend::Embedded, Backend::JetStream] {
        let world = World::new(backend, &script(&steps));
        let talk = Talk::begin(&world, &[]);
        talk.terminal.enter("go");
        let screen = talk.terminal.wait_text("what of the file?");
        assert!(screen.contains("1. keep it") || talk.terminal.wait_text("3. neither").contains("1. keep it"));
        talk.terminal.wait_screen("the prompt", |screen| screen.lines().last() == Some("answer >"));
        talk.terminal.enter("2");
        talk.terminal.wait_text("and the folder?");
        // Killed here, the question is put again.
        talk.terminal.kill(libc::SIGKILL);
        drop(talk);
        let talk = Talk { terminal: Terminal::run(&world, &["chat", "--last"]) };
        talk.terminal.wait_screen("the prompt", |screen| screen.lines().last() == Some("answer >"));
        talk.terminal.wait_text("and the folder?");
        talk.terminal.enter("let me think about it");
        talk.terminal.wait_text("as you wish");
        talk.wait_prompt();
        let events = talk.quit_soundly(&world);
        assert_eq!(payloads(&events, "tool.finished").len(), 2);
        assert_eq!(payloads(&events, "turn.prompted").len(), 1, "an answer was taken for a prompt");
    }
}

//! Approvals in a terminal: once, for this session, always, and no; asked again after `kill -9`, carried out once.

use crate::checks::{one_result_a_call, sound, text};
use crate::scripts::{calls, runs, says, script};
use crate::talk::Talk;
use crate::terminal::Terminal;
use crate::world::{Backend, World, payloads};
use serde_json::Value;

const ASK: &[&str] = &["--approvals", "ask"];

/// A command of which all are alike for the rules, with an effect that can be counted.
fn counts(n: usize) -> String {
    runs(&format!("git log {n} 2> /dev/null; echo {n} >> effects.log"))
}

/// Waits until `asked` questions were put in this terminal.
#[track_caller]
fn wait_asked(talk: &Talk, asked: usize) -> String {
    talk.terminal.wait_screen(&format!("question {asked}"), |screen| {
        screen.matches("[y] once").count() == asked
            && screen.lines().last().is_some_and(|line| line.starts_with("allow? >"))
    })
}

/// The scopes of what people have allowed.
fn scopes(events: &[Value]) -> Vec<&str> {
    payloads(events, "tool.approved").iter().map(|approved| text(&approved["scope"])).collect()
}

#[test]
fn once_is_once_and_what_is_asked_is_shown() {
    for backend in [Backend::Embedded, Backend::JetStream] {
        let steps = [
            counts(1),
            counts(2),
            calls("write_file", "{ path = \"new.txt\", content = \"one line\\n\" }"),
            says("done"),
        ];
        let world = World::new(backend, &script(&steps));
        let talk = Talk::begin(&world, ASK);
        talk.terminal.enter("go");
        let screen = wait_asked(&talk, 1);
        assert!(screen.contains("git log 1 2> /dev/null; echo 1 >> effects.log"), "{screen}");
        assert!(
            screen.contains("[a] always") && screen.contains("[s] this session") && screen.contains("[n] no"),
            "{screen}"
        );
        assert_eq!(world.read("effects.log"), "");
        talk.terminal.enter("y");
        wait_asked(&talk, 2);
        assert_eq!(world.read("effects.log"), "1\n");
        talk.terminal.enter("yes");
        let screen = wait_asked(&talk, 3);
        assert!(screen.contains("new.txt") && screen.contains("+one line"), "the change is not shown: {screen}");
        talk.terminal.enter("y");
        talk.wait_turns(1);
        let events = talk.quit_soundly(&world);
        assert_eq!(scopes(&events), ["Once", "Once", "Once"]);
        assert_eq!(payloads(&events, "tool.approval_asked").len(), 3);
        assert!(payloads(&events, "session.rule_added").is_empty());
        assert_eq!(world.read("effects.log"), "1\n2\n");
        assert!(!world.path("config").join("retrace/permissions.toml").exists());
    }
}

#[test]
fn for_this_session_holds_across_a_restart_and_in_no_other_session() {
    let plain = |n: usize| runs(&format!("git status {n}"));
    let world = World::new(Backend::Embedded, &script(&[plain(1), plain(2), says("one"), plain(3), says("two")]));
    let talk = Talk::begin(&world, ASK);
    talk.terminal.enter("go");
    let screen = wait_asked(&talk, 1);
    assert!(screen.contains("bash(git status *)"), "{screen}");
    talk.terminal.enter("s");
    talk.wait_turns(1);
    talk.quit();
    let talk = Talk::begin(&world, &["--last", "--approvals", "ask"]);
    talk.terminal.enter("go on");
    talk.terminal.wait_text("two");
    talk.wait_prompt();
    let events = talk.quit_soundly(&world);
    assert_eq!(payloads(&events, "tool.approval_asked").len(), 1);
    assert_eq!(payloads(&events, "session.rule_added").len(), 1);
    assert_eq!(payloads(&events, "tool.finished").len(), 3);
    let talk = Talk::begin(&world, ASK);
    talk.terminal.enter("go");
    wait_asked(&talk, 1);
    talk.terminal.enter("n");
    wait_asked(&talk, 2);
    talk.terminal.enter("n");
    talk.wait_turns(1);
    talk.quit();
}

#[test]
fn always_is_in_the_users_file_and_not_asked_in_another_session() {
    for backend in [Backend::Embedded, Backend::JetStream] {
        let steps = [runs("git status 1"), runs("git status 2; true > made"), says("done")];
        let world = World::new(backend, &script(&steps));
        let talk = Talk::begin(&world, ASK);
        talk.terminal.enter("go");
        wait_asked(&talk, 1);
        talk.terminal.enter("a");
        // Another kind of command is asked about all the same.
        wait_asked(&talk, 2);
        talk.terminal.enter("y");
        talk.wait_turns(1);
        let events = talk.quit_soundly(&world);
        assert_eq!(scopes(&events), ["Always", "Once"]);
        let file = std::fs::read_to_string(world.path("config").join("retrace/permissions.toml")).unwrap();
        assert!(file.contains("\"bash(git status *)\""), "{file}");
        let talk = Talk::begin(&world, ASK);
        talk.terminal.enter("go");
        let screen = wait_asked(&talk, 1);
        assert!(screen.contains("git status 2; true > made"), "{screen}");
        talk.terminal.enter("y");
        talk.wait_turns(1);
        talk.quit();
        world.run(&["log", "verify"]).expect(0);
        let newest = world.session();
        let exported = world.run(&["export", &newest]).expect(0);
        let events: Vec<Value> = exported.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(payloads(&events, "tool.approval_asked").len(), 1);
        one_result_a_call(&events);
    }
}

#[test]
fn no_with_words_is_what_the_model_gets() {
    let heard = "[[step]]\nwhen = \"rather with care\"\n[[step.block]]\ntype = \"text\"\ntext = \"with care, then\"\n";
    let world = World::new(Backend::Embedded, &script(&[counts(1), heard.to_owned()]));
    let talk = Talk::begin(&world, ASK);
    talk.terminal.enter("go");
    wait_asked(&talk, 1);
    talk.terminal.enter("n rather with care");
    talk.terminal.wait_text("with care, then");
    talk.wait_turns(1);
    let events = talk.quit_soundly(&world);
    assert!(text(&payloads(&events, "tool.denied")[0]["content"]).contains("rather with care"));
    assert!(payloads(&events, "tool.called").is_empty() && world.read("effects.log").is_empty());
}

#[test]
fn killed_in_mid_approval_it_is_asked_again_and_carried_out_once() {
    for backend in [Backend::Embedded, Backend::JetStream] {
        let world = World::new(backend, &script(&[counts(1), says("done")]));
        let talk = Talk::begin(&world, ASK);
        talk.terminal.enter("go");
        wait_asked(&talk, 1);
        talk.terminal.kill(libc::SIGKILL);
        drop(talk);
        for kills in 0..2 {
            let talk = Talk { terminal: Terminal::run(&world, &["chat", "--last", "--approvals", "ask"]) };
            let screen = wait_asked(&talk, 1);
            assert!(screen.contains("git log 1"), "{screen}");
            assert_eq!(world.read("effects.log"), "");
            if kills == 0 {
                talk.terminal.kill(libc::SIGKILL);
            } else {
                talk.terminal.enter("y");
                talk.wait_turns(1);
                talk.quit();
            }
        }
        let events = sound(&world);
        assert_eq!(world.read("effects.log"), "1\n");
        assert_eq!(payloads(&events, "tool.approval_asked").len(), 1, "the question stands in the log once");
        assert_eq!(payloads(&events, "turn.ended").len(), 1);
    }
}

#[test]
fn another_process_may_answer_and_the_terminal_says_so() {
    let world = World::new(Backend::Embedded, &script(&[counts(1), counts(2), says("done")]));
    let talk = Talk::begin(&world, ASK);
    talk.terminal.enter("go");
    wait_asked(&talk, 1);
    world.run(&["approve", "--wait", &world.session()]).expect(0);
    wait_asked(&talk, 2);
    assert_eq!(world.read("effects.log"), "1\n");
    world.run(&["approve", "--wait", "--deny", "not twice", &world.session()]).expect(0);
    talk.wait_turns(1);
    let screen = talk.terminal.screen();
    assert!(screen.contains("done"), "{screen}");
    let events = talk.quit_soundly(&world);
    assert!(text(&payloads(&events, "tool.denied")[0]["content"]).contains("not twice"));
    assert_eq!(world.read("effects.log"), "1\n");
}

#[test]
fn a_run_in_a_terminal_asks_as_well() {
    let world = World::new(Backend::Embedded, &script(&[counts(1), counts(2), says("done")]));
    let terminal = Terminal::run(&world, &["run", "--approvals", "ask", "go"]);
    terminal.wait_text("[y] once");
    terminal.enter("y");
    terminal.wait_screen("the second question", |screen| screen.matches("[y] once").count() == 2);
    terminal.enter("n one is enough");
    assert_eq!(terminal.wait_exit(), 0, "{}", terminal.screen());
    let events = sound(&world);
    assert_eq!(scopes(&events), ["Once"]);
    assert!(text(&payloads(&events, "tool.denied")[0]["content"]).contains("one is enough"));
    assert_eq!(world.read("effects.log"), "1\n");
}

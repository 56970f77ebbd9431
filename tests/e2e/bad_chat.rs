//! Conversations under bad circumstances: a second one in the same session, an approval that comes too late, rules that do
//! not parse, a thousand prompts, no terminal, a dumb one.

use crate::chat_talk::{ECHO, prompts};
use crate::checks::{Running, sound, text, wait_for, waits};
use crate::scripts::{runs, says, script};
use crate::talk::{Talk, statuses};
use crate::terminal::Terminal;
use crate::world::{Backend, World, payloads};
use std::process::Stdio;
use tokio::io::AsyncWriteExt as _;

/// The command with `input` piped in, run to its end.
#[track_caller]
fn piped(world: &World, args: &[&str], input: &str) -> crate::world::Ran {
    let mut command = world.command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    world.runtime.block_on(async {
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // Whoever does not read it to its end closes it.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
        let ended = tokio::time::timeout(std::time::Duration::from_secs(60), child.wait_with_output()).await;
        let output = ended.expect("it does not end").unwrap();
        crate::world::Ran {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
            signal: None,
        }
    })
}

#[test]
fn the_second_of_two_chats_is_told_who_holds_the_session_and_what_can_be_done() {
    for backend in [Backend::Embedded, Backend::JetStream] {
        let world = World::new(backend, &script(&[waits("one"), says("over"), ECHO.to_owned()]));
        let first = Talk::begin(&world, &[]);
        first.terminal.enter("go");
        wait_for("the command", || world.workspace().join("one.begun").exists());
        let id = world.session();
        let pid = format!("{}", first.terminal.pid);

        // Where nobody can be asked.
        let ran = piped(&world, &["chat", "--last"], "prompt unheard\n").expect(6);
        assert!(ran.stderr.contains(&pid) && ran.stderr.contains(&id), "{pid}: {}", ran.stderr);
        assert!(ran.stderr.contains("hint:") && ran.stderr.contains("retrace show --follow"), "{}", ran.stderr);
        let ran = world.run(&["resume", "--last", "prompt unheard"]).expect(6);
        assert!(ran.stderr.contains(&pid), "{}", ran.stderr);

        // Where somebody can.
        let second = Terminal::run(&world, &["chat", "--last"]);
        let screen = second.wait_text("[w]atch it");
        assert!(screen.contains(&pid) && screen.contains("[q]uit"), "{screen}");
        second.enter("s");
        second.wait_text("is sent to the process that runs the session");
        second.enter("prompt from the second");
        first.terminal.wait_text("queued");
        world.file("one.go", "");
        first.terminal.wait_text("answer to from the second");
        second.wait_text("answer to from the second");
        second.enter("/quit");
        assert_eq!(second.wait_exit(), 0);
        drop(second);
        first.terminal.wait_screen("two turns", |screen| statuses(screen).len() == 2);
        let events = first.quit_soundly(&world);
        assert_eq!(prompts(&events), ["go", "prompt from the second"]);
        assert_eq!(payloads(&events, "sandbox.started").len(), 1, "the second has begun something");
    }
}

#[test]
fn a_session_is_free_the_moment_its_holder_is_killed() {
    for backend in [Backend::Embedded, Backend::JetStream] {
        let world = World::new(backend, ECHO);
        let talk = Talk::begin(&world, &[]);
        talk.ask("prompt one", 1);
        talk.terminal.kill(libc::SIGKILL);
        let ran = world.run(&["resume", "--last", "prompt two"]).expect(0);
        assert!(ran.stdout.contains("answer to two"), "{}", ran.stdout);
        sound(&world);
    }
}

#[test]
fn an_approval_that_comes_after_its_call_was_cancelled_is_refused_and_said() {
    let steps = [runs("touch planted"), says("as you like"), says("and again")];
    let world = World::new(Backend::Embedded, &script(&steps));
    let talk = Talk::begin(&world, &["--approvals", "ask"]);
    talk.terminal.enter("go");
    talk.terminal.wait_text("[y] once");
    let id = world.session();
    let call = text(&payloads(&world.events(), "tool.approval_asked")[0]["call"]).to_owned();
    world.run(&["cancel", "--wait", &id, &call]).expect(0);
    let ran = world.run(&["approve", "--wait", &id, &call]).expect(1);
    assert!(ran.stdout.contains("refused") && ran.stdout.contains(&call), "{} {}", ran.stdout, ran.stderr);
    talk.wait_turns(1);
    let ran = world.run(&["approve", "--wait", &id, "toolu_never_made"]).expect(1);
    assert!(ran.stdout.contains("never made"), "{}", ran.stdout);
    let ran = world.run(&["approve", &id]).expect(1);
    assert!(ran.stderr.contains("nothing") && ran.stderr.contains("waits for approval"), "{}", ran.stderr);
    let ran = world.run(&["cancel", "--wait", &id]).expect(1);
    assert!(ran.stdout.contains("nothing is going on"), "{}", ran.stdout);
    // A `y` that nothing waits for is a prompt like any other.
    talk.ask("y", 2);
    let events = talk.quit_soundly(&world);
    assert!(!world.workspace().join("planted").exists());
    assert_eq!(prompts(&events), ["go", "y"]);
    let refused = payloads(&events, "session.control_handled");
    assert_eq!(refused.iter().filter(|handled| handled["accepted"] == false).count(), 3, "{refused:?}");
}

#[test]
fn rules_that_do_not_parse_stop_it_with_file_line_and_reason() {
    let world = World::new(Backend::Embedded, &says("unused"));
    let folder = world.path("config").join("retrace");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("permissions.toml");
    for (rules, line, why) in [
        ("allow = [\n  \"bash(git *)\",\n  \"bash(oops\",\n]\n", 3, "bash(oops"),
        ("# mine\nallow = [\"bash()\"]\n", 2, "bash()"),
        ("deny = [\"edit_file(../x)\"]\n", 1, "../x"),
        ("alow = [\"bash\"]\n", 1, "allow"),
        ("\n\nallow = \"bash\"\n", 3, "list"),
        ("allow = [\n", 1, "unclosed"),
    ] {
        std::fs::write(&file, rules).unwrap();
        for command in [&["chat"][..], &["run", "go"], &["resume", "--last"], &["config", "show"]] {
            let ran = world.run(command).expect(2);
            assert!(ran.stderr.contains(&format!("permissions.toml:{line}")), "{rules}: {}", ran.stderr);
            assert!(ran.stderr.contains(why), "{rules}: {why}: {}", ran.stderr);
        }
    }
    assert!(world.server.requests().is_empty());
}

#[test]
fn a_thousand_prompts_wait_and_one_more_is_refused() {
    for backend in [Backend::Embedded, Backend::JetStream] {
        let world = World::new(backend, &script(&[waits("one"), says("over"), ECHO.to_owned()]));
        let talk = Talk::begin(&world, &[]);
        talk.terminal.enter("go");
        wait_for("the command", || world.workspace().join("one.begun").exists());
        send(&world, 1_000);
        let ran = world.run(&["send", "--wait", &world.session(), "prompt too many"]).expect(1);
        assert!(ran.stdout.contains("1000 prompts are waiting already"), "{}", ran.stdout);
        talk.terminal.enter("/queue");
        talk.terminal.wait_text("1,000 prompts:");
        // The turn is left; a few of them run, one after the other; the others stay.
        world.file("one.go", "");
        talk.terminal.wait_text("answer to number 3");
        talk.quit();
        let events = sound(&world);
        assert_eq!(payloads(&events, "turn.queued").len(), 1_001);
        let said: Vec<String> = (0..1_000).map(|n| format!("prompt number {n}")).collect();
        let ran = prompts(&events);
        assert!(ran.len() > 4 && ran[1..].iter().zip(&said).all(|(ran, said)| ran == said), "{ran:?}");
    }
}

/// Sends prompts as `retrace send` does, from here: a thousand processes would take their time.
fn send(world: &World, count: u32) {
    use retrace_events::control::ControlSender;
    use retrace_events::log::{StreamFilter, open_log};
    use retrace_events::payload::control::ControlPromptSent;
    use retrace_events::{Class, mint::SystemMint};
    let location = match &world.nats {
        Some(nats) => nats.url(),
        None => world.path("state").join("retrace").display().to_string(),
    };
    world.runtime.block_on(async {
        let log = open_log(&location.parse().unwrap()).await.unwrap();
        let filter = StreamFilter { class: Some(Class::Session), ..StreamFilter::default() };
        let session = log.streams(&filter).await.unwrap()[0].stream.clone();
        let sender = ControlSender::new(log, std::sync::Arc::new(SystemMint), &session);
        for n in 0..count {
            let text = format!("prompt number {n}");
            sender.send(ControlPromptSent { text, attachments: Vec::new() }.into()).await.unwrap();
        }
    });
}

#[test]
fn without_a_terminal_lines_are_prompts_one_after_the_other() {
    let world = World::new(Backend::Embedded, ECHO);
    let ran =
        piped(&world, &["chat"], "prompt one\n\n/cost\n//prompt three\nprompt two\x1b[31m\x00\n/model\n").expect(0);
    let (one, two) = (ran.stdout.find("answer to one"), ran.stdout.find("answer to two"));
    assert!(one.is_some() && one < two, "{}", ran.stdout);
    assert!(!ran.stdout.contains('\x1b') && !ran.stderr.contains('\x1b'), "{} {}", ran.stdout, ran.stderr);
    let events = sound(&world);
    assert_eq!(prompts(&events)[0], "prompt one");
    assert!(prompts(&events).iter().all(|prompt| prompt.chars().all(|c| !c.is_control())), "{:?}", prompts(&events));
    // No lines at all, and lines that are none.
    let ran = piped(&world, &["chat", "--last"], "").expect(0);
    assert_eq!(ran.stdout, "");
    piped(&world, &["chat", "--last"], "\u{0}\n\n  \n/quit\nprompt never\n").expect(0);
    assert!(!prompts(&sound(&world)).contains(&"prompt never"));
}

#[test]
fn without_a_terminal_what_would_be_asked_is_denied() {
    let world = World::new(Backend::Embedded, &script(&[runs("touch planted"), says("not then")]));
    let ran = piped(&world, &["chat", "--approvals", "ask"], "go\ny\n");
    assert!(ran.stdout.contains("not then"), "{} {}", ran.stdout, ran.stderr);
    let events = world.events();
    assert_eq!(payloads(&events, "tool.denied").len(), 1);
    assert!(!world.workspace().join("planted").exists());
}

#[test]
fn an_interrupt_without_a_terminal_stops_the_turn_and_leaves() {
    let world = World::new(Backend::Embedded, &script(&[waits("one"), says("over")]));
    let mut command = world.command(&["chat"]);
    command.stdin(Stdio::piped());
    let mut running = Running::start(&world, command);
    running.write(&world, "go\n");
    wait_for("the command", || world.workspace().join("one.begun").exists());
    running.signal(libc::SIGINT);
    let ended = running.end(&world);
    assert!(matches!(ended.code, Some(0 | 130)), "{ended:?}");
    let events = sound(&world);
    assert_eq!(payloads(&events, "turn.interrupted").len(), 1);
}

#[test]
fn a_dumb_terminal_gets_plain_lines() {
    let steps = [runs("touch allowed"), says("**done**"), says("and more")];
    let world = World::new(Backend::Embedded, &script(&steps));
    let mut command = world.command(&["chat", "--approvals", "ask"]);
    command.env("TERM", "dumb");
    let terminal = Terminal::raw(&world, &command);
    terminal.wait_text("lists the commands");
    terminal.enter("go");
    terminal.wait_text("[y] once");
    terminal.enter("y");
    terminal.wait_screen("the end", |screen| statuses(screen).len() == 1);
    terminal.enter("go on");
    terminal.wait_screen("the end", |screen| statuses(screen).len() == 2);
    terminal.press("C-d");
    assert_eq!(terminal.wait_exit(), 0, "{}", terminal.screen());
    let written = terminal.written();
    assert!(written.contains("done") && !written.contains('\x1b'), "{written:?}");
    let events = sound(&world);
    assert_eq!(prompts(&events), ["go", "go on"]);
    assert!(world.workspace().join("allowed").exists());
}

#[test]
fn what_is_sent_to_a_session_that_nobody_runs_is_done_when_it_goes_on() {
    let world = World::new(Backend::Embedded, ECHO);
    world.run(&["run", "prompt one"]).expect(0);
    world.run(&["send", &world.session(), "prompt two"]).expect(0);
    let ran = world.run(&["resume", "--last"]).expect(0);
    assert!(ran.stdout.contains("answer to two"), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(prompts(&sound(&world)), ["prompt one", "prompt two"]);
}

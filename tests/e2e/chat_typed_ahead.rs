//! Keys typed while nobody reads them, between two lines of a chat, and the terminal that the chat leaves behind.
//!
//! Between two lines the editor writes its history, for which it waits for whoever else has the file: a test that has it
//! keeps the chat there for as long as it likes.

use crate::chat_stops::wait_begun;
use crate::chat_talk::{ECHO, prompts};
use crate::checks::{kill, sound, wait_for, waits};
use crate::scripts::{says, script};
use crate::talk::{Talk, statuses};
use crate::terminal::Terminal;
use crate::world::{Backend, World, payloads};
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use tokio::process::Command;

/// A chat that stays between two lines once a line was sent, until this goes.
struct Between {
    tty: File,
    _history: File,
}

impl Between {
    /// Keeps the chat from going on to its next line.
    fn keep(world: &World, talk: &Talk) -> Self {
        let history = File::open(world.path("state").join("retrace/history")).unwrap();
        history.lock().unwrap();
        Self { tty: tty(&talk.terminal), _history: history }
    }

    /// Waits until the chat has left its line.
    #[track_caller]
    fn wait(&self) {
        wait_for("the end of the line", || modes(&self.tty).c_lflag & libc::ISIG != 0);
    }

    /// Waits until so many typed bytes are there to be read.
    #[track_caller]
    fn wait_typed(&self, bytes: usize) {
        wait_for("what was typed", || {
            let mut waiting: libc::c_int = 0;
            // SAFETY: the descriptor is open, and the request writes one int.
            assert_eq!(unsafe { libc::ioctl(self.tty.as_raw_fd(), libc::FIONREAD, &mut waiting) }, 0);
            usize::try_from(waiting).unwrap() == bytes
        });
    }
}

/// The terminal itself, without its becoming this process's own.
fn tty(terminal: &Terminal) -> File {
    let flags = libc::O_NOCTTY;
    OpenOptions::new().read(true).write(true).custom_flags(flags).open(terminal.ask("#{pane_tty}")).unwrap()
}

fn modes(tty: &File) -> libc::termios {
    let mut modes = std::mem::MaybeUninit::<libc::termios>::uninit();
    // SAFETY: the descriptor is open, and the modes are written whole where zero comes back.
    unsafe {
        assert_eq!(libc::tcgetattr(tty.as_raw_fd(), modes.as_mut_ptr()), 0);
        modes.assume_init()
    }
}

/// What a shell would find changed.
fn flags(modes: &libc::termios) -> (u32, u32, u32, u32, Vec<u8>) {
    (modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag, modes.c_cc.to_vec())
}

#[test]
fn enter_between_two_lines_sends_and_is_not_shown_twice() {
    let world = World::new(Backend::Embedded, ECHO);
    let talk = Talk::begin(&world, &[]);
    talk.ask("prompt one", 1);
    let between = Between::keep(&world, &talk);
    talk.terminal.enter("prompt two");
    between.wait();
    let typed = "prompt three";
    talk.terminal.enter(typed);
    talk.terminal.enter("/sessions");
    between.wait_typed(typed.len() + "/sessions".len() + 2);
    assert!(!talk.terminal.screen().contains(typed), "keys are written into what is shown");
    drop(between);
    let id = world.session();
    let screen = talk
        .terminal
        .wait_screen("the list", |screen| screen.matches(&id[..8]).count() > 1 && statuses(screen).len() == 3);
    assert!(screen.contains("answer to three"), "{screen}");
    let events = talk.quit_soundly(&world);
    assert_eq!(prompts(&events), ["prompt one", "prompt two", "prompt three"]);
}

#[test]
fn keys_with_a_meaning_of_their_own_keep_it_between_two_lines() {
    let world = World::new(Backend::Embedded, ECHO);
    let talk = Talk::begin(&world, &[]);
    talk.ask("prompt one", 1);
    let between = Between::keep(&world, &talk);
    talk.terminal.enter("prompt two");
    between.wait();
    // Typed wrongly and mended; a second line; neither stopped, killed nor held by the keys that do that elsewhere.
    for keys in ["prompt threx", "BSpace", "e", "M-Enter", "its second line", "C-s", "C-q", "C-\\", "Enter"] {
        match keys {
            "BSpace" | "M-Enter" | "C-s" | "C-q" | "C-\\" | "Enter" => talk.terminal.press(keys),
            text => talk.terminal.type_keys(text),
        }
    }
    // Enter and the three control keys are a byte each, as is the one that takes back; Alt puts one before its key.
    between.wait_typed("prompt threx".len() + 1 + 1 + 2 + "its second line".len() + 4);
    drop(between);
    talk.wait_turns(3);
    // What else these keys do in the line is the editor's business: it is there, and reads on.
    let events = talk.quit_soundly(&world);
    assert_eq!(prompts(&events)[2], "prompt three\nits second line");
}

#[test]
fn ctrl_c_between_two_lines_stops_the_turn_and_what_was_typed_stays() {
    let world = World::new(Backend::Embedded, &script(&[says("first"), waits("one"), ECHO.to_owned()]));
    let talk = Talk::begin(&world, &[]);
    talk.ask("begin", 1);
    talk.terminal.enter("go");
    wait_begun(&world, "one");
    let between = Between::keep(&world, &talk);
    talk.terminal.enter("prompt two");
    between.wait();
    talk.terminal.enter("prompt three");
    between.wait_typed("prompt three".len() + 1);
    talk.terminal.press("C-c");
    wait_for("the interrupt", || payloads(&world.events(), "turn.interrupted").len() == 1);
    drop(between);
    let screen = talk.wait_turns(4);
    assert!(screen.contains("answer to two") && screen.contains("answer to three"), "{screen}");
    let events = talk.quit_soundly(&world);
    assert_eq!(payloads(&events, "turn.interrupted").len(), 1);
    assert_eq!(prompts(&events), ["begin", "go", "prompt two", "prompt three"]);
}

/// A chat in a shell that says before and afterwards how it finds the terminal, and stays; and the chat's process.
fn in_a_shell(world: &World, failpoints: &str) -> (Talk, u32) {
    let mut chat = world.command(&["chat", "--sandbox", "process"]);
    chat.env("FAILPOINTS", failpoints);
    let script = "stty -g > ../before; sh -c 'echo $$ > ../pid; exec \"$@\"' sh \"$@\"; stty -g > ../after; sleep 1000";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "sh"]).arg(chat.as_std().get_program()).args(chat.as_std().get_args());
    let envs = chat.as_std().get_envs().map(|(name, value)| (name.to_owned(), value.unwrap().to_owned()));
    shell.envs(envs).current_dir(world.workspace());
    let talk = Talk::with(world, &shell);
    let pid = std::fs::read_to_string(world.path("pid")).unwrap().trim().parse().unwrap();
    (talk, pid)
}

/// Checks that the chat has left the terminal as it found it.
#[track_caller]
fn left_as_found(world: &World, how: &str) {
    let read = |name: &str| std::fs::read_to_string(world.path(name)).unwrap_or_default();
    wait_for("the end of the chat", || read("after").ends_with('\n'));
    assert_eq!(read("after"), read("before"), "{how}");
}

#[test]
fn however_the_chat_ends_the_terminal_is_as_it_was() {
    let by_signal = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT];
    for signal in by_signal.map(Some).into_iter().chain([None]) {
        let world = World::new(Backend::Embedded, ECHO);
        let (talk, pid) = in_a_shell(&world, "");
        let within = flags(&modes(&tty(&talk.terminal)));
        talk.ask("prompt one", 1);
        match signal {
            // Once stops a turn, and there is none.
            Some(libc::SIGINT) => {
                kill(pid, libc::SIGINT);
                talk.terminal.wait_text("once more leaves");
                kill(pid, libc::SIGINT);
            }
            Some(signal) => kill(pid, signal),
            None => talk.terminal.enter("/quit"),
        }
        left_as_found(&world, &format!("{signal:?}"));
        let terminal = tty(&talk.terminal);
        assert_ne!(flags(&modes(&terminal)), within, "nothing was changed that could have been left behind");
        sound(&world);
    }
}

#[test]
fn a_chat_that_is_ended_between_two_lines_leaves_the_terminal_as_it_was() {
    let world = World::new(Backend::Embedded, ECHO);
    let (talk, pid) = in_a_shell(&world, "");
    talk.ask("prompt one", 1);
    let between = Between::keep(&world, &talk);
    talk.terminal.enter("prompt two");
    between.wait();
    kill(pid, libc::SIGTERM);
    left_as_found(&world, "between two lines");
    drop(between);
    sound(&world);
}

#[test]
fn a_panic_leaves_the_terminal_as_it_was() {
    let world = World::new(Backend::Embedded, ECHO);
    let (talk, _) = in_a_shell(&world, "before send=panic(on purpose)");
    talk.terminal.enter("prompt one");
    left_as_found(&world, "a panic");
    talk.terminal.wait_text("on purpose");
}

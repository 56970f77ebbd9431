//! A terminal for one test: the command under test runs in a private tmux, on a socket, with a size and without a
//! configuration of its own. What a user types and pastes is sent in, what they would see is read back.
//!
//! Nothing here waits for time to pass: whoever waits, waits for something on the screen. When a terminal goes out of scope,
//! its tmux ends, and so does what runs in it.

use crate::checks::kill;
use crate::world::World;
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::process::Command;

/// How long something may take to show.
const PATIENCE: Duration = Duration::from_secs(40);

/// The size, in cells.
const COLUMNS: &str = "120";
const ROWS: &str = "40";

/// Between two looks at the screen.
const PAUSE: Duration = Duration::from_millis(40);

/// Distinguishes the terminals of one world.
static OPENED: AtomicU32 = AtomicU32::new(0);

/// A terminal with a command in it.
pub(crate) struct Terminal {
    socket: PathBuf,
    paste: PathBuf,
    written: PathBuf,
    /// The command's process.
    pub(crate) pid: u32,
}

impl Terminal {
    /// Opens a terminal in which `command` runs (as [`World::command`] makes it, perhaps changed).
    #[track_caller]
    pub(crate) fn open(world: &World, command: &Command) -> Self {
        Self::start(world, command, &[])
    }

    /// As [`Self::open`], by the kind of terminal that the command's `TERM` names, and with [`Self::written`] kept.
    #[track_caller]
    pub(crate) fn raw(world: &World, command: &Command) -> Self {
        // What is written before somebody listens would be missed. tmux sets TERM, whatever it is given.
        let kind = command.as_std().get_envs().find(|(name, _)| *name == "TERM").and_then(|(_, value)| value);
        let term = format!("TERM={}", kind.unwrap().to_str().unwrap());
        let terminal = Self::start(world, command, &["sh", "-c", "read go; exec env \"$@\"", "sh", &term]);
        let written = format!("cat >> {}", terminal.written.to_str().unwrap());
        terminal.tell(&["pipe-pane", "-O", &written]);
        terminal.press("Enter");
        terminal
    }

    #[track_caller]
    fn start(world: &World, command: &Command, prefix: &[&str]) -> Self {
        let number = OPENED.fetch_add(1, Ordering::Relaxed);
        let path = |name: &str| world.path(&format!("{name}{number}"));
        let mut terminal = Self { socket: path("tty"), paste: path("paste"), written: path("written"), pid: 0 };
        let command = command.as_std();
        let mut args: Vec<OsString> = Vec::new();
        // With its pane kept the last screen can still be read when the command has ended.
        for option in [["history-limit", "50000"], ["remain-on-exit", "on"], ["remain-on-exit-format", ""]] {
            args.extend(["set-option", "-g", option[0], option[1], ";"].map(OsString::from));
        }
        args.extend(["new-session", "-d", "-x", COLUMNS, "-y", ROWS].map(OsString::from));
        for (name, value) in command.get_envs() {
            let Some(value) = value else { continue };
            let setting = [name, OsStr::new("="), value];
            args.extend(["-e".into(), setting.into_iter().collect()]);
        }
        // `env` and a program are two words: one alone would be given to a shell.
        args.extend(["--", "env"].iter().chain(prefix).map(OsString::from));
        args.push(command.get_program().to_owned());
        args.extend(command.get_args().map(OsStr::to_owned));
        let mut tmux = terminal.tmux();
        // A server has the environment of whoever starts it, so there is none but the command's.
        tmux.env_clear().env("LC_ALL", "C.UTF-8").envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        tmux.current_dir(command.get_current_dir().unwrap()).args(&args);
        run(tmux);
        terminal.pid = terminal.ask("#{pane_pid}").parse().unwrap();
        terminal
    }

    /// Opens a terminal in which the command under test runs with `args`.
    #[track_caller]
    pub(crate) fn run(world: &World, args: &[&str]) -> Self {
        Self::open(world, &world.command(args))
    }

    /// Types `text` as it is, without Enter.
    #[track_caller]
    pub(crate) fn type_keys(&self, text: &str) {
        self.tell(&["send-keys", "-l", "--", text]);
    }

    /// Presses a key by tmux's name for it: `Enter`, `C-c`, `M-Enter`.
    #[track_caller]
    pub(crate) fn press(&self, key: &str) {
        self.tell(&["send-keys", key]);
    }

    /// Types `text` and presses Enter.
    #[track_caller]
    pub(crate) fn enter(&self, text: &str) {
        self.type_keys(text);
        self.press("Enter");
    }

    /// Pastes `bytes` as terminals do: in brackets, when the program has asked for them.
    #[track_caller]
    pub(crate) fn paste(&self, bytes: impl AsRef<[u8]>) {
        std::fs::File::create(&self.paste).unwrap().write_all(bytes.as_ref()).unwrap();
        self.tell(&["load-buffer", "-b", "pasted", self.paste.to_str().unwrap()]);
        self.tell(&["paste-buffer", "-p", "-d", "-b", "pasted"]);
    }

    /// What has been on the screen, from the first line on; wrapped lines are whole again.
    #[track_caller]
    pub(crate) fn screen(&self) -> String {
        let mut tmux = self.tmux();
        tmux.args(["capture-pane", "-p", "-J", "-S", "-"]);
        let lines: Vec<String> = run(tmux).lines().map(|line| line.trim_end().to_owned()).collect();
        lines.join("\n").trim_end().to_owned()
    }

    /// Waits until `condition` holds of the screen, and gives that screen.
    #[track_caller]
    pub(crate) fn wait_screen(&self, what: &str, condition: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if condition(&screen) {
                return screen;
            }
            assert!(Instant::now() < until, "waited too long for {what}; the screen:\n{screen}\n");
            std::thread::sleep(PAUSE);
        }
    }

    /// Waits until `text` stands on the screen.
    #[track_caller]
    pub(crate) fn wait_text(&self, text: &str) -> String {
        self.wait_screen(&format!("`{text}`"), |screen| screen.contains(text))
    }

    /// Waits until the command has ended, and gives its exit code, or 128 and the signal that ended it.
    #[track_caller]
    pub(crate) fn wait_exit(&self) -> i32 {
        let until = Instant::now() + PATIENCE;
        loop {
            let state = self.ask("#{pane_dead} #{pane_dead_status} #{pane_dead_signal}");
            match state.split(' ').collect::<Vec<_>>()[..] {
                // It is dead before it is known how it died. tmux sometimes sleeps over that, and is woken here.
                ["1", "", ""] => kill(self.ask("#{pid}").parse().unwrap(), libc::SIGCHLD),
                ["", ..] | ["0", ..] => {}
                ["1", "", signal] => return 128 + signal.parse::<i32>().unwrap(),
                ["1", code, _] => return code.parse().unwrap(),
                _ => panic!("tmux says `{state}`"),
            }
            assert!(Instant::now() < until, "it does not end; the screen:\n{}\n", self.screen());
            std::thread::sleep(PAUSE);
        }
    }

    /// Kills the command with `signal`, and waits until it is gone.
    #[track_caller]
    pub(crate) fn kill(&self, signal: i32) {
        kill(self.pid, signal);
        self.wait_exit();
    }

    /// Closes the terminal, as a user closes its window while the command is running, and waits until the command is gone.
    #[track_caller]
    pub(crate) fn close(self) {
        let pid = self.pid;
        drop(self);
        assert!(!is_there(pid), "the command outlives its terminal");
    }

    /// Every byte that was written to it, when it was opened by [`Self::raw`].
    #[track_caller]
    pub(crate) fn written(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.written).unwrap()).into_owned()
    }

    /// What tmux knows of the terminal.
    #[track_caller]
    pub(crate) fn ask(&self, format: &str) -> String {
        let mut tmux = self.tmux();
        tmux.args(["display-message", "-p", format]);
        run(tmux).trim_end_matches('\n').to_owned()
    }

    #[track_caller]
    fn tell(&self, args: &[&str]) {
        let mut tmux = self.tmux();
        tmux.args(args);
        run(tmux);
    }

    fn tmux(&self) -> std::process::Command {
        let mut tmux = std::process::Command::new("tmux");
        tmux.args(["-u", "-f", "/dev/null", "-S"]).arg(&self.socket).stdin(Stdio::null());
        tmux
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.tmux().arg("kill-server").output();
        if self.pid == 0 {
            return;
        }
        // Its folder must not go before it does. One that hangs must not stay behind the test.
        if !wait_gone(self.pid) {
            kill(self.pid, libc::SIGKILL);
            assert!(std::thread::panicking(), "the command outlives its terminal");
        }
    }
}

/// Runs tmux to its end.
#[track_caller]
fn run(mut tmux: std::process::Command) -> String {
    let output = tmux.output().expect("tmux is missing: `.ci/setup test` installs it");
    assert!(output.status.success(), "{tmux:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Whether the process is at work. One that has ended may still be in the list, until its parent has looked.
fn is_there(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Waits until the process is gone; false when it does not go.
fn wait_gone(pid: u32) -> bool {
    let until = Instant::now() + PATIENCE;
    while is_there(pid) {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

mod tests {
    use super::*;
    use crate::scripts::says;
    use crate::world::Backend;

    /// Another program in the same surroundings.
    fn program(world: &World, program: &str, args: &[&str]) -> Terminal {
        let mut command = Command::new(program);
        let ours = world.command(&[]);
        let envs = ours.as_std().get_envs().map(|(name, value)| (name.to_owned(), value.unwrap().to_owned()));
        command.args(args).envs(envs).current_dir(world.workspace());
        Terminal::open(world, &command)
    }

    #[test]
    fn what_is_typed_arrives_and_what_is_written_shows() {
        let world = World::new(Backend::Embedded, &says("unused"));
        let script = "printf 'name? '; read name; printf 'hello %s, café 漢字 🦀\\n' \"$name\"; env | sort; exit 7";
        let terminal = program(&world, "bash", &["--norc", "-c", script]);
        terminal.wait_text("name?");
        terminal.enter("Jos\u{e9} `$(x)`; -l");
        assert_eq!(terminal.wait_exit(), 7);
        let screen = terminal.screen();
        assert!(screen.contains("hello Jos\u{e9} `$(x)`; -l, café 漢字 🦀\n"), "{screen}");
        let home = format!("HOME={}\n", world.path("home").display());
        assert!(screen.contains(&home) && !screen.contains("RETRACE_CACHE"), "{screen}");
    }

    #[test]
    fn a_paste_comes_in_brackets_and_whole() {
        let world = World::new(Backend::Embedded, &says("unused"));
        let lines: String = (0..10_000).map(|n| format!("line {n}\n")).collect();
        let text = format!("{lines}nul \0 esc \x1b[31m\nend");
        let sent = format!("\x1b[200~{text}\x1b[201~").replace('\n', "\r");
        // Asks for brackets, and takes what comes as it comes.
        let script = format!("stty raw -echo; printf '\\033[?2004hready'; head -c {} > came", sent.len());
        let terminal = program(&world, "bash", &["--norc", "-c", &script]);
        terminal.wait_text("ready");
        terminal.paste(text);
        assert_eq!(terminal.wait_exit(), 0);
        assert!(world.read("came") == sent, "{:?}", world.read("came").get(..80));
    }

    #[test]
    fn a_closed_terminal_hangs_up_and_a_killed_command_is_said_to_be() {
        let world = World::new(Backend::Embedded, &says("unused"));
        let script = "trap 'touch hung-up; exit' HUP; echo ready; while :; do read -t 1 || true; done";
        let terminal = program(&world, "bash", &["--norc", "-c", script]);
        terminal.wait_text("ready");
        terminal.close();
        assert!(world.workspace().join("hung-up").exists());
        let terminal = program(&world, "cat", &["-"]);
        terminal.enter("twice");
        terminal.wait_screen("the echo and the copy", |screen| screen.matches("twice").count() == 2);
        terminal.kill(libc::SIGKILL);
        assert_eq!(terminal.wait_exit(), 128 + libc::SIGKILL);
    }

    #[test]
    fn the_command_under_test_runs_in_it() {
        let world = World::new(Backend::Embedded, &says("unused"));
        let terminal = Terminal::run(&world, &["--help"]);
        assert_eq!(terminal.wait_exit(), 0);
        let screen = terminal.screen();
        assert!(screen.contains("Usage") && screen.contains("resume"), "{screen}");
    }
}

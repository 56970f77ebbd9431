//! A conversation in a terminal: `retrace chat`, and what a test wants to know of it.

use crate::checks::sound;
use crate::terminal::Terminal;
use crate::world::World;
use regex::Regex;
use serde_json::Value;
use tokio::process::Command;

/// A `retrace chat` in a terminal.
pub(crate) struct Talk {
    pub(crate) terminal: Terminal,
}

impl Talk {
    /// Begins a chat with these arguments behind `chat`, and waits for its prompt.
    #[track_caller]
    pub(crate) fn begin(world: &World, args: &[&str]) -> Self {
        Self::with(world, &world.command(&[&["chat", "--sandbox", "process"], args].concat()))
    }

    /// Begins the chat that `command` is, and waits for its prompt.
    #[track_caller]
    pub(crate) fn with(world: &World, command: &Command) -> Self {
        let talk = Self { terminal: Terminal::open(world, command) };
        // The prompt is there before the session is.
        talk.terminal.wait_text("/help lists the commands");
        talk.wait_prompt();
        talk
    }

    /// Sends `prompt`, and waits until its turn is the `turns`th that has ended here. Gives the screen.
    #[track_caller]
    pub(crate) fn ask(&self, prompt: &str, turns: usize) -> String {
        self.terminal.enter(prompt);
        self.wait_turns(turns)
    }

    /// Waits for a prompt with nothing in it.
    #[track_caller]
    pub(crate) fn wait_prompt(&self) -> String {
        self.terminal.wait_screen("the prompt", |screen| screen.lines().last() == Some(">"))
    }

    /// Waits until `turns` turns have ended here.
    #[track_caller]
    pub(crate) fn wait_turns(&self, turns: usize) -> String {
        self.terminal.wait_screen(&format!("the end of turn {turns}"), |screen| statuses(screen).len() == turns)
    }

    /// Leaves by `/quit`. Gives all that was on the screen.
    #[track_caller]
    pub(crate) fn quit(self) -> String {
        self.terminal.enter("/quit");
        assert_eq!(self.terminal.wait_exit(), 0, "{}", self.terminal.screen());
        self.terminal.screen()
    }

    /// Leaves by `/quit`, and checks what is in the log of this world's only session.
    #[track_caller]
    pub(crate) fn quit_soundly(self, world: &World) -> Vec<Value> {
        self.quit();
        sound(world)
    }
}

/// The lines of figures that turns ended with.
pub(crate) fn statuses(screen: &str) -> Vec<&str> {
    let status = Regex::new(r" · \d+ steps? · [\d,]+ tokens?.* · \$[\d.]+.* · (sandbox|NO SANDBOX)").unwrap();
    screen.lines().filter(|line| status.is_match(line)).collect()
}

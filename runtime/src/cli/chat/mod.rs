//! `retrace chat`: prompt after prompt in one session, on a terminal with a line editor, otherwise line by line.
//!
//! What the user says goes into the session's control stream, like what other processes say to it; what happens comes back
//! as events. A conversation with a session that another process runs is the same, without an agent of its own.

mod asker;
mod commands;
mod complete;
mod conversation;
mod editor;
mod held;
mod history;
mod input;
mod keyboard;
mod keys;
mod layout;
mod line;
mod opening;
mod paste;
mod settings;
mod signals;

#[cfg(test)]
mod tests;

pub(super) use asker::Asker;

use super::drive::{self, Again};
use super::exit::{CliError, Exit};
use super::flags::SettingFlags;
use super::invocation::Invocation;
use super::render::units;
use super::screen::Screen;
use super::setup::Setup;
use super::watch::Seen;
use super::{images, session_name, trusting};
use crate::agent::TurnEnd;
use clap::Args;
use complete::Names;
use conversation::{Conversation, Left};
use editor::{BRIEFLY, Editor, Shown};
use input::Input;
use opening::{Opened, Role, Running, Target};
use retrace_events::payload::settings::Settings;
use retrace_events::payload::turn::Attachment;
use retrace_events::{EventLog, SessionState, StreamId};
use signals::Signals;
use std::sync::Arc;
use std::time::Duration;

/// How long the agent may take to stop a turn when the user leaves, and when the process is to end.
const PATIENCE: Duration = Duration::from_secs(10);
const HURRY: Duration = Duration::from_secs(1);

/// How many sessions the tab key knows.
const COMPLETED: usize = 500;

/// Talk with the agent, prompt after prompt
#[derive(Debug, Args)]
pub(super) struct ChatCommand {
    /// A session to go on with: any unique beginning of its id [default: a new one]
    #[arg(conflicts_with = "last")]
    session: Option<String>,
    /// Go on with the newest session of this workspace
    #[arg(long)]
    last: bool,
    /// An image for the first prompt; can be repeated
    #[arg(long, value_name = "FILE")]
    image: Vec<std::path::PathBuf>,
    #[command(flatten)]
    settings: SettingFlags,
}

/// What all conversations of one `retrace chat` share.
struct Chat {
    invocation: Invocation,
    setup: Setup,
    log: Arc<dyn EventLog>,
    /// The flags that hold for new sessions: those of the command line, with what slash commands changed since.
    flags: SettingFlags,
    /// The settings a new session begins with.
    settings: Settings,
    /// The flags that hold for the session that is open. Of a session that the user went back to they say nothing about what
    /// is in its log.
    own_flags: SettingFlags,
    input: Input,
    signals: Signals,
    /// Whether somebody is there who can be asked.
    attended: bool,
    screen: Option<Arc<Screen>>,
}

/// What is done next.
enum Next {
    /// A session is opened.
    Open(Target),
    /// A session is followed that another process runs.
    Follow(StreamId, Role),
    /// The chat is over.
    Leave(Exit),
}

impl ChatCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let mut setup = Setup::new(invocation, &self.settings)?;
        if trusting::ask(&setup, invocation).await? {
            setup = Setup::new(invocation, &self.settings)?;
        }
        // Whether there is a key is said now rather than after the first prompt.
        setup.auth()?;
        let log = setup.open_log().await?;
        let target = match (&self.session, self.last) {
            (Some(name), _) => Target::Old(session_name::find(log.as_ref(), name).await?),
            (None, true) => {
                let project = session_name::project(&setup.config.workspace);
                Target::Old(session_name::last(log.as_ref(), Some(project)).await?)
            }
            (None, false) => Target::New,
        };
        let attachments = images::store(log.as_ref(), &self.image).await?;
        let mut chat = Chat::start(invocation, setup, log, self.settings)?;
        let exit = chat.run(target, attachments).await;
        chat.put_away();
        exit
    }
}

impl Chat {
    fn start(
        invocation: &Invocation,
        mut setup: Setup,
        log: Arc<dyn EventLog>,
        flags: SettingFlags,
    ) -> Result<Self, CliError> {
        let cannot = |error: std::io::Error| CliError::new(Exit::Failed, format!("cannot begin to listen: {error}"));
        let place = &invocation.place;
        let signals = Signals::listen(invocation.owns_process(), place.stdin_is_terminal, invocation.cancel.clone())?;
        let (mut input, mut screen) = (None, None);
        if place.has_editor() && !setup.output.json {
            let file = setup.config.folders.state.join("history");
            let coloured = setup.output.note_style() == super::render::Style::Coloured;
            let (editor, shown, typed) = Editor::start(&file, Arc::clone(&setup.redactor), coloured).map_err(cannot)?;
            setup.output = setup.output.on_screen(Arc::clone(&shown));
            (input, screen) = (Some(Input::of_editor(editor, typed)), Some(shown));
        }
        let input = match input {
            Some(input) => input,
            None => Input::of_lines(place.stdin()).map_err(cannot)?,
        };
        let attended = place.stdin_is_terminal;
        let (invocation, own_flags) = (invocation.clone(), flags.clone());
        let settings = setup.config.settings(&setup.models);
        Ok(Self { invocation, setup, log, flags, settings, own_flags, input, signals, attended, screen })
    }

    /// One conversation after the other, until the user leaves.
    async fn run(&mut self, target: Target, attachments: Vec<Attachment>) -> Result<Exit, CliError> {
        let (mut next, mut attachments) = (Next::Open(target), Some(attachments));
        loop {
            next = match next {
                Next::Leave(exit) => return Ok(exit),
                Next::Follow(stream, role) => {
                    let running = self.follow(&stream, role).await?;
                    self.converse(running, attachments.take().unwrap_or_default()).await?
                }
                Next::Open(target) => match self.open(&target).await? {
                    Opened::Running(running) => self.converse(running, attachments.take().unwrap_or_default()).await?,
                    Opened::Held(stream, holder) => self.ask_about(stream, &holder).await?,
                },
            };
        }
    }

    async fn converse(&mut self, mut running: Box<Running>, attachments: Vec<Attachment>) -> Result<Next, CliError> {
        self.name_sessions().await;
        let left = match Conversation::begin(self, &mut running, attachments).await {
            Ok(mut conversation) => conversation.run().await,
            Err(error) => Err(error),
        };
        let patience = if matches!(left, Ok(Left::Terminate)) { HURRY } else { PATIENCE };
        let stream = running.stream.clone();
        let role = running.role;
        let (ended, seen, view) = running.end(patience).await;
        if let Ok(Left::Switch(target)) = left {
            // The old session's trouble does not keep the user from the new one.
            if let Err(error) = &ended {
                self.setup.output.error(error);
            }
            return Ok(Next::Open(target));
        }
        let exit = self.conclude(&stream, role, &view.lock().state, &seen);
        match left? {
            Left::Switch(target) => Ok(Next::Open(target)),
            Left::Terminate => Ok(Next::Leave(Exit::Interrupted)),
            Left::Leave | Left::Ended => ended.map(|()| Next::Leave(exit)),
        }
    }
}

impl Chat {
    /// How to go on once a session is open.
    fn greeting(&self, role: Role) -> String {
        let how = match (role, self.attended) {
            (_, false) => return String::new(),
            (Role::Holder, true) => "/help lists the commands; Ctrl-C stops a turn; Ctrl-D leaves",
            (Role::Sender, true) => "what you type is sent to the process that runs the session; Ctrl-D leaves",
            (Role::Watcher, true) => "you watch; Ctrl-D leaves",
        };
        format!("{}\n", self.setup.output.note_style().dim(how))
    }

    /// Tells the editor which names there are.
    async fn name_sessions(&self) {
        let Some(editor) = &self.input.editor else { return };
        // Without them only the completion of names does not work.
        let sessions = session_name::all(self.log.as_ref(), None).await.unwrap_or_default();
        let sessions = sessions.iter().take(COMPLETED);
        let sessions = sessions.map(|info| (info.stream.id.as_str().to_owned(), units::moment(info.head.at))).collect();
        let models = self.setup.models.rows().map(|row| row.id.clone()).collect();
        editor.set_names(Names { sessions, models });
    }

    /// What is said when a session is left, and how the chat would end now.
    fn conclude(&self, stream: &StreamId, role: Role, state: &SessionState, seen: &Seen) -> Exit {
        if role != Role::Holder {
            return Exit::Done;
        }
        let (exit, note) = drive::ending(&TurnEnd::Idle, state);
        // Whoever talked to it has seen how each turn ended.
        let (exit, note) = if self.attended { (Exit::Done, String::new()) } else { (exit, note) };
        self.say(&drive::summary(&self.setup, stream, exit, state, &note, seen.exposed, Again::Chat));
        if !state.queue.is_empty() {
            self.say(&format!("{} left for the next time\n", units::of(state.queue.len() as u64, "queued prompt")));
        }
        exit
    }

    /// Shows other words before the prompt.
    fn show_prompt(&self, words: &str) {
        if let Some(editor) = &self.input.editor {
            editor.set_busy(false);
            editor.set_prompt(Shown { words: format!("{words} "), warning: false });
        }
    }

    /// Says something to the user.
    fn say(&self, text: &str) {
        self.setup.output.note(text);
    }

    /// Takes the editor off the screen; what was written comes through all the same.
    fn put_away(&mut self) {
        let free = self.input.editor.as_mut().is_none_or(|editor| editor.stop(BRIEFLY));
        if let Some(screen) = &self.screen {
            screen.close(if free { PATIENCE } else { BRIEFLY });
        }
    }
}

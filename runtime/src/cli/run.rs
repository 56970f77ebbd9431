//! `retrace run`: a new session with one task.

use super::drive::{self, FirstPrompt, Which};
use super::exit::{CliError, Exit};
use super::flags::SettingFlags;
use super::images;
use super::invocation::Invocation;
use super::render::clean;
use super::session_name;
use super::setup::Setup;
use crate::agent::{NewSession, title_of};
use clap::Args;
use retrace_events::Mint;
use retrace_events::mint::SystemMint;
use std::io::Read;
use std::path::PathBuf;

/// The largest task that is taken, in bytes.
const MAX_TASK_BYTES: u64 = 4 * 1024 * 1024;

/// Give the agent a task in a new session
#[derive(Debug, Args)]
pub(super) struct RunCommand {
    /// The task in words; `-` reads it from stdin
    task: String,
    /// A name for lists [default: the beginning of the task]
    #[arg(long)]
    title: Option<String>,
    /// An image that goes with the task; can be repeated
    #[arg(long, value_name = "FILE")]
    image: Vec<PathBuf>,
    #[command(flatten)]
    settings: SettingFlags,
}

impl RunCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let task = words(&self.task)?;
        let prompt = FirstPrompt { text: &task, images: images::read_all(&self.image)? };
        let setup = Setup::new(invocation, &self.settings)?;
        let auth = setup.auth()?;
        let settings = setup.config.settings(&setup.models);
        if setup.models.find(&settings.model).is_none() {
            let model = clean::short(&settings.model, 80);
            setup
                .output
                .warn(&format!("model `{model}` is not in the table: its costs are counted at the highest prices"));
        }
        let cancel = invocation.catch_signals()?;
        let log = setup.open_log().await?;
        let stream = session_name::new_session(&setup.config.workspace, SystemMint.event_id());
        let parts = setup.parts(log, &settings, auth, cancel)?;
        let title = self.title.as_deref().unwrap_or(&task);
        let title = title_of(&setup.redactor.redact(title));
        let new = NewSession { stream, title, workspace: setup.config.workspace.clone(), settings };
        drive::drive(&setup, parts, Which::New(Box::new(new)), Some(prompt), &invocation.place).await
    }
}

/// A prompt as it was given: the argument itself, or stdin for `-`.
pub(super) fn words(argument: &str) -> Result<String, CliError> {
    let text = if argument == "-" { from_stdin()? } else { argument.to_owned() };
    if text.trim().is_empty() {
        return Err(CliError::new(Exit::Usage, "the task is empty").hint("retrace run \"what is to be done\""));
    }
    Ok(text)
}

fn from_stdin() -> Result<String, CliError> {
    let refuse = |why: String| CliError::new(Exit::Usage, format!("cannot take the task from stdin: {why}"));
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MAX_TASK_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| refuse(error.to_string()))?;
    if bytes.len() as u64 > MAX_TASK_BYTES {
        return Err(refuse(format!("it is larger than {MAX_TASK_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8".to_owned()))
}

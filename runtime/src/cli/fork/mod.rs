//! `retrace fork`: a session that goes on from an event of another one, in a folder of its own with the files as they were then.

mod beginning;
mod several;

pub(super) use beginning::{Beginning, missing_files};

use super::drive::{self, FirstPrompt, Which};
use super::exit::{CliError, Exit};
use super::flags::SettingFlags;
use super::invocation::Invocation;
use super::render::{clean, units};
use super::run;
use super::session_name;
use super::setup::Setup;
use crate::agent::title_of;
use crate::forking::NewFork;
use crate::snapshots::restore;
use clap::Args;
use retrace_events::Mint;
use retrace_events::fold::FilesAt;
use retrace_events::mint::SystemMint;
use retrace_events::payload::session::SessionForkReason;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The most forks that are made at once.
const MAX_AT_ONCE: u64 = 32;

/// Go on from any event of a session, beside it: it and its files stay as they are
#[derive(Debug, Args)]
pub(super) struct ForkCommand {
    /// The session and the event: SESSION@EVENT, by number, tag or id; without an event the newest is meant
    event: String,
    /// What to do there, in the place of what the original did; `-` reads it from stdin. Without it the fork is only made
    #[arg(long, short)]
    prompt: Option<String>,
    /// The folder for its files, which must be new or empty [default: beside the original's, with the fork's name]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Restore nothing: work in --dir as it is
    #[arg(long, requires = "dir")]
    as_is: bool,
    /// How many forks, each with its own folder and sandbox, side by side
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=MAX_AT_ONCE))]
    n: u64,
    /// A name for lists [default: the prompt's beginning, or the original's name]
    #[arg(long)]
    title: Option<String>,
    #[command(flatten)]
    settings: SettingFlags,
}

impl ForkCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let prompt = self.prompt.as_deref().map(run::words).transpose()?;
        let setup = Setup::new(invocation, &self.settings)?;
        if self.n > 1 && self.dir.is_some() {
            return Err(CliError::new(Exit::Usage, "one folder is not enough for several forks")
                .hint("leave --dir out: each gets one of its own beside the original's"));
        }
        let auth = prompt.as_ref().map(|_| setup.auth()).transpose()?;
        let beginning = Beginning::find(&setup, &self.event, prompt.is_some()).await?;
        if !self.as_is {
            beginning.check_files().await?;
        }
        beginning.tell_if_moved(&setup);
        let forks: Result<Vec<NewFork>, CliError> =
            (0..self.n).map(|_| self.fork(&setup, &beginning, prompt.as_deref())).collect();
        let forks = forks?;
        let Some((prompt, auth)) = prompt.zip(auth) else {
            for fork in forks {
                self.make(&setup, &beginning, fork).await?;
            }
            return Ok(Exit::Done);
        };
        let mut made = Vec::new();
        for fork in forks {
            made.push(fork.stream.clone());
            beginning.write(&setup, fork).await?;
        }
        let cancel = invocation.catch_signals()?;
        let mut agents = Vec::new();
        for stream in made.clone() {
            let log = Arc::clone(&beginning.log);
            let mut parts = setup.parts(log, &beginning.settings, auth.clone(), cancel.clone())?;
            parts.snapshots = beginning.plan.clone();
            let state = parts.checkpoints.load(beginning.log.as_ref(), &stream).await?;
            agents.push((parts, Which::Old { stream, changed: None, state: Box::new(state) }));
        }
        if agents.len() > 1 {
            return several::run(&setup, beginning.log.as_ref(), &made, agents, &prompt).await;
        }
        match agents.pop() {
            Some((parts, which)) => {
                drive::drive(&setup, parts, which, Some(FirstPrompt::of(&prompt)), &invocation.place).await
            }
            None => Ok(Exit::Done),
        }
    }

    /// One fork, which does not exist yet.
    fn fork(&self, setup: &Setup, beginning: &Beginning, prompt: Option<&str>) -> Result<NewFork, CliError> {
        let id = SystemMint.event_id();
        let folder = match &self.dir {
            Some(dir) => usable(dir, self.as_is)?,
            None => beginning.folder_beside(id)?,
        };
        setup.config.folders.check_outside(&folder)?;
        let named = self.title.as_deref().or(prompt).map(|words| title_of(&setup.redactor.redact(words)));
        Ok(NewFork {
            stream: session_name::new_session(&folder, id),
            reason: SessionForkReason::Fork,
            title: named.unwrap_or_else(|| beginning.point.state.title.clone()),
            workspace: folder,
            settings: beginning.settings.clone(),
            leaves_turn: prompt.is_some(),
            replaced: None,
        })
    }

    /// Makes a fork that nobody runs yet: its files first, so that nothing is left of one whose files cannot be had. Says how to go on
    /// with it.
    async fn make(&self, setup: &Setup, beginning: &Beginning, fork: NewFork) -> Result<(), CliError> {
        let begun = Instant::now();
        let (stream, folder) = (fork.stream.clone(), fork.workspace.clone());
        let restored = match (&beginning.point.files, &beginning.plan) {
            (FilesAt::At(tree), Some(plan)) if !self.as_is => Some(restore(plan, tree, &folder).await?),
            _ => None,
        };
        beginning.write(setup, fork).await?;
        let (id, from) = (stream.id.as_str(), &beginning.point);
        let path = clean::line(&folder.display().to_string());
        if setup.output.json {
            return setup.output.json_line(&json!({
                "session": id, "parent": from.stream.id.as_str(), "event": from.seq, "moved_from": from.moved_from,
                "workspace": path, "files": restored.as_ref().map(|restored| restored.files),
            }));
        }
        let files = restored.map_or_else(
            || format!("{path}, as it is"),
            |restored| {
                let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
                format!("{} in {path} ({})", units::of(restored.files, "file"), units::duration(ms))
            },
        );
        setup.output.data(&format!("{id}\n"))?;
        setup.output.note(&format!(
            "session {id}, from event {} of {}\n  files:  {files}\n  go on:  retrace resume {id} \"…\"\n",
            from.seq, from.stream.id
        ));
        Ok(())
    }
}

/// A folder that files can be put into: it is not there or is empty, or is to be taken as it is.
fn usable(dir: &Path, as_is: bool) -> Result<PathBuf, CliError> {
    let shown = clean::line(&dir.display().to_string());
    let absolute = std::path::absolute(dir);
    let dir = &absolute.map_err(|error| CliError::new(Exit::Usage, format!("{shown} is no folder: {error}")))?;
    if as_is {
        return dir
            .canonicalize()
            .map_err(|error| CliError::new(Exit::Usage, format!("cannot work in {shown}: {error}")));
    }
    let taken =
        dir.symlink_metadata().is_ok() && std::fs::read_dir(dir).map_or(true, |mut inside| inside.next().is_some());
    if taken {
        return Err(CliError::new(Exit::Snapshot, format!("{shown} exists and is not an empty folder"))
            .hint("name a new folder, or take it as it is with --as-is"));
    }
    let (Some(parent), Some(name)) = (dir.parent(), dir.file_name()) else {
        return Err(CliError::new(Exit::Usage, format!("{shown} cannot be a workspace")));
    };
    let parent = parent.canonicalize().map_err(|error| {
        let parent = clean::line(&parent.display().to_string());
        CliError::new(Exit::Usage, format!("cannot make a folder in {parent}: {error}"))
            .hint("name a folder in one that is there: --dir DIR")
    })?;
    Ok(parent.join(name))
}

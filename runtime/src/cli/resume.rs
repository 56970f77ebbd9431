//! `retrace resume`: goes on with a session, whatever ended it, under the settings in its log.

use super::drive::{self, FirstPrompt, Which};
use super::exit::{CliError, Exit};
use super::flags::SettingFlags;
use super::invocation::Invocation;
use super::render::clean;
use super::setup::Setup;
use super::{run, session_name};
use crate::agent::TurnEnd;
use crate::config::{Origin, TrustList};
use clap::Args;
use retrace_events::control::control_stream;
use retrace_events::{EventLog, SessionState, StreamId};

/// Go on with a session, after a crash too
#[derive(Debug, Args)]
pub(super) struct ResumeCommand {
    /// The session: any unique beginning of its id (not needed with --last)
    session: Option<String>,
    /// What to do next; `-` reads it from stdin
    prompt: Option<String>,
    /// The newest session of this workspace
    #[arg(long)]
    last: bool,
    #[command(flatten)]
    settings: SettingFlags,
}

impl ResumeCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let (name, prompt) = self.arguments()?;
        let setup = Setup::new(invocation, &self.settings)?;
        let log = setup.open_log().await?;
        let stream = session_name::find_or_last(log.as_ref(), name.as_deref(), &setup.config.workspace).await?;
        let state = setup.checkpoints(log.as_ref()).load(log.as_ref(), &stream).await?;
        check_workspace(&setup, &stream, &state)?;
        if state.turn.is_none() && prompt.is_none() && !something_waits(log.as_ref(), &stream, &state).await? {
            let (exit, note) = drive::ending(&TurnEnd::Idle, &state);
            let note = if note.is_empty() { "done".to_owned() } else { note };
            setup.output.note(&format!(
                "nothing is open in session {}: {note}\nhint: retrace resume {} \"what to do next\"\n",
                stream.id, stream.id
            ));
            return Ok(exit);
        }
        let logged = state
            .settings
            .as_ref()
            .ok_or_else(|| CliError::new(Exit::Log, format!("session {} has no readable first event", stream.id)))?;
        let resumed = setup.config.resumed(logged, &setup.models)?;
        let auth = setup.auth()?;
        let cancel = invocation.catch_signals()?;
        let parts = setup.parts(log, &resumed.settings, auth, cancel)?;
        let changed = resumed.why.map(|why| Box::new((resumed.settings, why)));
        let which = Which::Old { stream, changed, state: Box::new(state) };
        drive::drive(&setup, parts, which, prompt.as_deref().map(FirstPrompt::of), &invocation.place).await
    }

    /// With `--last` the first argument is the prompt.
    fn arguments(&self) -> Result<(Option<String>, Option<String>), CliError> {
        let usage = |what: &str| CliError::new(Exit::Usage, what).hint("retrace resume <SESSION|--last> [PROMPT]");
        let (name, prompt) = match (self.last, &self.session, &self.prompt) {
            (true, prompt, None) => (None, prompt),
            (true, Some(_), Some(_)) | (true, None, Some(_)) => {
                return Err(usage("--last takes the place of the session's name"));
            }
            (false, Some(session), prompt) => (Some(session.clone()), prompt),
            (false, None, _) => return Err(usage("which session?")),
        };
        Ok((name, prompt.as_deref().map(run::words).transpose()?))
    }
}

/// Whether a prompt is queued, or somebody has said something that nobody has heard yet.
async fn something_waits(log: &dyn EventLog, stream: &StreamId, state: &SessionState) -> Result<bool, CliError> {
    let said = log.head(&control_stream(stream)).await?;
    Ok(!state.queue.is_empty() || said.is_some_and(|head| head.seq >= state.control_next))
}

/// A session that came from a file names a folder that somebody else may have chosen: the user has to name it too. And a
/// session cannot move.
///
/// # Errors
/// Says which folder has to be named.
pub(super) fn check_workspace(setup: &Setup, stream: &StreamId, state: &SessionState) -> Result<(), CliError> {
    let named = matches!(setup.config.values.workspace.origin, Origin::Flag(_));
    let same = std::path::Path::new(&state.workspace).canonicalize().is_ok_and(|path| path == setup.config.workspace);
    let folder = clean::line(&state.workspace);
    if named && !same {
        return Err(CliError::new(Exit::Usage, format!("session {} works in {folder}, and cannot move", stream.id))
            .hint("leave --workspace out, or begin a new session with `retrace run`"));
    }
    let imported = TrustList::load(setup.config.folders.imported_file())?;
    if imported.contains(&stream.subject()) && !(named && same) {
        return Err(CliError::new(
            Exit::Usage,
            format!("session {} was imported and wants to work in {folder}", stream.id),
        )
        .hint(format!("say --workspace {folder} if it may")));
    }
    Ok(setup.config.folders.check_outside(std::path::Path::new(&state.workspace))?)
}

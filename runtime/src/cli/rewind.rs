//! `retrace rewind`: takes a session back to one of its events, in place. What is left behind stays where it is: on the session's
//! old branch, with its files in the store of snapshots.

use super::drive::{self, FirstPrompt, Which};
use super::exit::{CliError, Exit};
use super::flags::SettingFlags;
use super::fork::{Beginning, missing_files};
use super::invocation::Invocation;
use super::render::{clean, units};
use super::run;
use super::session_name;
use super::setup::Setup;
use crate::agent::AgentError;
use crate::forking::{NewFork, logged};
use crate::snapshots::{SnapshotPlan, bring, on_store};
use clap::Args;
use retrace_events::fold::FilesAt;
use retrace_events::log::Holder;
use retrace_events::mint::SystemMint;
use retrace_events::payload::session::SessionForkReason;
use retrace_events::{Mint, StreamId};
use retrace_sandbox::snapshot::{Brought, TreeId};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many paths are named that were changed by hand.
const NAMED: usize = 10;

/// Take a session and its files back to one of its events; nothing is lost
#[derive(Debug, Args)]
pub(super) struct RewindCommand {
    /// The session and the event: SESSION@EVENT, by number, tag or id
    event: String,
    /// What to do from there; `-` reads it from stdin
    #[arg(long, short)]
    prompt: Option<String>,
    /// Go back even if files were changed by hand since: they are kept as a snapshot of the new branch
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    settings: SettingFlags,
}

impl RewindCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let prompt = self.prompt.as_deref().map(run::words).transpose()?;
        let setup = Setup::new(invocation, &self.settings)?;
        let auth = prompt.as_ref().map(|_| setup.auth()).transpose()?;
        let beginning = Beginning::find(&setup, &self.event, prompt.is_some()).await?;
        // Nobody else may work in the session or its folder meanwhile.
        let _claim = claim(&beginning).await?;
        let checkpoints = setup.checkpoints(beginning.log.as_ref());
        let state = checkpoints.load(beginning.log.as_ref(), &beginning.point.stream).await?;
        super::resume::check_workspace(&setup, &beginning.point.stream, &state)?;
        beginning.check_files().await?;
        let (FilesAt::At(tree), Some(plan)) = (&beginning.point.files, &beginning.plan) else {
            return Err(missing_files(&beginning.point, beginning.plan.is_some()));
        };
        let workspace = folder(&state.workspace)?;
        let found = look(plan, &workspace, state.files.tree(), self.force).await?;
        beginning.tell_if_moved(&setup);
        let stream = session_name::new_session(&workspace, SystemMint.event_id());
        let fork = NewFork {
            stream: stream.clone(),
            reason: SessionForkReason::Rewind,
            title: beginning.point.state.title.clone(),
            workspace: workspace.clone(),
            settings: beginning.settings.clone(),
            leaves_turn: prompt.is_some(),
            replaced: Some(found.to_string()),
        };
        let mut writer = beginning.write(&setup, fork).await?;
        let brought = bring(plan, tree, &workspace).await?;
        // Without it, whoever opens the session brings the files once more.
        writer.append(vec![(logged(tree, Some(&brought.before.to_string())).into(), None)]).await?;
        report(&setup, &beginning, &stream, &brought)?;
        let Some((prompt, auth)) = prompt.zip(auth) else { return Ok(Exit::Done) };
        let cancel = invocation.catch_signals()?;
        let parts = setup.parts(Arc::clone(&beginning.log), &beginning.settings, auth, cancel)?;
        let state = checkpoints.load(beginning.log.as_ref(), &stream).await?;
        let which = Which::Old { stream, changed: None, state: Box::new(state) };
        drive::drive(&setup, parts, which, Some(FirstPrompt::of(&prompt)), &invocation.place).await
    }
}

async fn claim(beginning: &Beginning) -> Result<retrace_events::log::Claim, CliError> {
    let holder = Holder::this_process("retrace rewind", SystemMint.now());
    let stream = &beginning.point.stream;
    let claimed = beginning.log.claim(stream, &holder).await;
    Ok(claimed.map_err(|error| AgentError::unclaimed(stream, error))?)
}

fn folder(workspace: &str) -> Result<PathBuf, CliError> {
    Path::new(workspace).canonicalize().map_err(|error| {
        CliError::new(Exit::Usage, format!("the workspace {} cannot be used: {error}", clean::line(workspace)))
            .hint("`retrace fork` restores the files elsewhere")
    })
}

/// The workspace as it is now, as a snapshot. Refused when it is not what the session left and `force` is not given.
async fn look(plan: &SnapshotPlan, workspace: &Path, left: Option<&str>, force: bool) -> Result<TreeId, CliError> {
    let (folder, left) = (workspace.to_owned(), left.and_then(|tree| tree.parse::<TreeId>().ok()));
    let looked = on_store(plan, move |store, plan| {
        let now = store.take(&folder, &plan.options, None)?.tree;
        let changed = match left {
            Some(left) if left != now && store.has(&left)? => {
                Some(store.changes(Some(&left), &now)?.into_iter().map(|change| change.path).collect())
            }
            Some(left) if left == now => None,
            Some(_) | None => Some(Vec::new()),
        };
        Ok((now, changed))
    });
    let (now, changed): (TreeId, Option<Vec<PathBuf>>) = looked.await?;
    let Some(changed) = changed.filter(|_| !force) else { return Ok(now) };
    let shown: Vec<String> = changed.iter().take(NAMED).map(|path| clean::line(&path.display().to_string())).collect();
    let more = changed.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let what = if shown.is_empty() { String::new() } else { format!(": {}{more}", shown.join(", ")) };
    let folder = clean::line(&workspace.display().to_string());
    Err(CliError::new(Exit::Snapshot, format!("{folder} is not as the session left it{what}"))
        .hint("look at the changes; --force goes back all the same, and keeps the files as they are now as a snapshot"))
}

fn report(setup: &Setup, beginning: &Beginning, stream: &StreamId, brought: &Brought) -> Result<(), CliError> {
    let (id, from) = (stream.id.as_str(), &beginning.point);
    if setup.output.json {
        return setup.output.json_line(&json!({
            "session": id, "parent": from.stream.id.as_str(), "event": from.seq, "moved_from": from.moved_from,
            "changed_paths": brought.changed, "before": brought.before.to_string(),
        }));
    }
    setup.output.data(&format!("{id}\n"))?;
    for path in &brought.put_aside {
        setup.output.warn(&format!("in the way, put aside: {}", clean::line(&path.display().to_string())));
    }
    setup.output.note(&format!(
        "session {id} goes on from event {} of {}\n  files:  {} changed; as they were before: snapshot {}\n  go on:  retrace resume {id} \"…\"\n  back:   what was left behind is still session {}\n",
        from.seq,
        from.stream.id,
        units::of(brought.changed, "path"),
        clean::short(&brought.before.to_string(), 12),
        from.stream.id
    ));
    Ok(())
}

//! Where calls are carried out: a sandbox over the workspace, which is there at once or, in a fork, once the files are.
//!
//! A fork's first request needs no files, so it does not wait for them.

use super::agent_handle::{Agent, wish};
use super::error::AgentError;
use super::live::Live;
use super::parts::AgentParts;
use super::sandboxing;
use crate::forking::logged;
use crate::snapshots::{SnapshotPlan, bring, fetch, restore};
use retrace_events::fold::ForkedPart;
use retrace_events::payload::sandbox::SandboxStopped;
use retrace_events::payload::settings::Settings;
use retrace_events::payload::turn::{TurnEnded, TurnOutcome};
use retrace_events::{Payload, SessionState};
use retrace_sandbox::{Sandbox, SandboxError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::task::JoinHandle;

/// How often a sandbox that died is started again in one turn.
const MAX_SANDBOX_RESTARTS: u32 = 3;

/// The sandbox over the workspace.
pub(super) enum Workroom {
    /// It is there.
    Ready(Sandbox),
    /// The workspace's files are being restored.
    Coming(JoinHandle<Result<(), AgentError>>),
    /// There is none: it ended, or the files could not be restored.
    Gone,
}

impl Workroom {
    /// A workroom whose files are restored first, and fetched before that where another host took them.
    fn restored(parts: &AgentParts, plan: &SnapshotPlan, tree: &str, into: &Path) -> Self {
        let (log, plan, tree, into) = (Arc::clone(&parts.log), plan.clone(), tree.to_owned(), into.to_owned());
        Self::Coming(tokio::spawn(async move {
            fetch(log.as_ref(), &plan, &tree).await?;
            Ok(restore(&plan, &tree, &into).await.map(drop)?)
        }))
    }

    /// The sandbox, when it is there already.
    pub(super) const fn ready(&self) -> Option<&Sandbox> {
        match self {
            Self::Ready(sandbox) => Some(sandbox),
            Self::Coming(_) | Self::Gone => None,
        }
    }
}

impl Agent {
    /// The sandbox; waits for the workspace's files where they are still coming.
    pub(super) async fn sandbox(&mut self) -> Result<Sandbox, AgentError> {
        if let Workroom::Ready(sandbox) = &self.workroom {
            match sandbox.keep() {
                // Its end is told to whoever uses it.
                Ok(()) => return Ok(sandbox.clone()),
                Err(ended) => self.log_idle_end(&ended).await?,
            }
        }
        if let Workroom::Coming(files) = std::mem::replace(&mut self.workroom, Workroom::Gone) {
            files.await.map_err(|error| self.unusable(error.to_string()))??;
        }
        self.workspace = usable_workspace(&self.workspace)?;
        let sandbox = sandboxing::start(&wish(&self.parts, &self.workspace, &self.settings)).await?;
        let proven = sandboxing::started(&sandbox, &self.parts.sandboxes);
        self.workroom = Workroom::Ready(sandbox.clone());
        self.append(vec![(proven.into(), None)]).await?;
        Ok(sandbox)
    }

    /// The sandbox was ended for want of use: nothing was lost, and another is started when it is needed.
    async fn log_idle_end(&mut self, ended: &SandboxError) -> Result<(), AgentError> {
        self.leave_sandbox(SandboxStopped { why: ended.to_string(), unexpected: false }).await
    }

    /// The sandbox ended: that is logged, after what its proxy has still to tell.
    async fn leave_sandbox(&mut self, stopped: SandboxStopped) -> Result<(), AgentError> {
        if let Workroom::Ready(sandbox) = std::mem::replace(&mut self.workroom, Workroom::Gone) {
            self.log_end_of(&sandbox).await?;
        }
        self.append(vec![(stopped.into(), None)]).await?;
        Ok(())
    }

    /// Ends the sandbox, if it has not ended, and logs what its proxy has still to tell.
    pub(super) async fn log_end_of(&mut self, sandbox: &Sandbox) -> Result<(), AgentError> {
        sandbox.shutdown().await;
        match sandbox.connections() {
            Some(connections) => self.log_last_connections(&connections).await,
            None => Ok(()),
        }
    }

    fn unusable(&self, why: String) -> AgentError {
        AgentError::Workspace { path: self.workspace.clone(), why }
    }

    pub(super) async fn restart_sandbox(&mut self) -> Result<(), AgentError> {
        self.restarts += 1;
        let why = "the sandbox ended unexpectedly".to_owned();
        self.leave_sandbox(SandboxStopped { why, unexpected: true }).await?;
        if self.restarts > MAX_SANDBOX_RESTARTS {
            let note = format!("the sandbox ended {} times in one turn", self.restarts);
            self.settle_open_calls("the sandbox is gone").await?;
            let ended: Payload = TurnEnded { outcome: TurnOutcome::RuntimeFailed, note }.into();
            self.append(vec![(ended, None)]).await?;
            return Ok(());
        }
        self.parts.live.send(Live::Notice("the sandbox ended unexpectedly; starting another".to_owned()));
        self.sandbox().await.map(drop)
    }
}

/// The workspace's canonical path.
pub(super) fn usable_workspace(path: &Path) -> Result<PathBuf, AgentError> {
    let refuse = |why: String| AgentError::Workspace { path: path.to_path_buf(), why };
    let canonical = path.canonicalize().map_err(|error| refuse(error.to_string()))?;
    if !canonical.is_dir() {
        return Err(refuse("it is not a folder".to_owned()));
    }
    if canonical.parent().is_none() {
        return Err(refuse("it is the root of the file system".to_owned()));
    }
    Ok(canonical)
}

/// A workspace that a session goes on in.
pub(super) struct Entered {
    pub(super) workspace: PathBuf,
    pub(super) workroom: Workroom,
    /// What there is to log of its files.
    pub(super) found: Vec<Payload>,
}

/// The workspace of a session that is gone on with, and its sandbox. A fork whose files were never there gets them first; a
/// rewind that was broken off is finished.
pub(super) async fn enter(
    parts: &AgentParts,
    state: &SessionState,
    settings: &Settings,
) -> Result<Entered, AgentError> {
    let named = Path::new(&state.workspace);
    let is_new = state.fork.as_ref().is_some_and(|fork| !fork.opened) && !named.exists();
    if let (true, Some(tree), Some(plan)) = (is_new, state.files.tree(), &parts.snapshots) {
        let workroom = Workroom::restored(parts, plan, tree, named);
        return Ok(Entered { workspace: named.to_owned(), workroom, found: Vec::new() });
    }
    let workspace = usable_workspace(named)?;
    let found = match (state.fork.as_ref().and_then(ForkedPart::tree_to_bring), &parts.snapshots) {
        (Some(tree), Some(plan)) => finish_rewind(parts, plan, tree, &workspace).await?,
        (None, _) | (_, None) => Vec::new(),
    };
    let sandbox = sandboxing::start(&wish(parts, &workspace, settings)).await?;
    Ok(Entered { workspace, workroom: Workroom::Ready(sandbox), found })
}

async fn finish_rewind(
    parts: &AgentParts,
    plan: &SnapshotPlan,
    tree: &str,
    workspace: &Path,
) -> Result<Vec<Payload>, AgentError> {
    fetch(parts.log.as_ref(), plan, tree).await?;
    let before = bring(plan, tree, workspace).await?.before.to_string();
    Ok(vec![logged(&before, Some(tree)).into(), logged(tree, Some(&before)).into()])
}

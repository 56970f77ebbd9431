//! Takes a session's snapshots and says what the log is to say of them.

use super::snapshot_plan::SnapshotPlan;
use retrace_events::fold::FilesAt;
use retrace_events::payload::workspace::{WorkspaceSnapshotFailed, WorkspaceSnapshotted};
use retrace_events::{CallId, EventId, Payload};
use retrace_sandbox::snapshot::{Snapshot, TreeId};
use std::path::{Path, PathBuf};
use tokio::task::JoinHandle;

/// A snapshot, or in one line why there is none.
type Taken = Result<Snapshot, String>;

/// Takes a session's snapshots.
#[derive(Debug)]
pub(crate) struct SnapshotKeeper {
    plan: Option<SnapshotPlan>,
    workspace: PathBuf,
    /// The turn, by its prompt, whose beginning has been looked at or is being looked at.
    turn: Option<EventId>,
    coming: Option<JoinHandle<Taken>>,
}

impl SnapshotKeeper {
    /// A keeper for a workspace; without a plan it takes none.
    pub(crate) const fn new(plan: Option<SnapshotPlan>, workspace: PathBuf) -> Self {
        Self { plan, workspace, turn: None, coming: None }
    }

    /// Looks at the files as a turn begins, in the background. Does nothing when that was done.
    pub(crate) fn look(&mut self, turn: EventId, files: &FilesAt) {
        if self.turn == Some(turn) {
            return;
        }
        self.turn = Some(turn);
        self.coming = self.begin(files);
    }

    /// What there is to log of the files as the turn began: nothing when they are what the log says already.
    pub(crate) async fn looked(&mut self, files: &FilesAt) -> Option<Payload> {
        let taken = self.coming.take()?.await;
        logged(taken.unwrap_or_else(|error| Err(error.to_string())), files, None)
    }

    /// Takes a snapshot after a call that may have written: what there is to log of it.
    pub(crate) async fn after(&mut self, call: &CallId, files: &FilesAt) -> Option<Payload> {
        let taken = self.begin(files)?.await;
        logged(taken.unwrap_or_else(|error| Err(error.to_string())), files, Some(call.clone()))
    }

    /// Begins to take a snapshot of files that were `files`, where any are taken.
    fn begin(&self, files: &FilesAt) -> Option<JoinHandle<Taken>> {
        let (plan, workspace) = (self.plan.clone()?, self.workspace.clone());
        let previous = files.tree().and_then(|tree| tree.parse().ok());
        Some(tokio::task::spawn_blocking(move || take(&plan, &workspace, previous)))
    }
}

fn take(plan: &SnapshotPlan, workspace: &Path, previous: Option<TreeId>) -> Taken {
    let taken = plan.store().and_then(|store| {
        // The store may have been cleaned, or the log may come from another machine.
        let known = match previous {
            Some(previous) => store.has(&previous)?.then_some(previous),
            None => None,
        };
        store.take(workspace, &plan.options, known.as_ref())
    });
    taken.map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned())
}

fn logged(taken: Taken, files: &FilesAt, after: Option<CallId>) -> Option<Payload> {
    match taken {
        Ok(taken) => {
            let tree = taken.tree.to_string();
            if files.tree() == Some(tree.as_str()) {
                return None;
            }
            let event = WorkspaceSnapshotted {
                tree,
                previous: files.tree().map(str::to_owned),
                git_state: taken.git_state,
                after,
                changed_files: taken.changed_files,
                new_bytes: taken.new_bytes,
            };
            Some(event.into())
        }
        Err(why) if *files == FilesAt::Failed(why.clone()) => None,
        Err(why) => {
            tracing::warn!(%why, "no snapshot");
            Some(WorkspaceSnapshotFailed { after, why }.into())
        }
    }
}

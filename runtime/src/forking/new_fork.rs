//! The first events of a fork.

use super::fork_point::ForkPoint;
use crate::agent::settlements;
use retrace_events::fold::FilesAt;
use retrace_events::payload::session::{SessionForkReason, SessionForked};
use retrace_events::payload::settings::Settings;
use retrace_events::payload::turn::TurnInterrupted;
use retrace_events::payload::workspace::WorkspaceSnapshotted;
use retrace_events::{EventId, EventLog, LogError, Mint, Payload, StreamId, Writer};
use std::path::PathBuf;
use std::sync::Arc;

/// What is said of a turn and its calls that a fork leaves for other words of the user's.
const LEFT: &str = "the session was forked here, to go on with other words";

/// A fork that does not exist yet.
#[derive(Debug, Clone)]
pub struct NewFork {
    /// Its name.
    pub stream: StreamId,
    /// Why it is made.
    pub reason: SessionForkReason,
    /// What it is about.
    pub title: String,
    /// Its own workspace, which need not exist.
    pub workspace: PathBuf,
    /// How it behaves.
    pub settings: Settings,
    /// Whether a turn that is open there ends: other words come in its place.
    pub leaves_turn: bool,
    /// For a rewind: a snapshot of what is in the workspace now and is about to be replaced.
    pub replaced: Option<String>,
}

impl NewFork {
    /// Writes its first events, in one batch. The fork exists with them; its files do not.
    ///
    /// # Errors
    /// When they cannot be appended.
    pub async fn write(
        self,
        log: Arc<dyn EventLog>,
        mint: Arc<dyn Mint>,
        from: &ForkPoint,
    ) -> Result<Writer, LogError> {
        let mut writer = Writer::create(log, mint, self.stream.clone(), from.hash);
        let session = self.stream.id.to_string();
        let batch = self.events(from);
        writer.append(batch).await?;
        // Somebody may have deleted the parent before the fork could be seen.
        if writer.log().head(&from.stream).await?.is_none() {
            return Err(LogError::NoParent { session, parent: from.stream.id.to_string() });
        }
        Ok(writer)
    }

    fn events(self, from: &ForkPoint) -> Vec<(Payload, Option<EventId>)> {
        let forked = SessionForked {
            parent: from.stream.clone(),
            parent_seq: from.seq,
            parent_hash: from.hash,
            reason: self.reason,
            title: self.title,
            workspace: self.workspace.display().to_string(),
            retrace_version: env!("CARGO_PKG_VERSION").to_owned(),
            settings: self.settings,
        };
        let mut batch: Vec<(Payload, Option<EventId>)> = vec![(forked.into(), None)];
        let known = from.state.files.tree();
        match &from.files {
            FilesAt::At(tree) if self.reason == SessionForkReason::Rewind => {
                // What the workspace is to become, and what it is now: both are kept as long as the session is.
                batch.push((logged(tree, known).into(), None));
                let now = self.replaced.as_deref().unwrap_or(tree);
                batch.push((logged(now, Some(tree)).into(), None));
            }
            FilesAt::At(tree) if known != Some(tree) => batch.push((logged(tree, known).into(), None)),
            FilesAt::At(_) | FilesAt::Unknown | FilesAt::Failed(_) => {}
        }
        if self.leaves_turn && from.state.turn.is_some() {
            let during = if from.state.calls.is_empty() { "between two steps" } else { "tool calls" };
            batch.extend(settlements(&from.state, LEFT));
            batch.push((TurnInterrupted { by: "fork".to_owned(), during: during.to_owned() }.into(), None));
        }
        batch
    }
}

/// Files that are known by their tree alone.
pub(crate) fn logged(tree: &str, previous: Option<&str>) -> WorkspaceSnapshotted {
    WorkspaceSnapshotted {
        tree: tree.to_owned(),
        previous: previous.map(str::to_owned),
        git_state: None,
        after: None,
        changed_files: 0,
        new_bytes: 0,
    }
}

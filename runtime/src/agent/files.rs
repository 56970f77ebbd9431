//! Snapshots of the workspace around calls that may write. What the log says of the files stands directly before what it belongs
//! to, in the same batch: no crash can part them.

use super::agent_handle::Agent;
use super::error::AgentError;
use retrace_events::fold::{ForkedPart, Stage};
use retrace_events::payload::turn::TurnWarned;
use retrace_events::{CallId, EventId, Payload};

/// What is appended together.
type Batch = Vec<(Payload, Option<EventId>)>;

impl Agent {
    /// Begins to look at the files as the turn found them, once they are there.
    pub(super) fn look_at_files(&mut self) {
        let Some(turn) = &self.state.turn else { return };
        // What a call has changed by now is that call's.
        if self.workroom.ready().is_some() && !self.state.is_in_a_call() {
            self.snapshots.look(turn.prompt, &self.state.files);
        }
    }

    /// Tells the model of a fork, whose context names its parent's workspace, where its own is.
    pub(super) async fn tell_of_fork(&mut self) -> Result<(), AgentError> {
        let Some(fork) = self.state.fork.as_ref().filter(|fork| !fork.told) else { return Ok(()) };
        let moved =
            fork.left_workspace != self.state.workspace && self.state.epoch.is_some() && self.shows_host_paths();
        let asks = self.state.turn.as_ref().is_some_and(|turn| matches!(turn.stage, Stage::Ask { .. }));
        if !moved || !asks {
            return Ok(());
        }
        let note = format!(
            "this session now goes on beside the one it comes from, in a copy of its workspace. The workspace is {}; what was \
             said of {} holds for the copy.",
            self.state.workspace, fork.left_workspace
        );
        let note = self.parts.redactor.redact(&note).into_owned();
        let rule = ForkedPart::WARNING.to_owned();
        self.append(vec![(TurnWarned { rule, note }.into(), None)]).await.map(drop)
    }

    /// Whether the workspace is at its own path for those who work in it. In a container it always is at the same one.
    fn shows_host_paths(&self) -> bool {
        match self.workroom.ready() {
            Some(sandbox) => sandbox.workspace_inside() == self.workspace,
            None => !matches!(self.settings.sandbox.as_str(), "container" | "krun"),
        }
    }

    /// What there is to log of the files as the turn found them, before the first call that may change them.
    pub(super) async fn files_as_found(&mut self) -> Batch {
        self.look_at_files();
        self.snapshots.looked(&self.state.files).await.map(|found| (found, None)).into_iter().collect()
    }

    /// What there is to log of the files after a call that may have changed them.
    pub(super) async fn files_after(&mut self, call: &CallId) -> Batch {
        self.snapshots.after(call, &self.state.files).await.map(|taken| (taken, None)).into_iter().collect()
    }

    /// What there is to log of the files where a turn is broken off in its calls.
    pub(super) async fn files_as_left(&mut self) -> Batch {
        let writing = self.state.calls.iter().find(|call| call.may_have_written()).map(|call| call.id.clone());
        match writing {
            Some(call) => self.files_after(&call).await,
            None => Batch::new(),
        }
    }
}

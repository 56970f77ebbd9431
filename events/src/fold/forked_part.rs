//! What a fork has from its parent, and what it leaves behind there.

use super::SessionState;
use super::calls::CallProgress;
use super::files_at::FilesAt;
use super::images::PendingImages;
use super::totals::Totals;
use super::turn_state::Stage;
use crate::id::{StreamId, Timestamp};
use crate::payload::session::{SessionForkReason, SessionForked};
use serde::{Deserialize, Serialize};

/// How a session came out of another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkedPart {
    /// The stream it comes from.
    pub parent: StreamId,
    /// The last event of the parent that belongs to this session too, by its number in the parent's stream.
    pub parent_seq: u64,
    /// Why it was made.
    pub reason: SessionForkReason,
    /// How many events of its history are its ancestors'.
    pub inherited_events: u64,
    /// What they used: it is in the session's totals, and no budget of this session counts it.
    pub inherited_totals: Totals,
    /// The parent's workspace.
    pub left_workspace: String,
    /// Whether the model was told where its workspace is now.
    pub told: bool,
    /// The first tree that its own events name: for a rewind, what its workspace is to become.
    pub wanted_tree: Option<String>,
    /// How many of its own events are about the workspace's files.
    pub snapshots: u32,
    /// Whether a sandbox was ever started over its workspace; before that the files may not be there yet.
    pub opened: bool,
}

impl ForkedPart {
    /// The rule of the warning that tells the model where its workspace is now.
    pub const WARNING: &str = "fork";

    /// The tree that the workspace still has to be brought to: a rewind names it first, then what it replaces, and once more when
    /// it is there.
    #[must_use]
    pub fn tree_to_bring(&self) -> Option<&str> {
        let is_brought = self.opened || self.snapshots >= 3;
        self.wanted_tree.as_deref().filter(|_| self.reason == SessionForkReason::Rewind && !is_brought)
    }

    pub(super) fn see(&mut self, files: &FilesAt) {
        self.snapshots = self.snapshots.saturating_add(1);
        if self.wanted_tree.is_none() {
            self.wanted_tree = files.tree().map(str::to_owned);
        }
    }
}

impl SessionState {
    /// Goes on as another session. What only the parent's process can finish is not the fork's: its requests that are on
    /// their way are asked anew, and prompts that wait there are not carried out here.
    pub(super) fn leave_parent(&mut self, forked: &SessionForked, at: Timestamp) {
        self.fork = Some(ForkedPart {
            parent: forked.parent.clone(),
            parent_seq: forked.parent_seq,
            reason: forked.reason,
            inherited_events: self.next_place(),
            inherited_totals: self.totals,
            left_workspace: self.workspace.clone(),
            told: false,
            wanted_tree: None,
            snapshots: 0,
            opened: false,
        });
        // Its first event has the first number of a stream again.
        self.head = None;
        self.queue.clear();
        // Files that no snapshot holds are those of what was left, and not of here.
        if forked.reason == SessionForkReason::Rewind {
            self.past_runs.clear();
        }
        self.images = PendingImages::default();
        self.compaction.asked = None;
        self.control_next = 0;
        self.closed = false;
        if let Some(turn) = &mut self.turn {
            turn.started_at = at;
            turn.failed_attempts = 0;
            turn.cut_answers = 0;
            // What its files are was decided when it was forked.
            turn.files_told = true;
            if matches!(turn.stage, Stage::Waiting { .. } | Stage::GaveUp { .. }) {
                turn.stage = Stage::Ask { not_before: Timestamp(0) };
            }
        }
    }

    /// Whether a call was begun and has no result: what it did so far is in no snapshot, so no fork begins here.
    #[must_use]
    pub fn is_in_a_call(&self) -> bool {
        self.calls.iter().any(|call| matches!(call.progress, CallProgress::Begun(_)))
    }
}

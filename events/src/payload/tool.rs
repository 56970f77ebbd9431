//! `tool.*`: a call, the decision on it, and what became of it.

use crate::blob::BlobRef;
use crate::id::{CallId, EventId};
use serde::{Deserialize, Serialize};

subject! {
    /// Tool calls.
    Tool {
        /// A call is about to be carried out.
        Called(ToolCalled) = "tool.called", 1;
        /// Someone, or a rule, allowed it.
        Approved(ToolApproved) = "tool.approved", 1;
        /// Someone, or a rule, forbade it.
        Denied(ToolDenied) = "tool.denied", 1;
        /// It is done, well or badly.
        Finished(ToolFinished) = "tool.finished", 1;
        /// It was begun, and nobody knows how far it came.
        OutcomeUnknown(ToolOutcomeUnknown) = "tool.outcome_unknown", 1;
        /// It waits for somebody's word.
        ApprovalAsked(ToolApprovalAsked) = "tool.approval_asked", 1;
        /// A command goes on in the background.
        BackgroundStarted(ToolBackgroundStarted) = "tool.background_started", 1;
        /// A command in the background is over.
        BackgroundEnded(ToolBackgroundEnded) = "tool.background_ended", 1;
        /// A call is made of others.
        Parted(ToolParted) = "tool.parted", 1;
        /// What follows is the result of an earlier call, repeated.
        ResultReused(ToolResultReused) = "tool.result_reused", 1;
        /// It wanted something that it may not have.
        Refused(ToolRefused) = "tool.refused", 1;
    }
}

/// A call, logged before its effect starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCalled {
    /// The model's id of the call.
    pub call: CallId,
    /// The tool.
    pub tool: String,
    /// Its input as raw JSON, as the model wrote it.
    pub input: String,
    /// The request whose answer holds the call.
    pub request: EventId,
    /// Whether it may be carried out a second time without harm.
    pub effect: ToolEffect,
}

/// What a call may do to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolEffect {
    /// It only looks: safe to run again.
    ReadOnly,
    /// It may change something.
    Writes,
}

/// A call is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolApproved {
    /// The call.
    pub call: CallId,
    /// Who said so: a rule, or a person and where.
    pub by: String,
    /// For how long.
    pub scope: ToolApprovalScope,
}

/// How far an approval reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolApprovalScope {
    /// This call.
    Once,
    /// Calls like it in this session.
    Session,
    /// Calls like it from now on.
    Always,
}

/// A call is forbidden. It counts as its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDenied {
    /// The call.
    pub call: CallId,
    /// Who said so.
    pub by: String,
    /// What the model is told.
    pub content: String,
}

/// A call is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolFinished {
    /// The call.
    pub call: CallId,
    /// Whether the model is told that it failed.
    pub is_error: bool,
    /// What the model is told, redacted and capped.
    pub content: String,
    /// How the command ended, when there was one.
    pub exit: Option<ToolExit>,
    /// The whole output, when `content` shows only a part of it.
    pub output: Option<BlobRef>,
    /// Files it changed, relative to the workspace, as far as the tool knows.
    pub changed: Vec<String>,
    /// From start to end, in milliseconds.
    pub duration_ms: u64,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolExit {
    /// Its exit code, when it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it was ended for taking too long.
    pub timed_out: bool,
}

/// A call was begun, and nobody knows how far it came. It counts as its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOutcomeUnknown {
    /// The call.
    pub call: CallId,
    /// What the model is told.
    pub content: String,
}

/// A call waits for somebody's word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolApprovalAsked {
    /// The call.
    pub call: CallId,
    /// The tool.
    pub tool: String,
    /// The call in one line, redacted.
    pub summary: String,
    /// What there is to see before deciding: the command, or a diff; redacted and cut.
    pub preview: String,
    /// The rule that an approval beyond this call would add.
    pub rule: String,
    /// Why somebody is asked.
    pub why: String,
}

/// A command goes on in the background; its call has its result already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolBackgroundStarted {
    /// The call that started it.
    pub call: CallId,
    /// The command, redacted.
    pub command: String,
}

/// A command in the background is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolBackgroundEnded {
    /// The call that started it.
    pub call: CallId,
    /// How it ended; `None` when nobody saw it.
    pub exit: Option<ToolExit>,
    /// Its whole output, as far as it was kept.
    pub output: Option<BlobRef>,
    /// Why it ended, in words for the model and the user.
    pub why: String,
}

/// A call that was begun is made of others, which are carried out one by one like any calls; the results of all are its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolParted {
    /// The call.
    pub call: CallId,
    /// What it is made of, in order.
    pub parts: Vec<ToolPart>,
}

/// A call within a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolPart {
    /// Its own id.
    pub call: CallId,
    /// The tool.
    pub tool: String,
    /// Its input as raw JSON, as the model wrote it.
    pub input: String,
}

/// The call is not carried out: the same was, on the same files. It stands before the call's result, in the same batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResultReused {
    /// The call.
    pub call: CallId,
    /// The result that is repeated: a `tool.finished` of this history.
    pub from: EventId,
    /// The id of the files, then and now, in the store of snapshots.
    pub tree: String,
}

/// A call wanted something that it may not have, and did not get it. It stands behind the call's result, in the same batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolRefused {
    /// The call.
    pub call: CallId,
    /// `outside_workspace`, `masked`, `forbidden`.
    pub what: String,
    /// In words.
    pub detail: String,
}

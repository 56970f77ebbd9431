//! `session.*`: a session begins, is forked, is taken over from another program, is configured anew, is closed.

use super::settings::Settings;
use crate::hash::Hash;
use crate::id::{CallId, EventId, StreamId};
use serde::{Deserialize, Serialize};

subject! {
    /// A session's life.
    Session {
        /// A new session.
        Started(SessionStarted) = "session.started", 2;
        /// A new session that goes on from an event of another.
        Forked(SessionForked) = "session.forked", 2;
        /// Other settings from here on.
        Configured(SessionConfigured) = "session.configured", 2;
        /// Nothing more will come.
        Closed(SessionClosed) = "session.closed", 1;
        /// The session's holder has read what somebody said to it.
        ControlHandled(SessionControlHandled) = "session.control_handled", 1;
        /// A rule on calls, for the rest of this session.
        RuleAdded(SessionRuleAdded) = "session.rule_added", 1;
        /// The model's plan, as it is now.
        Planned(SessionPlanned) = "session.planned", 1;
        /// What follows came about in another program.
        Imported(SessionImported) = "session.imported", 1;
    }
}

/// A new session. Always the first event of its stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStarted {
    /// What it is about: the beginning of the first prompt, or a given name.
    pub title: String,
    /// The workspace's absolute path on the host.
    pub workspace: String,
    /// The version of retrace that began it.
    pub retrace_version: String,
    /// How it behaves.
    pub settings: Settings,
}

/// A session that goes on from an event of another; nothing of the parent is copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionForked {
    /// The stream it comes from.
    pub parent: StreamId,
    /// The last event of the parent that belongs to this session too.
    pub parent_seq: u64,
    /// That event's hash; it is also this event's `prev_hash`.
    pub parent_hash: Hash,
    /// Why it was made.
    pub reason: SessionForkReason,
    /// What it is about.
    pub title: String,
    /// Its own workspace's absolute path.
    pub workspace: String,
    /// The version of retrace that made it.
    pub retrace_version: String,
    /// How it behaves.
    pub settings: Settings,
}

/// Why a fork was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionForkReason {
    /// To try something beside the original.
    Fork,
    /// To take over from the original.
    Rewind,
    /// To do a part of the original's work.
    Delegate,
}

/// Other settings from here on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionConfigured {
    /// All of them, also those that stay.
    pub settings: Settings,
    /// What changed and on whose word.
    pub why: String,
}

/// The session ends for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionClosed {
    /// Why.
    pub why: String,
}

/// The holder has read an event of the control stream. It stands in the same batch as what came of it, so that no
/// event there is lost or counts twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionControlHandled {
    /// The event.
    pub event: EventId,
    /// Its place in the control stream; all before it have been handled too.
    pub seq: u64,
    /// Whether it had an effect.
    pub accepted: bool,
    /// Why not, or what came of it.
    pub note: String,
}

/// A rule on calls, for the rest of this session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRuleAdded {
    /// What is allowed, for example `bash(cargo test *)`.
    pub rule: String,
    /// Who said so.
    pub by: String,
}

/// The model's plan, whole, as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionPlanned {
    /// The call that wrote it.
    pub call: CallId,
    /// Its steps, in order.
    pub items: Vec<PlanItem>,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanItem {
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub status: PlanStatus,
}

/// How far a step of a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlanStatus {
    /// Not begun.
    Pending,
    /// Being worked on.
    InProgress,
    /// Done.
    Done,
}

/// The session came about in another program: its requests were rendered and sent there, so nothing here can say what they
/// were. Answers and failures of such requests name this event as their request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionImported {
    /// The program: `claude-code`.
    pub source: String,
    /// The program's own name of the session.
    pub source_session: String,
    /// The program's version, by its own word; empty when it does not say.
    pub source_version: String,
}

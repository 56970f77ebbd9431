//! `control.*`: what other processes say to a running session. The session's holder copies what it accepts into
//! the session's own stream, with these events as the cause.

use super::tool::ToolApprovalScope;
use super::turn::Attachment;
use crate::id::{CallId, EventId};
use serde::{Deserialize, Serialize};

subject! {
    /// What others say to a running session.
    Control {
        /// A prompt to be queued.
        PromptSent(ControlPromptSent) = "control.prompt_sent", 1;
        /// A decision on a call.
        ApprovalGiven(ControlApprovalGiven) = "control.approval_given", 1;
        /// An answer to a question of the model's.
        QuestionAnswered(ControlQuestionAnswered) = "control.question_answered", 1;
        /// Stop what is going on.
        CancelRequested(ControlCancelRequested) = "control.cancel_requested", 1;
        /// A name for an event.
        Tagged(ControlTagged) = "control.tagged", 1;
    }
}

/// A prompt to be queued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlPromptSent {
    /// The words, redacted.
    pub text: String,
    /// Images and files that came with it.
    pub attachments: Vec<Attachment>,
}

/// A decision on a call that waits for one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlApprovalGiven {
    /// The call.
    pub call: CallId,
    /// `None` forbids it.
    pub allow: Option<ToolApprovalScope>,
    /// Words for the model.
    pub note: String,
}

/// An answer to a question of the model's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlQuestionAnswered {
    /// The call that asks.
    pub call: CallId,
    /// The words, redacted.
    pub text: String,
}

/// Stop what is going on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlCancelRequested {
    /// A call, or the whole turn.
    pub call: Option<CallId>,
    /// Who asks.
    pub by: String,
}

/// A name for an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlTagged {
    /// The event.
    pub event: EventId,
    /// The name.
    pub tag: String,
}

//! What waits for the user's word (a call for approval, a question of the model's), and what a line means as an answer to
//! it. Pure, and shared by whoever may ask: `run`, `chat`, `approve`, `answer`.

use crate::tools;
use retrace_events::fold::{CallApproval, CallProgress, OpenCall};
use retrace_events::payload::tool::ToolApprovalScope;
use retrace_events::{CallId, SessionState};

/// What waits for the user's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Waits {
    /// A call may not begin before somebody says so.
    Approval {
        /// The call.
        call: CallId,
    },
    /// The model asks something.
    Answer {
        /// The call that asks.
        call: CallId,
    },
}

impl Waits {
    /// The call.
    #[must_use]
    pub(crate) const fn call(&self) -> &CallId {
        match self {
            Self::Approval { call } | Self::Answer { call } => call,
        }
    }
}

/// A decision on a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    /// How far it allows; `None` forbids.
    pub(crate) allow: Option<ToolApprovalScope>,
    /// Words for the model.
    pub(crate) note: String,
}

/// What waits in `state`, in the order of the calls.
#[must_use]
pub(crate) fn waiting(state: &SessionState) -> Vec<Waits> {
    let waits = |call: &OpenCall| match (call.progress, call.approval) {
        (CallProgress::Asked, CallApproval::Asked) => Some(Waits::Approval { call: call.id.clone() }),
        (CallProgress::Begun(_), _) if tools::waits_for_user(&call.tool) => {
            Some(Waits::Answer { call: call.id.clone() })
        }
        (CallProgress::Asked | CallProgress::Begun(_) | CallProgress::Done, _) => None,
    };
    state.calls.iter().filter_map(waits).collect()
}

impl Decision {
    /// Whether it reaches further than the call.
    #[must_use]
    pub(crate) const fn reaches_further(&self) -> bool {
        matches!(self.allow, Some(ToolApprovalScope::Session | ToolApprovalScope::Always))
    }
}

/// The decision that a line is, if it is one: `y`, `yes`, `s`, `a`, `n`, `no`, and `n` with words for the model.
#[must_use]
pub(crate) fn decision(line: &str) -> Option<Decision> {
    let line = line.trim();
    let allow = |scope| Some(Decision { allow: Some(scope), note: String::new() });
    match line.to_lowercase().as_str() {
        "y" | "yes" => return allow(ToolApprovalScope::Once),
        "s" | "session" => return allow(ToolApprovalScope::Session),
        "a" | "always" => return allow(ToolApprovalScope::Always),
        _ => {}
    }
    let (first, words) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let no = matches!(first.trim_end_matches([',', '.', ':', ';', '!']).to_lowercase().as_str(), "n" | "no");
    no.then(|| Decision { allow: None, note: words.trim().to_owned() })
}

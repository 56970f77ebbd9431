//! Turns the client's deltas into what front ends show.

use super::live::Live;
use crate::claude::Delta;
use retrace_events::CallId;

/// What of a delta is shown; pieces of a tool's input are not, since the whole call is an event a moment later.
pub(super) fn shown(delta: Delta) -> Option<Live> {
    match delta {
        Delta::Text { text, .. } => Some(Live::Text(text)),
        Delta::Thinking { text, .. } => Some(Live::Thinking(text)),
        Delta::ToolStart { id, name, .. } => Some(Live::ToolStarted { call: CallId(id), tool: name }),
        Delta::ToolInput { .. } | Delta::BlockStop { .. } => None,
    }
}

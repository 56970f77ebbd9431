//! Results that stand in the conversation already: a pointer to where takes their place. More than half of what agents read they
//! have read before, and each repeat is paid for in every later request.

use crate::tools::effect_of;
use retrace_events::fold::TranscriptItem;
use retrace_events::payload::tool::ToolEffect;
use retrace_events::{CallId, SessionState};

/// Shorter results cost no more than a pointer to them; in bytes.
const MIN_BYTES: usize = 400;

/// What the model is told in the place of `content`, when the very same came of an earlier call that stands in the present epoch.
/// Only of calls that look and change nothing: of a command it matters that it was run again.
pub(super) fn pointer(state: &SessionState, call: &CallId, content: &str) -> Option<String> {
    let open = state.calls.iter().find(|open| open.id == *call)?;
    if content.len() < MIN_BYTES || effect_of(&open.tool) != ToolEffect::ReadOnly {
        return None;
    }
    let earlier = state.transcript.items().iter().rev().find_map(|item| match item {
        TranscriptItem::Result { call, is_error: false, content: known, .. } if known == content => Some(call),
        TranscriptItem::Result { .. }
        | TranscriptItem::Prompt { .. }
        | TranscriptItem::Answer { .. }
        | TranscriptItem::Passages(_)
        | TranscriptItem::Interruption
        | TranscriptItem::Warning { .. }
        | TranscriptItem::BackgroundEnded { .. } => None,
    })?;
    let lines = content.lines().count();
    Some(format!(
        "[Unchanged: word for word what call {earlier} came to, {lines} lines, which stand above in this conversation.]"
    ))
}

//! Renderer 1: prompts, answers, results and interruptions. Kept for the logs that name it; what came later is foreign
//! to it, and its bytes never change.

use super::body::{INTERRUPTED, Message, Purpose, ResultContent, UserBody, mark_tail, push_user, raw, to_bytes};
use super::render::RenderError;
use retrace_events::fold::{Epoch, TranscriptItem};
use std::borrow::Cow;

pub(super) fn render_first(epoch: &Epoch, items: &[TranscriptItem]) -> Result<Vec<u8>, RenderError> {
    let start = &epoch.start;
    if !start.seed.is_empty() {
        return Err(foreign("a seed"));
    }
    if start.compacted.is_some() {
        return Err(foreign("a summary by the API"));
    }
    if start.output_config.is_some() {
        return Err(foreign("an output_config"));
    }
    let mut messages: Vec<Message<'_>> = Vec::new();
    for item in items {
        let body = match item {
            TranscriptItem::Prompt { images, .. } | TranscriptItem::Result { images, .. } if !images.is_empty() => {
                return Err(foreign("images"));
            }
            TranscriptItem::Prompt { text, .. } => UserBody::text(text),
            TranscriptItem::Interruption => UserBody::text(INTERRUPTED),
            TranscriptItem::Result { call, is_error, content, .. } => UserBody::ToolResult {
                tool_use_id: &call.0,
                content: ResultContent::Text(content),
                is_error: *is_error,
            },
            TranscriptItem::Passages(_) => return Err(foreign("retrieved passages")),
            TranscriptItem::Warning { .. } => return Err(foreign("a warning")),
            TranscriptItem::BackgroundEnded { .. } => return Err(foreign("the end of a background command")),
            TranscriptItem::Answer { carried_over: true, .. } => return Err(foreign("an answer of another epoch")),
            TranscriptItem::Answer { content, .. } => {
                // A refusal can come without any content, and the API takes no empty message back.
                if content != "[]" {
                    messages.push(Message::Assistant { content: Cow::Borrowed(raw("answer", content)?) });
                }
                continue;
            }
        };
        push_user(&mut messages, body);
    }
    mark_tail(&mut messages);
    to_bytes(start, &messages, Purpose::Answer)
}

const fn foreign(what: &'static str) -> RenderError {
    RenderError::Foreign { renderer: 1, what }
}

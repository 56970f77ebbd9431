//! The renderer: the exact bytes of the next request, as a function of the session's state.
//!
//! Answers are spliced in byte for byte as they came. Inside an epoch a request is the one before it with more at its
//! end; only the `cache_control` marks move. There are at most three of them here: one behind tools and system (held
//! by the epoch), one at the end of the newest user message, and one at the end of the user message before it, where
//! the previous request had its own, so that a step with many parallel calls cannot outrun the look-back of 20 blocks.

use retrace_events::SessionState;
use retrace_events::fold::{Epoch, TranscriptItem};
use serde::Serialize;
use serde_json::value::RawValue;

/// The renderer new epochs are begun with.
pub const RENDERER: u32 = 1;

/// Why a request cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// No epoch has begun.
    #[error("the session has no context yet")]
    NoEpoch,
    /// The epoch was begun by a version that has another renderer.
    #[error("renderer {0} is not known to this version of retrace")]
    UnknownRenderer(u32),
    /// Something this renderer never puts into a request.
    #[error("renderer {RENDERER} cannot render {0}")]
    Foreign(&'static str),
    /// Stored JSON that is none.
    #[error("the stored {what} is not JSON")]
    NotJson {
        /// What it is.
        what: &'static str,
        /// What the parser says.
        source: serde_json::Error,
    },
}

/// Renders the next request of a session.
///
/// # Errors
/// When there is no epoch, or the log holds something this version cannot render.
pub fn render(state: &SessionState) -> Result<Vec<u8>, RenderError> {
    let epoch = state.epoch.as_ref().ok_or(RenderError::NoEpoch)?;
    match epoch.start.renderer {
        RENDERER => render_v1(epoch, state.transcript.items()),
        unknown => Err(RenderError::UnknownRenderer(unknown)),
    }
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<&'a RawValue>,
    tools: &'a RawValue,
    system: &'a RawValue,
    messages: Vec<Message<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Message<'a> {
    User { content: Vec<UserBlock<'a>> },
    Assistant { content: &'a RawValue },
}

#[derive(Serialize)]
struct UserBlock<'a> {
    #[serde(flatten)]
    body: UserBody<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Ephemeral>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum UserBody<'a> {
    Text {
        text: &'a str,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

/// A breakpoint of five minutes, the API's default.
#[derive(Serialize, Clone, Copy)]
struct Ephemeral {
    r#type: &'static str,
}

const INTERRUPTED: &str = "[The user interrupted the turn here.]";

fn raw<'a>(what: &'static str, text: &'a str) -> Result<&'a RawValue, RenderError> {
    serde_json::from_str(text).map_err(|source| RenderError::NotJson { what, source })
}

fn render_v1(epoch: &Epoch, items: &[TranscriptItem]) -> Result<Vec<u8>, RenderError> {
    let start = &epoch.start;
    if !start.seed.is_empty() {
        return Err(RenderError::Foreign("a seed"));
    }
    let mut messages: Vec<Message<'_>> = Vec::new();
    for item in items {
        let body = match item {
            TranscriptItem::Prompt { text } => UserBody::Text { text },
            TranscriptItem::Interruption => UserBody::Text { text: INTERRUPTED },
            TranscriptItem::Result { call, is_error, content } => {
                UserBody::ToolResult { tool_use_id: &call.0, content, is_error: *is_error }
            }
            TranscriptItem::Passages(_) => return Err(RenderError::Foreign("retrieved passages")),
            TranscriptItem::Answer { content, .. } => {
                // A refusal can come without any content, and the API takes no empty message back.
                if content != "[]" {
                    messages.push(Message::Assistant { content: raw("answer", content)? });
                }
                continue;
            }
        };
        let block = UserBlock { body, cache_control: None };
        match messages.last_mut() {
            Some(Message::User { content }) => content.push(block),
            Some(Message::Assistant { .. }) | None => messages.push(Message::User { content: vec![block] }),
        }
    }
    mark_breakpoints(&mut messages);
    let body = Body {
        model: &start.model,
        max_tokens: start.max_tokens,
        stream: true,
        thinking: start.thinking.as_deref().map(|json| raw("thinking", json)).transpose()?,
        tools: raw("tools", &start.tools)?,
        system: raw("system", &start.system)?,
        messages,
    };
    serde_json::to_vec(&body).map_err(|source| RenderError::NotJson { what: "request", source })
}

fn mark_breakpoints(messages: &mut [Message<'_>]) {
    let ends = messages.iter_mut().rev().filter_map(|message| match message {
        Message::User { content } => content.last_mut(),
        Message::Assistant { .. } => None,
    });
    for block in ends.take(2) {
        block.cache_control = Some(Ephemeral { r#type: "ephemeral" });
    }
}

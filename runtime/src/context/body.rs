//! A request's body as it is written: the parts that all renderers share. What an older renderer never fills is left
//! out, so that its bytes stay what they were.

use super::render::RenderError;
use retrace_events::fold::Image;
use retrace_events::payload::context::ContextEpochStarted;
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The user stopped the turn, as the model is told.
pub(super) const INTERRUPTED: &str = "[The user interrupted the turn here.]";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<&'a RawValue>,
    tools: &'a RawValue,
    system: &'a RawValue,
    messages: &'a [Message<'a>],
    #[serde(skip_serializing_if = "Option::is_none")]
    compaction: Option<Compaction>,
}

/// The wish for a summary, in the words of the API's own prompt for it.
#[derive(Serialize, Clone, Copy)]
struct Compaction {
    r#type: &'static str,
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// An answer.
    Answer,
    /// A summary of the conversation.
    Summary,
}

/// A message.
#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum Message<'a> {
    /// From our side.
    User {
        /// Its blocks.
        content: Vec<UserBlock<'a>>,
    },
    /// The model's, as raw JSON.
    Assistant {
        /// An array of blocks.
        content: Cow<'a, RawValue>,
    },
}

/// A block of a message from our side.
#[derive(Serialize)]
pub(super) struct UserBlock<'a> {
    #[serde(flatten)]
    pub(super) body: UserBody<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_control: Option<Ephemeral>,
}

/// What a block says.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum UserBody<'a> {
    /// Words.
    Text {
        /// Not empty.
        text: Cow<'a, str>,
    },
    /// An image.
    Image {
        /// Its bytes.
        source: ImageSource<'a>,
    },
    /// What became of a call.
    ToolResult {
        /// The call.
        tool_use_id: &'a str,
        /// What the model is told.
        content: ResultContent<'a>,
        /// Whether it failed.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

/// What a result says.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum ResultContent<'a> {
    /// Words alone.
    Text(&'a str),
    /// Images, then words.
    Blocks(Vec<UserBody<'a>>),
}

/// An image's bytes.
#[derive(Serialize)]
pub(super) struct ImageSource<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: &'a str,
}

/// A cache breakpoint; without a lifetime it is the API's default of five minutes.
#[derive(Serialize, Clone, Copy)]
pub(super) struct Ephemeral {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl Ephemeral {
    /// Five minutes.
    pub(super) const SHORT: Self = Self { r#type: "ephemeral", ttl: None };
    /// An hour.
    pub(super) const HOUR: Self = Self { r#type: "ephemeral", ttl: Some("1h") };
}

impl<'a> UserBody<'a> {
    /// Words.
    pub(super) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text { text: text.into() }
    }

    /// An image.
    pub(super) fn image(image: &'a Image) -> Self {
        Self::Image {
            source: ImageSource { r#type: "base64", media_type: &image.media_type, data: &image.data_base64 },
        }
    }
}

/// Adds `body` to the message from our side that is last, or begins one.
pub(super) fn push_user<'a>(messages: &mut Vec<Message<'a>>, body: UserBody<'a>) {
    let block = UserBlock { body, cache_control: None };
    match messages.last_mut() {
        Some(Message::User { content }) => content.push(block),
        Some(Message::Assistant { .. }) | None => messages.push(Message::User { content: vec![block] }),
    }
}

/// The place of a block: its message, and where in it.
pub(super) type Place = (usize, usize);

/// The last block from our side.
pub(super) fn tail(messages: &[Message<'_>]) -> Option<Place> {
    messages.iter().enumerate().rev().find_map(|(index, message)| match message {
        Message::User { content } => content.len().checked_sub(1).map(|last| (index, last)),
        Message::Assistant { .. } => None,
    })
}

/// Marks the block at `place`, unless it has a mark already, which lives longer.
pub(super) fn mark(messages: &mut [Message<'_>], (message, block): Place) {
    if let Some(Message::User { content }) = messages.get_mut(message)
        && let Some(block) = content.get_mut(block)
    {
        block.cache_control.get_or_insert(Ephemeral::SHORT);
    }
}

/// Renderers 1 and 2: marks the ends of the last two messages from our side: where the cache is to be written now, and where the request
/// before this one had its mark. An end that has a longer mark keeps it.
pub(super) fn mark_tail(messages: &mut [Message<'_>]) {
    let ends = messages.iter_mut().rev().filter_map(|message| match message {
        Message::User { content } => content.last_mut(),
        Message::Assistant { .. } => None,
    });
    for block in ends.take(2) {
        block.cache_control.get_or_insert(Ephemeral::SHORT);
    }
}

/// Raw JSON, checked to be some.
pub(super) fn raw<'a>(what: &'static str, text: &'a str) -> Result<&'a RawValue, RenderError> {
    serde_json::from_str(text).map_err(|source| RenderError::NotJson { what, source })
}

/// The bytes of a request of the epoch.
pub(super) fn to_bytes(
    start: &ContextEpochStarted,
    messages: &[Message<'_>],
    purpose: Purpose,
) -> Result<Vec<u8>, RenderError> {
    let body = Body {
        model: &start.model,
        max_tokens: start.max_tokens,
        stream: true,
        thinking: start.thinking.as_deref().map(|json| raw("thinking", json)).transpose()?,
        output_config: start.output_config.as_deref().map(|json| raw("output_config", json)).transpose()?,
        tools: raw("tools", &start.tools)?,
        system: raw("system", &start.system)?,
        messages,
        compaction: (purpose == Purpose::Summary).then_some(Compaction { r#type: "summarize" }),
    };
    serde_json::to_vec(&body).map_err(|source| RenderError::NotJson { what: "request", source })
}

//! Renderer 2: beside what the first one knows, a seed, passages at the tail, images, warnings, ends of background
//! commands, and a conversation that is carried over from an earlier epoch.
//!
//! The seed is the beginning of the first user message. In a user message all results stand before any words, as the API
//! demands. A carried-over answer is given back without its thinking, which is bound to a prefix that is gone, and
//! otherwise byte for byte.

use super::body::{Ephemeral, INTERRUPTED, Message, Purpose, ResultContent, UserBody, mark_tail, push_user, to_bytes};
use super::carried::{as_it_came, without_thinking};
use super::framing::{background_ended, passage, warning};
use super::render::RenderError;
use retrace_events::CallId;
use retrace_events::fold::{Epoch, Image, TranscriptItem};
use retrace_events::payload::context::ContextPassage;
use std::borrow::Cow;

/// The conversation begins with an answer, whose question is not there any more.
const EARLIER: &str = "[What was said before is not shown here.]";

pub(super) fn render_second(epoch: &Epoch, items: &[TranscriptItem]) -> Result<Vec<u8>, RenderError> {
    if epoch.start.compacted.is_some() {
        return Err(RenderError::Foreign { renderer: 2, what: "a summary by the API" });
    }
    let mut conversation = Conversation::default();
    conversation.begin(&epoch.start.seed);
    for item in items {
        conversation.add(item)?;
    }
    let mut messages = conversation.finish()?;
    mark_tail(&mut messages);
    to_bytes(&epoch.start, &messages, Purpose::Answer)
}

/// A conversation as messages; shared with the renderers after this one.
#[derive(Default)]
pub(super) struct Conversation<'a> {
    /// What there is so far.
    pub(super) messages: Vec<Message<'a>>,
    /// The calls of the newest answer that have no result so far.
    open: Vec<&'a CallId>,
}

impl<'a> Conversation<'a> {
    /// Puts the seed at the beginning, with a breakpoint at its end.
    pub(super) fn begin(&mut self, seed: &[ContextPassage]) {
        for part in seed {
            self.say(passage(part));
        }
        if let Some(Message::User { content }) = self.messages.last_mut()
            && let Some(last) = content.last_mut()
        {
            last.cache_control = Some(Ephemeral::HOUR);
        }
    }

    /// Adds what was said.
    pub(super) fn add(&mut self, item: &'a TranscriptItem) -> Result<(), RenderError> {
        match item {
            TranscriptItem::Prompt { text, images } => {
                self.show(images);
                self.say(text.as_str());
            }
            TranscriptItem::Answer { content, calls, carried_over, .. } => {
                self.answer(content, calls, *carried_over)?;
            }
            TranscriptItem::Result { call, is_error, content, images } => self.result(call, *is_error, content, images),
            TranscriptItem::Passages(passages) => passages.iter().for_each(|part| self.say(passage(part))),
            TranscriptItem::Interruption => self.say(INTERRUPTED),
            TranscriptItem::Warning { note } => self.say(warning(note)),
            TranscriptItem::BackgroundEnded { call, command, why } => self.say(background_ended(call, command, why)),
        }
        Ok(())
    }

    /// The messages, when every call has its result.
    pub(super) fn finish(self) -> Result<Vec<Message<'a>>, RenderError> {
        self.check_results()?;
        Ok(self.messages)
    }

    fn answer(&mut self, content: &'a str, calls: &'a [CallId], carried_over: bool) -> Result<(), RenderError> {
        self.check_results()?;
        let content = if carried_over { without_thinking(content)?.map(Cow::Owned) } else { as_it_came(content)? };
        let Some(content) = content else { return Ok(()) };
        if self.messages.is_empty() {
            self.say(EARLIER);
        }
        self.messages.push(Message::Assistant { content });
        self.open = calls.iter().collect();
        Ok(())
    }

    fn result(&mut self, call: &'a CallId, is_error: bool, content: &'a str, images: &'a [Image]) {
        let Some(place) = self.open.iter().position(|open| *open == call) else {
            // Its call was left behind with an earlier epoch; the API takes no result without one.
            return;
        };
        self.open.remove(place);
        // Of a failure the API takes words alone.
        let content = if images.is_empty() || is_error {
            ResultContent::Text(content)
        } else {
            let words = (!is_blank(content)).then(|| UserBody::text(content));
            ResultContent::Blocks(images.iter().map(UserBody::image).chain(words).collect())
        };
        push_user(&mut self.messages, UserBody::ToolResult { tool_use_id: &call.0, content, is_error });
    }

    fn show(&mut self, images: &'a [Image]) {
        for image in images {
            push_user(&mut self.messages, UserBody::image(image));
        }
    }

    /// Words, unless they are none: the API refuses blank ones.
    fn say(&mut self, text: impl Into<Cow<'a, str>>) {
        let text = text.into();
        if !is_blank(&text) {
            push_user(&mut self.messages, UserBody::text(text));
        }
    }

    /// Whether a request can be made here.
    pub(super) fn check_results(&self) -> Result<(), RenderError> {
        self.open.first().map_or(Ok(()), |call| Err(RenderError::OpenCall(call.0.clone())))
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

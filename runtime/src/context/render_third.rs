//! Renderer 3: as the second one, but for two things. It knows epochs that begin with a summary which the API wrote: its block
//! stands first, as the API gave it, and what follows it keeps its thinking. And its rolling marks stand at the very end and
//! exactly where the answered request before this one ended, also where later words joined the same message.

use super::body::{Message, Place, Purpose, mark, tail, to_bytes};
use super::render::RenderError;
use super::render_second::Conversation;
use retrace_events::fold::{Epoch, TranscriptItem};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

pub(super) fn render_third(epoch: &Epoch, items: &[TranscriptItem]) -> Result<Vec<u8>, RenderError> {
    render_for(epoch, items, Purpose::Answer)
}

/// The request that `items` make, for an answer or for a summary of them.
pub(super) fn render_for(epoch: &Epoch, items: &[TranscriptItem], purpose: Purpose) -> Result<Vec<u8>, RenderError> {
    let mut conversation = begin(epoch)?;
    let mut asked: Option<Place> = None;
    for item in items {
        if matches!(item, TranscriptItem::Answer { .. }) {
            asked = tail(&conversation.messages);
        }
        conversation.add(item)?;
    }
    let mut messages = conversation.finish()?;
    for place in [tail(&messages), asked].into_iter().flatten() {
        mark(&mut messages, place);
    }
    to_bytes(&epoch.start, &messages, purpose)
}

/// What stands before the conversation: the seed, or the summary.
pub(super) fn begin(epoch: &Epoch) -> Result<Conversation<'_>, RenderError> {
    let mut conversation = Conversation::default();
    match &epoch.start.compacted {
        None => conversation.begin(&epoch.start.seed),
        Some(block) => {
            let content = Cow::Owned(marked(block)?);
            conversation.messages.push(Message::Assistant { content });
        }
    }
    Ok(conversation)
}

/// The API's block as the content of a message, as it came, with a breakpoint behind it.
fn marked(block: &str) -> Result<Box<RawValue>, RenderError> {
    #[derive(Deserialize)]
    struct Typed {
        r#type: String,
    }
    let not_json = |source| RenderError::NotJson { what: "summary", source };
    let Typed { r#type: kind } = serde_json::from_str(block).map_err(not_json)?;
    let fields = block.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let Some(fields) = fields.filter(|_| kind == "compaction") else {
        return Err(RenderError::Foreign { renderer: 3, what: "a summary that is no compaction block" });
    };
    let content = format!(r#"[{{{fields},"cache_control":{{"type":"ephemeral","ttl":"1h"}}}}]"#);
    RawValue::from_string(content).map_err(not_json)
}

//! An answer in the making: the lines of one message, until something shows that it is whole.

use super::blocks::{Block, raw_blocks};
use super::outcome::{OpenCall, Outcome, draft, effect_of};
use super::record::{Message, object};
use crate::claude::{ModelTable, Usage as ApiUsage};
use crate::import::Draft;
use retrace_events::payload::tool::ToolCalled;
use retrace_events::payload::turn::{TurnAnswered, Usage};
use retrace_events::{CallId, EventId};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The most bytes of an answer's blocks; an event holds 32 MiB.
const MAX_BYTES: usize = 24 * 1024 * 1024;

/// An answer in the making.
#[derive(Debug)]
pub(super) struct Answer {
    /// The line that began it.
    pub(super) record: String,
    /// The message's id; empty when it has none, and then no other line belongs to it.
    message: String,
    model: String,
    blocks: Vec<String>,
    bytes: usize,
    calls: Vec<OpenCall>,
    stop_reason: Option<String>,
    stop_details: Option<String>,
    usage: ApiUsage,
    request_id: Option<String>,
    /// When the request was made, as far as can be told.
    asked_ms: u64,
    /// When its newest line was written.
    pub(super) at_ms: u64,
    /// What came of its calls meanwhile: the line, when, and the outcome.
    pub(super) outcomes: Vec<(String, u64, Outcome)>,
}

/// What an answer comes to.
pub(super) struct Answered {
    /// Its event and those of its calls.
    pub(super) drafts: Vec<Draft>,
    /// Its calls.
    pub(super) calls: Vec<OpenCall>,
    /// Why it stopped.
    pub(super) stop_reason: String,
    /// What came of its calls meanwhile.
    pub(super) outcomes: Vec<(String, u64, Outcome)>,
}

impl Answer {
    /// Begins an answer with its first line. `asked_ms` is when the event before it happened.
    pub(super) fn new(record: &str, message: &Message<'_>, asked_ms: u64, at_ms: u64) -> Self {
        Self {
            record: record.to_owned(),
            message: message.id.clone().unwrap_or_default(),
            model: message.model.clone().unwrap_or_default(),
            blocks: Vec::new(),
            bytes: 0,
            calls: Vec::new(),
            stop_reason: None,
            stop_details: None,
            usage: ApiUsage::default(),
            request_id: None,
            asked_ms,
            at_ms,
            outcomes: Vec::new(),
        }
    }

    /// Its model; `before`, when it names none.
    pub(super) fn model_or(&mut self, before: &str) -> String {
        if self.model.is_empty() {
            before.clone_into(&mut self.model);
        }
        self.model.clone()
    }

    /// Whether `message` is a part of it.
    pub(super) fn goes_on_with(&self, message: &Message<'_>) -> bool {
        !self.message.is_empty() && message.id.as_deref() == Some(&self.message)
    }

    /// Takes a line; tells how many blocks had to be left out.
    pub(super) fn add(&mut self, message: &Message<'_>, request_id: Option<&String>, at_ms: u64) -> u64 {
        self.at_ms = self.at_ms.max(at_ms);
        self.stop_reason = message.stop_reason.clone().or(self.stop_reason.take());
        let details = message.stop_details.map(|raw| raw.get().to_owned()).filter(|raw| raw != "null");
        self.stop_details = details.or(self.stop_details.take());
        self.request_id = request_id.cloned().or(self.request_id.take());
        if let Some(usage) = message.usage.and_then(|raw| serde_json::from_str(raw.get()).ok()) {
            self.usage.absorb(&usage);
        }
        let Some(content) = message.content else { return 0 };
        if let Ok(text) = serde_json::from_str::<String>(content.get()) {
            let block = serde_json::json!({ "type": "text", "text": text }).to_string();
            return u64::from(!self.push(block));
        }
        raw_blocks(content).into_iter().map(|raw| u64::from(!self.add_block(raw, at_ms))).sum()
    }

    fn add_block(&mut self, raw: &RawValue, at_ms: u64) -> bool {
        let Some(call) = sound(raw) else { return false };
        if call.as_ref().is_some_and(|call| self.calls.iter().any(|other| other.id == call.id)) {
            return false;
        }
        let fits = self.push(raw.get().to_owned());
        if let Some(call) = call.filter(|_| fits) {
            self.calls.push(OpenCall { at_ms, ..call });
        }
        fits
    }

    fn push(&mut self, block: String) -> bool {
        let fits = self.bytes + block.len() <= MAX_BYTES;
        if fits {
            self.bytes += block.len();
            self.blocks.push(block);
        }
        fits
    }

    /// The answer as events. `origin` stands for its request, which nobody knows.
    pub(super) fn finish(self, origin: EventId, models: &ModelTable) -> Answered {
        let has_calls = !self.calls.is_empty();
        let inferred = if has_calls { "tool_use" } else { "end_turn" };
        let stop_reason = self.stop_reason.unwrap_or_else(|| inferred.to_owned());
        let answered = TurnAnswered {
            request: origin,
            content: format!("[{}]", self.blocks.join(",")),
            cost_microusd: models.row(&self.model).cost_micros(&self.usage),
            model: self.model,
            stop_reason: stop_reason.clone(),
            stop_details: self.stop_details,
            usage: logged(&self.usage),
            request_id: self.request_id,
            duration_ms: self.at_ms.saturating_sub(self.asked_ms),
        };
        let mut drafts = vec![draft(&self.record, "answer", self.at_ms, answered.into())];
        for (place, call) in self.calls.iter().enumerate() {
            let OpenCall { id, tool, input, .. } = call.clone();
            let effect = effect_of(&tool);
            let called = ToolCalled { call: CallId(id), tool, input, request: origin, effect };
            drafts.push(draft(&self.record, &format!("call {place}"), self.at_ms, called.into()));
        }
        Answered { drafts, calls: self.calls, stop_reason, outcomes: self.outcomes }
    }
}

/// A block that can be given back to the API, and the call in it; `None` when it cannot: the fold and the API want more of a
/// block than a reader of transcripts.
#[expect(clippy::option_option, reason = "not a block, a block, a call")]
fn sound(raw: &RawValue) -> Option<Option<OpenCall>> {
    #[derive(Deserialize)]
    struct Strict {
        r#type: String,
        id: Option<String>,
        name: Option<String>,
    }
    let Strict { r#type, id, name } = object(raw.get())?;
    if r#type != "tool_use" {
        return Some(None);
    }
    let input = Block::of(raw)?.input.map_or_else(|| "{}".to_owned(), |raw| raw.get().to_owned());
    let is_object = input.starts_with('{');
    let (id, tool) = id.zip(name).filter(|(id, tool)| is_object && !id.is_empty() && !tool.is_empty())?;
    Some(Some(OpenCall { id, tool, input, at_ms: 0 }))
}

fn logged(usage: &ApiUsage) -> Usage {
    Usage {
        input_tokens: usage.input_tokens,
        cache_write_5m_tokens: usage.cache_write_5m(),
        cache_write_1h_tokens: usage.cache_creation_1h_input_tokens,
        cache_read_tokens: usage.cache_read_input_tokens,
        output_tokens: usage.output_tokens,
    }
}

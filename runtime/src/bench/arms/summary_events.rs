//! Items as the events that a session of retrace would have of them, for what reads only events. Event `n` is item `n`.

use crate::bench::item::{Item, ItemKind};
use retrace_events::codec::Decoded;
use retrace_events::payload::context::ContextCompacted;
use retrace_events::payload::tool::{ToolCalled, ToolEffect, ToolFinished};
use retrace_events::payload::turn::{PromptSource, TurnAnswered, TurnPrompted, Usage};
use retrace_events::{CallId, Class, Envelope, Event, EventId, Hash, Payload, StreamId, Timestamp, Token};
use serde_json::json;

/// Makes events of items, in order.
pub(super) struct ItemEvents {
    stream: StreamId,
    /// Calls that have no result yet: number, tool, path.
    open: Vec<(CallId, String, String)>,
    next_seq: u64,
}

impl ItemEvents {
    /// For a session of this name.
    pub(super) fn new(session: &str) -> Self {
        let name = Token::slug("bench");
        let stream = StreamId { tenant: name.clone(), project: name, class: Class::Session, id: Token::slug(session) };
        Self { stream, open: Vec::new(), next_seq: 0 }
    }

    /// The stream of the events.
    pub(super) const fn stream(&self) -> &StreamId {
        &self.stream
    }

    /// The next item as an event. Its hash is not that of an event in a log: nothing is stored.
    pub(super) fn event(&mut self, item: &Item) -> Event {
        let payload = self.payload(item);
        let seq = self.next_seq;
        self.next_seq += 1;
        let envelope = Envelope {
            id: EventId(uuid::Uuid::from_u128(u128::from(seq) + 1)),
            stream: self.stream.clone(),
            seq,
            at: Timestamp(item.at_ms),
            kind: payload.kind().to_owned(),
            schema: Payload::schema_of(payload.kind()).unwrap_or(1),
            cause: None,
            prev_hash: Hash::GENESIS,
            payload: Vec::new(),
        };
        Event { envelope, hash: Hash::GENESIS, payload: Decoded::Known(Box::new(payload)) }
    }

    fn payload(&mut self, item: &Item) -> Payload {
        let text = item.text.clone();
        match item.kind {
            ItemKind::User | ItemKind::Meta => {
                TurnPrompted { text, source: PromptSource::Local, attachments: Vec::new() }.into()
            }
            ItemKind::Assistant => answered(&json!([{ "type": "text", "text": text }])),
            ItemKind::Thinking => answered(&json!([{ "type": "thinking", "thinking": text }])),
            ItemKind::Summary => ContextCompacted { summary: text, by: "recording".to_owned() }.into(),
            ItemKind::ToolCall => {
                let call = CallId(format!("call-{}", self.next_seq));
                self.open.push((call.clone(), item.tool.clone(), item.path.clone()));
                let input = if item.call.is_empty() { text } else { json!(item.call).to_string() };
                let (request, effect) = (EventId(uuid::Uuid::nil()), ToolEffect::Writes);
                ToolCalled { call, tool: item.tool.clone(), input, request, effect }.into()
            }
            ItemKind::ToolResult => {
                // Recordings name no call: a result belongs to the oldest open one of its tool and path.
                let same = |(_, tool, path): &(CallId, String, String)| *tool == item.tool && *path == item.path;
                let call = self.open.iter().position(same).map(|place| self.open.remove(place).0);
                let call = call.unwrap_or_else(|| CallId(format!("lost-{}", self.next_seq)));
                ToolFinished {
                    call,
                    is_error: false,
                    content: text,
                    exit: None,
                    output: None,
                    changed: Vec::new(),
                    duration_ms: 0,
                }
                .into()
            }
        }
    }
}

fn answered(content: &serde_json::Value) -> Payload {
    TurnAnswered {
        request: EventId(uuid::Uuid::nil()),
        content: content.to_string(),
        model: "recorded".to_owned(),
        stop_reason: "end_turn".to_owned(),
        stop_details: None,
        usage: Usage::default(),
        cost_microusd: 0,
        request_id: None,
        duration_ms: 0,
    }
    .into()
}

//! A planned answer as the events of a stream, and as the JSON of an answer in one piece.

use serde_json::{Value, json};

use super::cache::InputTokens;
use super::plan::{Plan, PlannedBlock};
use super::step::{Delivery, UsageOverrides};

const USUAL_DELTA_CHARS: usize = 24;

/// The figures of an answer's `usage`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usage {
    input: u64,
    written: u64,
    written_1h: u64,
    read: u64,
    /// It is that of a summary, which stands in a list of its own.
    of_summary: bool,
}

impl Usage {
    /// The simulated figures, unless the step gives its own.
    pub(super) fn new(simulated: InputTokens, given: &UsageOverrides) -> Self {
        let written = given.cache_creation_input_tokens.unwrap_or(simulated.written_5m + simulated.written_1h);
        Self {
            input: given.input_tokens.unwrap_or(simulated.fresh),
            written,
            written_1h: simulated.written_1h.min(written),
            read: given.cache_read_input_tokens.unwrap_or(simulated.read),
            of_summary: false,
        }
    }

    /// The same figures as those of a summary.
    pub(super) fn of_summary(self) -> Self {
        Self { of_summary: true, ..self }
    }

    fn json(&self, output_tokens: u64) -> Value {
        if self.of_summary {
            return self.around_summary(output_tokens);
        }
        json!({
            "input_tokens": self.input,
            "cache_creation_input_tokens": self.written,
            "cache_read_input_tokens": self.read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.written - self.written_1h,
                "ephemeral_1h_input_tokens": self.written_1h,
            },
            "output_tokens": output_tokens,
            "service_tier": "standard",
        })
    }

    /// No reply was made, so all is of the summary.
    fn around_summary(&self, output_tokens: u64) -> Value {
        let mut summary = Self { of_summary: false, ..*self }.json(output_tokens);
        if let Some(fields) = summary.as_object_mut() {
            fields.shift_remove("service_tier");
            fields.insert("type".to_owned(), json!("compaction"));
        }
        json!({
            "input_tokens": 0,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 0,
            "iterations": [summary],
        })
    }

    fn cumulative(&self, output_tokens: u64) -> Value {
        if self.of_summary {
            return self.around_summary(output_tokens);
        }
        json!({
            "input_tokens": self.input,
            "cache_creation_input_tokens": self.written,
            "cache_read_input_tokens": self.read,
            "output_tokens": output_tokens,
        })
    }
}

/// The whole answer as one JSON object, for requests without `stream`.
pub(super) fn whole_message(plan: &Plan, model: &str, usage: &Usage) -> Value {
    json!({
        "id": plan.message_id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": plan.blocks.iter().map(PlannedBlock::json).collect::<Vec<_>>(),
        "stop_reason": plan.stop_reason,
        "stop_sequence": plan.stop_sequence,
        "stop_details": plan.stop_details,
        "usage": usage.json(plan.output_tokens),
    })
}

/// The answer as server-sent events, each one complete.
pub(super) fn events(plan: &Plan, model: &str, usage: &Usage, delivery: &Delivery) -> Vec<String> {
    let mut writer = Writer { odd: delivery.odd, out: Vec::new() };
    let mut head = json!({ "type": "message_start", "message": whole_message(plan, model, usage) });
    head["message"]["content"] = json!([]);
    for field in ["stop_reason", "stop_sequence", "stop_details"] {
        head["message"][field] = Value::Null;
    }
    head["message"]["usage"]["output_tokens"] = json!(u8::from(!usage.of_summary));
    writer.event(&head);
    let chars = if delivery.delta_chars == 0 { USUAL_DELTA_CHARS } else { delivery.delta_chars };
    for (index, block) in plan.blocks.iter().enumerate() {
        block_events(&mut writer, index, block, chars);
    }
    writer.event(&json!({
        "type": "message_delta",
        "delta": {
            "stop_reason": plan.stop_reason,
            "stop_sequence": plan.stop_sequence,
            "stop_details": plan.stop_details,
        },
        "usage": usage.cumulative(plan.output_tokens),
    }));
    writer.event(&json!({ "type": "message_stop" }));
    writer.out
}

/// One event of any content, as [`events`] writes them.
pub(super) fn event(data: &Value, odd: bool) -> String {
    let name = data.get("type").and_then(Value::as_str).unwrap_or_default();
    let end = if odd { "\r\n" } else { "\n" };
    format!("event: {name}{end}data: {data}{end}{end}")
}

struct Writer {
    odd: bool,
    out: Vec<String>,
}

impl Writer {
    fn event(&mut self, data: &Value) {
        self.out.push(event(data, self.odd));
    }

    fn delta(&mut self, index: usize, delta: &Value) {
        self.event(&json!({ "type": "content_block_delta", "index": index, "delta": delta }));
    }
}

fn block_events(writer: &mut Writer, index: usize, block: &PlannedBlock, chars: usize) {
    let start = match block {
        PlannedBlock::Text { .. } => json!({ "type": "text", "text": "" }),
        PlannedBlock::Thinking { .. } => json!({ "type": "thinking", "thinking": "", "signature": "" }),
        PlannedBlock::RedactedThinking { data } => json!({ "type": "redacted_thinking", "data": data }),
        PlannedBlock::ToolUse { id, name, .. } => json!({ "type": "tool_use", "id": id, "name": name, "input": {} }),
        // It comes whole, without a delta.
        PlannedBlock::Summary { .. } => block.json(),
    };
    writer.event(&json!({ "type": "content_block_start", "index": index, "content_block": start }));
    if index == 0 || writer.odd {
        writer.event(&json!({ "type": "ping" }));
    }
    if writer.odd {
        writer.out.push(": a comment\r\n\r\n".to_owned());
        writer.event(&json!({ "type": "event_of_the_future", "index": index, "text": "ignore me" }));
        writer.delta(index, &json!({ "type": "delta_of_the_future", "text": "ignore me" }));
    }
    match block {
        PlannedBlock::Text { text } => {
            for piece in pieces(text, chars) {
                writer.delta(index, &json!({ "type": "text_delta", "text": piece }));
            }
        }
        PlannedBlock::Thinking { text, signature } => {
            for piece in pieces(text, chars) {
                writer.delta(index, &json!({ "type": "thinking_delta", "thinking": piece }));
            }
            writer.delta(index, &json!({ "type": "signature_delta", "signature": signature }));
        }
        PlannedBlock::RedactedThinking { .. } | PlannedBlock::Summary { .. } => {}
        PlannedBlock::ToolUse { input_json, .. } => {
            writer.delta(index, &json!({ "type": "input_json_delta", "partial_json": "" }));
            // An empty object is how the API sends an empty input: no further pieces.
            let pieces = if input_json == "{}" { Vec::new() } else { pieces(input_json, chars) };
            for piece in pieces {
                writer.delta(index, &json!({ "type": "input_json_delta", "partial_json": piece }));
            }
        }
    }
    writer.event(&json!({ "type": "content_block_stop", "index": index }));
}

/// `text` in pieces of `chars` characters.
fn pieces(text: &str, chars: usize) -> Vec<String> {
    let all: Vec<char> = text.chars().collect();
    all.chunks(chars.max(1)).map(|piece| piece.iter().collect()).collect()
}

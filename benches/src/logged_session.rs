//! [`LoggedSession`]: recorded lines as retrace itself would have logged them: prompts, requests, answers with their calls,
//! results, the ends of turns, and a fresh epoch whenever the conversation is full. What a fold makes of such a session is what
//! it makes of a real one.

use crate::recorded::{Chain, RecordedLine, time};
use retrace_events::codec::CodecError;
use retrace_events::payload::context::ContextEpochStarted;
use retrace_events::payload::tool::{ToolCalled, ToolEffect, ToolFinished};
use retrace_events::payload::turn::{PromptSource, TurnAnswered, TurnEnded, TurnOutcome, TurnPrompted};
use retrace_events::{CallId, Envelope, EventId, Payload, StreamId, Timestamp};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// When an epoch is full, and how much of it the next one keeps, in bytes of conversation.
const EPOCH_BYTES: usize = 300_000;
const KEPT_BYTES: usize = 45_000;

/// A session that grows by recorded lines.
pub struct LoggedSession {
    chain: Chain,
    events: Vec<Envelope>,
    epochs: u32,
    in_turn: bool,
    calls: u64,
    step: Step,
    /// The steps of the present epoch: the first event of each, and its bytes.
    steps: VecDeque<(u64, usize)>,
}

/// An answer with its calls, before it is logged.
#[derive(Default)]
struct Step {
    blocks: Vec<Value>,
    calls: Vec<Call>,
}

struct Call {
    id: CallId,
    tool: String,
    path: Option<String>,
    input: String,
    result: Option<String>,
}

impl LoggedSession {
    /// A session nothing was said in yet.
    ///
    /// # Errors
    /// When an event is too large.
    pub fn begin(stream: StreamId, at: Timestamp) -> Result<Self, CodecError> {
        let mut session = Self {
            chain: Chain::new(stream, at),
            events: Vec::new(),
            epochs: 0,
            in_turn: false,
            calls: 0,
            step: Step::default(),
            steps: VecDeque::new(),
        };
        session.log(super::started())?;
        Ok(session)
    }

    /// How many events there are.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.chain.next_seq
    }

    /// Whether there is none, which is never so.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The events that were not taken yet.
    pub fn take(&mut self) -> Vec<Envelope> {
        std::mem::take(&mut self.events)
    }

    /// Logs something that no recording has.
    ///
    /// # Errors
    /// When it is too large.
    pub fn note(&mut self, payload: Payload) -> Result<(), CodecError> {
        self.log(payload)
    }

    /// Takes in the next line, its words as `vary` has them.
    ///
    /// # Errors
    /// When an event is too large.
    pub fn add(&mut self, line: &RecordedLine, vary: &dyn Fn(&str) -> String) -> Result<(), CodecError> {
        self.chain.at = self.chain.at.max(time(&line.ts));
        let text = vary(&line.text);
        match line.kind.as_str() {
            "assistant" => self.block(json!({ "type": "text", "text": text })),
            "thinking" => self.block(json!({ "type": "thinking", "thinking": text, "signature": "c2lnbmF0dXJl" })),
            "tool_call" => self.call(line, text),
            "tool_result" => {
                let is_it = |call: &&mut Call| {
                    call.result.is_none() && Some(&call.tool) == line.tool.as_ref() && call.path == line.path
                };
                if let Some(call) = self.step.calls.iter_mut().find(is_it) {
                    call.result = Some(text);
                }
                Ok(())
            }
            _ => self.prompt(text),
        }
    }

    fn block(&mut self, block: Value) -> Result<(), CodecError> {
        if self.step.calls.iter().any(|call| call.result.is_some()) {
            self.flush()?;
        }
        self.step.blocks.push(block);
        Ok(())
    }

    fn call(&mut self, line: &RecordedLine, input: String) -> Result<(), CodecError> {
        self.calls += 1;
        let (id, tool) = (format!("toolu_{}", self.calls), line.tool.clone().unwrap_or_default());
        let value: Value = serde_json::from_str(&input).unwrap_or_else(|_| json!({ "text": input }));
        self.block(json!({ "type": "tool_use", "id": id, "name": tool, "input": value }))?;
        self.step.calls.push(Call {
            id: CallId(id),
            tool,
            path: line.path.clone(),
            input: value.to_string(),
            result: None,
        });
        Ok(())
    }

    fn prompt(&mut self, text: String) -> Result<(), CodecError> {
        self.flush()?;
        if std::mem::replace(&mut self.in_turn, true) {
            self.log(TurnEnded { outcome: TurnOutcome::Completed, note: String::new() }.into())?;
        }
        self.steps.push_back((self.chain.next_seq, text.len()));
        self.log(TurnPrompted { text, source: PromptSource::Local, attachments: Vec::new() }.into())?;
        self.make_room()
    }

    /// Logs the step.
    fn flush(&mut self) -> Result<(), CodecError> {
        let Step { blocks, calls } = std::mem::take(&mut self.step);
        if blocks.is_empty() || !self.in_turn {
            return Ok(());
        }
        self.make_room()?;
        let nil = EventId(uuid::Uuid::nil());
        self.log(super::request(nil).into())?;
        let content = Value::Array(blocks).to_string();
        let results: usize = calls.iter().filter_map(|call| call.result.as_ref()).map(String::len).sum();
        self.steps.push_back((self.chain.next_seq, content.len() + results));
        let stop_reason = if calls.is_empty() { "end_turn" } else { "tool_use" }.to_owned();
        self.log(TurnAnswered { content, stop_reason, ..super::answer(nil, 0) }.into())?;
        for Call { id, tool, input, .. } in &calls {
            let (call, tool, input, effect) = (id.clone(), tool.clone(), input.clone(), ToolEffect::Writes);
            self.log(ToolCalled { call, tool, input, request: nil, effect }.into())?;
        }
        for Call { id, result, .. } in calls {
            self.log(finished(id, result.unwrap_or_default()))?;
        }
        Ok(())
    }

    /// Begins an epoch when there is none, or when the present one is full.
    fn make_room(&mut self) -> Result<(), CodecError> {
        let bytes: usize = self.steps.iter().map(|(_, bytes)| bytes).sum();
        if self.epochs > 0 && bytes < EPOCH_BYTES {
            return Ok(());
        }
        self.epochs += 1;
        let mut kept = bytes;
        while self.epochs > 1 && kept > KEPT_BYTES && self.steps.len() > 1 {
            kept -= self.steps.pop_front().map_or(0, |(_, bytes)| bytes);
        }
        let from_seq = if self.epochs == 1 { 0 } else { self.steps.front().map_or(0, |(seq, _)| *seq) };
        let Payload::Context(retrace_events::payload::Context::EpochStarted(first)) = super::epoch() else {
            return Ok(());
        };
        self.log(ContextEpochStarted { number: self.epochs, renderer: 3, from_seq, ..first }.into())
    }

    fn log(&mut self, payload: Payload) -> Result<(), CodecError> {
        self.events.push(self.chain.next(&payload)?);
        Ok(())
    }
}

fn finished(call: CallId, content: String) -> Payload {
    let (exit, output, changed) = (None, None, Vec::new());
    ToolFinished { call, is_error: false, content, exit, output, changed, duration_ms: 100 }.into()
}

#[cfg(test)]
#[path = "logged_session_tests.rs"]
mod tests;

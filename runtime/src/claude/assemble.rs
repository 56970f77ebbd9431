//! Builds an answer out of stream events, keeping every block as the raw JSON it came as.
//!
//! Rules:
//! - A block is its `content_block_start` object, unknown fields and their order included. Text, thinking and
//!   signatures are appended to; citations are collected; nothing else is touched.
//! - A tool call's input is the exact concatenation of its `partial_json`. Empty means what the start block said, else
//!   `{}`. Input that is no JSON object is kept aside in [`Block::ToolUse::broken_input`] and stands as `{}` in the
//!   content, so that the content can always be sent back.
//! - Unknown events and deltas are skipped. A message is finished by `message_stop` alone.

use thiserror::Error;

use super::answer::Answer;
use super::block::Block;
use super::delta::Delta;
use super::partial::Partial;
use super::raw::{RawFields, quoted};
use super::stop_reason::StopReason;
use super::stream_event::{BlockDelta, MessageHead, StreamEvent, parse};
use super::usage::Usage;

/// The most content blocks one answer may have.
const MAX_BLOCKS: usize = 10_000;

/// Why a stream is no answer.
#[derive(Debug, Error)]
pub enum AssembleError {
    /// The API reported an error in mid-stream.
    #[error("{error_type}: {message}")]
    Api {
        /// The API's error type, such as `overloaded_error`.
        error_type: String,
        /// The API's message.
        message: String,
    },
    /// An event is not the JSON it should be.
    #[error("an event of the answer is malformed: {0}")]
    Malformed(#[from] serde_json::Error),
    /// The events contradict each other.
    #[error("the answer breaks the streaming protocol: {0}")]
    Protocol(&'static str),
}

#[derive(Debug)]
struct BlockInProgress {
    index: u64,
    fields: RawFields,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    input: String,
    citations: Vec<String>,
    stopped: bool,
}

/// The assembler of one answer.
#[derive(Debug, Default)]
pub struct Assembler {
    head: Option<MessageHead>,
    blocks: Vec<BlockInProgress>,
    usage: Usage,
    /// What summaries used, which is no part of the other counts.
    compactions: Usage,
    stop_reason: Option<String>,
    stop_sequence: Option<String>,
    stop_details: Option<String>,
    stopped: bool,
}

impl Assembler {
    /// An assembler that has seen nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the data of the next server-sent event and returns what of it a reader may want to see.
    ///
    /// # Errors
    /// When the API reports an error, or the event cannot belong to an answer.
    pub fn push(&mut self, data: &str) -> Result<Option<Delta>, AssembleError> {
        let event = parse(data)?;
        if self.stopped {
            return Ok(None);
        }
        match event {
            StreamEvent::MessageStart(head) => {
                if self.head.is_some() {
                    return Err(AssembleError::Protocol("a second message_start"));
                }
                self.count(&head.usage);
                self.head = Some(head);
                Ok(None)
            }
            StreamEvent::BlockStart { index, block } => self.start_block(index, block),
            StreamEvent::BlockDelta { index, delta } => self.open_block(index)?.append(delta),
            StreamEvent::BlockStop { index } => {
                self.open_block(index)?.stopped = true;
                Ok(Some(Delta::BlockStop { index }))
            }
            StreamEvent::MessageDelta { stop_reason, stop_sequence, stop_details, usage } => {
                self.stop_reason = stop_reason.or(self.stop_reason.take());
                self.stop_sequence = stop_sequence.or(self.stop_sequence.take());
                self.stop_details = stop_details.or(self.stop_details.take());
                self.count(&usage);
                Ok(None)
            }
            StreamEvent::MessageStop => {
                if self.head.is_none() {
                    return Err(AssembleError::Protocol("message_stop before message_start"));
                }
                if self.stop_reason.is_none() {
                    return Err(AssembleError::Protocol("message_stop without a stop_reason"));
                }
                self.stopped = true;
                Ok(None)
            }
            StreamEvent::Error { error_type, message } => Err(AssembleError::Api { error_type, message }),
            StreamEvent::Unknown => Ok(None),
        }
    }

    /// Whether `message_stop` has come.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.stopped
    }

    /// The finished answer; `None` without a `message_stop`.
    #[must_use]
    pub fn answer(&self, request_id: Option<String>) -> Option<Answer> {
        let head = self.head.as_ref().filter(|_| self.stopped)?;
        let stop_reason = StopReason::from(self.stop_reason.clone()?);
        let (content_json, blocks) = self.content();
        Some(Answer {
            content_json,
            blocks,
            stop_reason,
            stop_sequence: self.stop_sequence.clone(),
            stop_details: self.stop_details.clone(),
            usage: self.used(),
            model: head.model.clone(),
            message_id: head.id.clone(),
            request_id,
        })
    }

    /// What has come so far; `None` before `message_start`.
    #[must_use]
    pub fn partial(&self) -> Option<Partial> {
        let head = self.head.as_ref()?;
        let (content_json, _) = self.content();
        let known = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        Some(Partial { content_json, usage: self.used(), model: known(&head.model), message_id: known(&head.id) })
    }

    /// Takes a report of what was used; reports are cumulative.
    fn count(&mut self, report: &serde_json::Value) {
        self.usage.absorb(report);
        if let Some(compactions) = Usage::of_compactions(report) {
            self.compactions = compactions;
        }
    }

    fn used(&self) -> Usage {
        self.usage.and(&self.compactions)
    }

    fn start_block(&mut self, index: u64, fields: RawFields) -> Result<Option<Delta>, AssembleError> {
        if self.head.is_none() {
            return Err(AssembleError::Protocol("a content block before message_start"));
        }
        if self.blocks.iter().any(|block| block.index == index) {
            return Err(AssembleError::Protocol("two content blocks with one index"));
        }
        if self.blocks.len() >= MAX_BLOCKS {
            return Err(AssembleError::Protocol("too many content blocks"));
        }
        let kind = fields.text("type").ok_or(AssembleError::Protocol("a content block without a type"))?;
        let delta = match kind.as_str() {
            "tool_use" => {
                let (Some(id), Some(name)) = (fields.text("id"), fields.text("name")) else {
                    return Err(AssembleError::Protocol("a tool call without id or name"));
                };
                Some(Delta::ToolStart { index, id, name })
            }
            "text" => fields.text("text").filter(|t| !t.is_empty()).map(|text| Delta::Text { index, text }),
            _ => None,
        };
        self.blocks.push(BlockInProgress::new(index, fields));
        Ok(delta)
    }

    fn open_block(&mut self, index: u64) -> Result<&mut BlockInProgress, AssembleError> {
        // Pieces nearly always belong to the newest block.
        let block = self.blocks.iter_mut().rev().find(|block| block.index == index);
        let block = block.ok_or(AssembleError::Protocol("a piece of a content block that was never started"))?;
        if block.stopped {
            return Err(AssembleError::Protocol("a piece of a content block that was already complete"));
        }
        Ok(block)
    }

    fn content(&self) -> (String, Vec<Block>) {
        let mut ordered: Vec<&BlockInProgress> = self.blocks.iter().collect();
        ordered.sort_by_key(|block| block.index);
        let mut json = String::from("[");
        let mut blocks = Vec::with_capacity(ordered.len());
        for block in ordered {
            if json.len() > 1 {
                json.push(',');
            }
            blocks.push(block.finish(&mut json));
        }
        json.push(']');
        (json, blocks)
    }
}

impl BlockInProgress {
    fn new(index: u64, fields: RawFields) -> Self {
        Self {
            index,
            fields,
            text: None,
            thinking: None,
            signature: None,
            input: String::new(),
            citations: Vec::new(),
            stopped: false,
        }
    }

    fn append(&mut self, delta: BlockDelta) -> Result<Option<Delta>, AssembleError> {
        let index = self.index;
        Ok(match delta {
            BlockDelta::Text(text) => {
                extend(&mut self.text, &self.fields, "text", &text);
                Some(Delta::Text { index, text })
            }
            BlockDelta::Thinking(text) => {
                extend(&mut self.thinking, &self.fields, "thinking", &text);
                Some(Delta::Thinking { index, text })
            }
            BlockDelta::Signature(text) => {
                extend(&mut self.signature, &self.fields, "signature", &text);
                None
            }
            BlockDelta::InputJson(partial_json) => {
                self.input.push_str(&partial_json);
                Some(Delta::ToolInput { index, partial_json })
            }
            BlockDelta::Citation(json) => {
                self.citations.push(json);
                None
            }
            BlockDelta::Compaction(fields) => {
                for name in ["content", "encrypted_content"] {
                    if let Some(value) = fields.get(name) {
                        self.fields.set(name, value.to_owned());
                    }
                }
                None
            }
            BlockDelta::Unknown => None,
        })
    }

    /// Writes the block as JSON text to `json` and returns its typed view.
    fn finish(&self, json: &mut String) -> Block {
        let mut fields = self.fields.clone();
        for (name, grown) in [("text", &self.text), ("thinking", &self.thinking), ("signature", &self.signature)] {
            if let Some(grown) = grown {
                fields.set(name, quoted(grown));
            }
        }
        if !self.citations.is_empty() {
            fields.set("citations", self.collected_citations());
        }
        let broken_input = self.settle_input(&mut fields);
        let from = json.len();
        fields.write(json);
        let text = |name: &str| fields.text(name).unwrap_or_default();
        match text("type").as_str() {
            "text" => Block::Text { text: text("text") },
            "thinking" => Block::Thinking { text: text("thinking"), signature: text("signature") },
            "redacted_thinking" => Block::RedactedThinking { data: text("data") },
            "tool_use" => Block::ToolUse {
                id: text("id"),
                name: text("name"),
                input_json: fields.get("input").unwrap_or("{}").to_owned(),
                broken_input,
            },
            kind => Block::Other { kind: kind.to_owned(), json: json[from..].to_owned() },
        }
    }

    /// Puts the input in place; returns it instead when it is no JSON object.
    fn settle_input(&self, fields: &mut RawFields) -> Option<String> {
        let is_call = fields.text("type").is_some_and(|kind| kind.ends_with("tool_use"));
        if self.input.is_empty() && !is_call {
            return None;
        }
        let came =
            if self.input.is_empty() { fields.get("input").unwrap_or("{}").to_owned() } else { self.input.clone() };
        if serde_json::from_str::<RawFields>(&came).is_ok() {
            fields.set("input", came);
            return None;
        }
        fields.set("input", "{}".to_owned());
        Some(came)
    }

    fn collected_citations(&self) -> String {
        let started = self.fields.get("citations").and_then(|raw| raw.trim().strip_prefix('[')?.strip_suffix(']'));
        let started = started.map(str::trim).filter(|inner| !inner.is_empty());
        let all: Vec<&str> = started.into_iter().chain(self.citations.iter().map(String::as_str)).collect();
        format!("[{}]", all.join(","))
    }
}

/// Appends to a streamed string, which begins with what the start block said.
fn extend(grown: &mut Option<String>, fields: &RawFields, name: &str, piece: &str) {
    grown.get_or_insert_with(|| fields.text(name).unwrap_or_default()).push_str(piece);
}

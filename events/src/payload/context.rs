//! `context.*`: what goes into a request besides prompts, answers and results.

use super::turn::{TurnFailure, Usage};
use crate::hash::Hash;
use crate::id::{CallId, EventId};
use serde::{Deserialize, Serialize};

subject! {
    /// What goes into requests besides the conversation.
    Context {
        /// A fresh context; everything after it is appended to it.
        EpochStarted(ContextEpochStarted) = "context.epoch_started", 4;
        /// Something was found and put at the tail.
        Retrieved(ContextRetrieved) = "context.retrieved", 2;
        /// An image, before the prompt or the result it belongs to.
        ImageAttached(ContextImageAttached) = "context.image_attached", 1;
        /// A summary has taken the place of the conversation before it.
        Compacted(ContextCompacted) = "context.compacted", 1;
        /// The API is about to be asked for a summary.
        CompactionRequested(ContextCompactionRequested) = "context.compaction_requested", 1;
        /// It answered.
        CompactionAnswered(ContextCompactionAnswered) = "context.compaction_answered", 1;
        /// It could not be had.
        CompactionFailed(ContextCompactionFailed) = "context.compaction_failed", 1;
    }
}

/// A fresh context. It holds verbatim whatever of a request is not conversation, so that a newer version of
/// retrace still renders the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextEpochStarted {
    /// 1 for the session's first.
    pub number: u32,
    /// The version of the renderer that all requests of the epoch go through.
    pub renderer: u32,
    /// The model.
    pub model: String,
    /// The model's row of the capability table, as raw JSON.
    pub model_row: String,
    /// The request's `system`, as raw JSON.
    pub system: String,
    /// The request's `tools`, as raw JSON.
    pub tools: String,
    /// The most tokens an answer may have.
    pub max_tokens: u32,
    /// The request's `thinking`, as raw JSON.
    pub thinking: Option<String>,
    /// The request's `output_config`, as raw JSON.
    pub output_config: Option<String>,
    /// What the epoch begins with; empty in a session's first epoch.
    pub seed: Vec<ContextPassage>,
    /// The first event whose conversation belongs to the epoch; what is older is there only by the seed.
    pub from_seq: u64,
    /// Why it began.
    pub why: String,
    /// The API's own summary of everything before `from_seq`: its compaction block as raw JSON (one object), which stands first in
    /// every request of the epoch, byte for byte as it came.
    pub compacted: Option<String>,
}

/// Something put into the context, and where it is from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextPassage {
    /// The words.
    pub text: String,
    /// Where they are from.
    pub source: ContextSource,
    /// What they cost, in estimated tokens.
    pub tokens: u32,
    /// How well they fit, in thousandths; the scale is the retrieval's own.
    pub score_milli: u32,
}

impl ContextPassage {
    /// A passage whose tokens are estimated: four bytes are about one.
    #[must_use]
    pub fn new(text: String, source: ContextSource, score_milli: u32) -> Self {
        let tokens = u32::try_from(text.len().div_ceil(4)).unwrap_or(u32::MAX);
        Self { text, source, tokens, score_milli }
    }
}

/// Where a passage is from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ContextSource {
    /// An event.
    Event(EventId),
    /// A range of lines of a file in the workspace.
    File {
        /// Relative to the workspace.
        path: String,
        /// The first line, from 1.
        first_line: u32,
        /// The last line.
        last_line: u32,
    },
    /// A node of the summary tree.
    Summary(String),
    /// An instruction file.
    Instructions(String),
    /// What the user said earlier in the session, word for word.
    Prompt(EventId),
    /// What the session's events say of its work: the plan, commands, files; with the word for which.
    Notes(String),
}

/// Something was found and put at the tail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextRetrieved {
    /// What was looked for.
    pub query: String,
    /// What was put in.
    pub passages: Vec<ContextPassage>,
    /// The log position the index reflected.
    pub index_position: u64,
}

/// An image that goes into requests. It stands before the prompt, the queued prompt or the result it belongs to, in the
/// same batch, and holds the bytes themselves: a request is made of events alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextImageAttached {
    /// Its name, for people.
    pub name: String,
    /// For example `image/png`.
    pub media_type: String,
    /// Its bytes in base64.
    pub data_base64: String,
    /// The call whose result it belongs to; `None` for a prompt.
    pub call: Option<CallId>,
    /// Its width in pixels.
    pub width_px: u32,
    /// Its height in pixels.
    pub height_px: u32,
}

/// A summary has taken the place of the conversation before it: requests after it hold the summary and what follows. It
/// stands where no call is open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextCompacted {
    /// The summary, redacted.
    pub summary: String,
    /// Who wrote it and why: `claude-code: auto`.
    pub by: String,
}

/// The API is about to be asked for a summary of the conversation, beside the turn that is going on. Its body is that of
/// the request whose answer is event `until_seq`, with the wish for a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextCompactionRequested {
    /// The `context.epoch_started` event it is rendered from.
    pub epoch: EventId,
    /// The first event that is not summarized: an answer. What is older is.
    pub until_seq: u64,
    /// The hash of the body's exact bytes.
    pub body_hash: Hash,
    /// The body's size in bytes.
    pub body_bytes: u64,
    /// The model asked.
    pub model: String,
    /// Input tokens, estimated from the body's size.
    pub estimated_input_tokens: u64,
    /// The most it can cost, in millionths of a US dollar.
    pub cost_bound_microusd: u64,
    /// Why it is made.
    pub why: String,
}

/// What came of a wish for a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextCompactionAnswered {
    /// The request.
    pub request: EventId,
    /// The compaction block as raw JSON (one object), not redacted; `None` when the API wrote no summary.
    pub block: Option<String>,
    /// Why it stopped, in the API's word.
    pub stop_reason: String,
    /// The model that answered, by its own word.
    pub model: String,
    /// Tokens used.
    pub usage: Usage,
    /// What it cost, in millionths of a US dollar, by the model's row of the price table.
    pub cost_microusd: u64,
    /// The API's id of the request.
    pub request_id: Option<String>,
    /// From sending to the end of the answer, in milliseconds.
    pub duration_ms: u64,
}

/// A wish for a summary that came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextCompactionFailed {
    /// The request.
    pub request: EventId,
    /// What happened.
    pub failure: TurnFailure,
    /// The HTTP status, when there was one.
    pub status: Option<u16>,
    /// What the API or the transport said, redacted.
    pub message: String,
    /// The API's id of the request.
    pub request_id: Option<String>,
    /// Upper bound of what it may have cost, in millionths of a US dollar; 0 when it surely was not billed.
    pub billed_microusd: u64,
    /// How long to wait before another attempt, in milliseconds; `None` when there will be none in this epoch.
    pub retry_in_ms: Option<u64>,
}

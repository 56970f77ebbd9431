//! `turn.*`: a prompt, the requests made for it, their answers and failures, and how the turn ended.

use crate::blob::BlobRef;
use crate::hash::Hash;
use crate::id::EventId;
use serde::{Deserialize, Serialize};

subject! {
    /// Prompts, requests, answers.
    Turn {
        /// Someone asks for something.
        Prompted(TurnPrompted) = "turn.prompted", 1;
        /// A request is about to be sent.
        Requested(TurnRequested) = "turn.requested", 1;
        /// The model answered.
        Answered(TurnAnswered) = "turn.answered", 1;
        /// A request came to nothing.
        Failed(TurnFailed) = "turn.failed", 1;
        /// Someone stopped the turn.
        Interrupted(TurnInterrupted) = "turn.interrupted", 1;
        /// The turn is over.
        Ended(TurnEnded) = "turn.ended", 2;
        /// A prompt that waits for the present turn to end.
        Queued(TurnQueued) = "turn.queued", 1;
        /// The model is told that it goes round in circles.
        Warned(TurnWarned) = "turn.warned", 1;
    }
}

/// A prompt, redacted. It opens a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnPrompted {
    /// The words.
    pub text: String,
    /// Where it came from.
    pub source: PromptSource,
    /// Images and files that came with it.
    pub attachments: Vec<Attachment>,
}

/// Where a prompt came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PromptSource {
    /// The command that runs the session.
    Local,
    /// Another process, through the control stream (the event's cause).
    Control,
    /// A job.
    Job,
    /// A parent session.
    Parent,
}

/// A file that came with a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Its name, for people.
    pub name: String,
    /// For example `image/png`.
    pub media_type: String,
    /// Its bytes.
    pub blob: BlobRef,
}

/// One attempt at a request, logged before anything is sent. Its body is not stored: it is a function of the
/// events before this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnRequested {
    /// 1 for the first attempt at this step, 2 for its first retry.
    pub attempt: u32,
    /// The `context.epoch_started` event it is rendered from.
    pub epoch: EventId,
    /// The hash of the body's exact bytes.
    pub body_hash: Hash,
    /// The body's size in bytes.
    pub body_bytes: u64,
    /// The model asked.
    pub model: String,
    /// Input tokens, estimated from the body's size.
    pub estimated_input_tokens: u64,
    /// The most this attempt can cost, in millionths of a US dollar.
    pub cost_bound_microusd: u64,
}

/// A complete answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnAnswered {
    /// The request it answers.
    pub request: EventId,
    /// The content blocks as raw JSON (an array), sent back byte for byte; not redacted.
    pub content: String,
    /// The model that answered, by its own word.
    pub model: String,
    /// Why it stopped, in the API's word.
    pub stop_reason: String,
    /// The API's details on the stop, as raw JSON.
    pub stop_details: Option<String>,
    /// Tokens used.
    pub usage: Usage,
    /// What it cost, in millionths of a US dollar, by the model's row of the price table.
    pub cost_microusd: u64,
    /// The API's id of the request.
    pub request_id: Option<String>,
    /// From sending to the end of the answer, in milliseconds.
    pub duration_ms: u64,
}

/// Tokens of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Input, neither read from nor written to the cache.
    pub input_tokens: u64,
    /// Input written to the cache for 5 minutes.
    pub cache_write_5m_tokens: u64,
    /// Input written to the cache for an hour.
    pub cache_write_1h_tokens: u64,
    /// Input read from the cache.
    pub cache_read_tokens: u64,
    /// Output, thinking included.
    pub output_tokens: u64,
}

impl Usage {
    /// All input tokens, however they were billed.
    #[must_use]
    pub const fn total_input_tokens(&self) -> u64 {
        self.input_tokens + self.cache_write_5m_tokens + self.cache_write_1h_tokens + self.cache_read_tokens
    }
}

/// An attempt that came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnFailed {
    /// The attempt.
    pub request: EventId,
    /// What happened.
    pub failure: TurnFailure,
    /// The HTTP status, when there was one.
    pub status: Option<u16>,
    /// What the API or the transport said, redacted.
    pub message: String,
    /// The API's id of the request.
    pub request_id: Option<String>,
    /// What had come of the answer, as raw JSON; no tool is ever run from it.
    pub partial: Option<String>,
    /// Upper bound of what it may have cost, in millionths of a US dollar; 0 when it surely was not billed.
    pub billed_microusd: u64,
    /// How long to wait before the next attempt, in milliseconds; `None` when there will be none.
    pub retry_in_ms: Option<u64>,
}

/// What became of a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TurnFailure {
    /// 429.
    RateLimited,
    /// 529, or the same in mid-stream.
    Overloaded,
    /// Another 5xx.
    Server,
    /// Nothing came for too long.
    Timeout,
    /// No connection, or it broke before an answer.
    Connection,
    /// An error in mid-stream.
    Stream,
    /// The stream ended before the message did.
    Unfinished,
    /// 400 and other 4xx: the request is wrong.
    InvalidRequest,
    /// 401.
    Authentication,
    /// 403.
    Permission,
    /// 404: usually the model's name.
    NotFound,
    /// 413.
    TooLarge,
    /// Stopped by the user.
    Cancelled,
    /// retrace itself died while waiting; whether there was an answer is unknown.
    Lost,
}

/// Someone stopped the turn. The turn is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnInterrupted {
    /// Who: `signal` for Ctrl-C, `control` for another process.
    pub by: String,
    /// What was going on.
    pub during: String,
}

/// The turn is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnEnded {
    /// How.
    pub outcome: TurnOutcome,
    /// In words, for people.
    pub note: String,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TurnOutcome {
    /// The model said it is done.
    Completed,
    /// The model refused.
    Refused,
    /// The answer was cut at its token limit, several times over.
    AnswerTooLong,
    /// The context window is full.
    ContextFull,
    /// A budget of the session is used up.
    BudgetReached,
    /// The API could not be made to answer.
    RequestFailed,
    /// retrace itself could not go on (sandbox gone, log unreachable).
    RuntimeFailed,
    /// The model went round in circles, was told, and went on.
    Stuck,
}

/// A prompt that waits for the present turn to end; it becomes a `turn.prompted` then, with this event as its cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnQueued {
    /// The words, redacted.
    pub text: String,
    /// Where it came from.
    pub source: PromptSource,
    /// Images and files that came with it.
    pub attachments: Vec<Attachment>,
}

/// The model is told that it goes round in circles, before the turn is stopped for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnWarned {
    /// The rule of the detector.
    pub rule: String,
    /// What the model and the user are told.
    pub note: String,
}

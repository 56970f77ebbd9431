//! One step of a script: an answer, when it is given, and how it is delivered.

use std::time::Duration;

use regex::Regex;
use serde_json::Value;

use super::fault::Fault;

/// One answer of the model, and when it is given.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) name: String,
    /// Played only when this fits what the user side said last; `None` always fits.
    pub(super) when: Option<Regex>,
    /// The steps that may come next, in order of preference; empty: the following ones in file order.
    pub(super) next: Vec<usize>,
    pub(super) blocks: Vec<StepBlock>,
    pub(super) stop_reason: String,
    pub(super) stop_sequence: Option<String>,
    pub(super) stop_details: Value,
    pub(super) usage: UsageOverrides,
    pub(super) faults: Vec<Fault>,
    pub(super) delivery: Delivery,
}

/// One content block of a step; `$1` and the like in its texts stand for captures of `when`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum StepBlock {
    Text { text: String },
    Thinking { text: String },
    RedactedThinking,
    ToolUse { name: String, input: ToolInput },
}

/// The input of a scripted tool call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ToolInput {
    /// A JSON object.
    Object(Value),
    /// Text sent exactly so; may be broken JSON.
    Raw(String),
}

/// Figures that replace the simulated ones.
#[derive(Debug, Clone, Copy, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UsageOverrides {
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) cache_creation_input_tokens: Option<u64>,
    pub(super) cache_read_input_tokens: Option<u64>,
}

/// How the bytes of an answer are delivered.
#[derive(Debug, Clone, Default)]
pub(super) struct Delivery {
    /// Bytes of one write; 0: one event a write.
    pub(super) split_bytes: usize,
    /// The pause between writes.
    pub(super) delay: Duration,
    /// Characters of one delta; 0: the usual 24.
    pub(super) delta_chars: usize,
    /// Lines end in CRLF, and comments, pings, unknown events and unknown deltas are mixed in.
    pub(super) odd: bool,
}

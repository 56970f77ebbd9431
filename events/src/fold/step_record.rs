//! What one step of a turn came to, in hashes: the words of an answer, its calls, and what became of each. From these the
//! runtime sees whether a turn goes round in circles.
//!
//! Hashes are over what matters for "is this the same again": JSON inputs without key order and whitespace, results without
//! what differs between two equal runs (durations, times of day, addresses, process ids, random names of temporary files,
//! the call's own id). Numbers of any other kind are left as they are: a counter that moves is news. The records are not
//! stored; the fold makes them anew.

#[cfg(test)]
#[path = "step_record_tests.rs"]
mod tests;

use super::calls::OpenCall;
use crate::hash::Hash;
use crate::id::CallId;
use regex::{NoExpand, Regex};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::LazyLock;

/// How much of a call's input is kept for people, in characters.
const GIST_CHARS: usize = 80;

/// The shortest call id that is looked for in results: a shorter one may stand there by chance.
const MIN_ID_BYTES: usize = 8;

/// The tool that looks at a command in the background.
const LOOKS_AT_BACKGROUND: &str = "read_output";

/// The tool of which nobody knows what it changed.
const RUNS_COMMANDS: &str = "bash";

/// What differs between two equal runs of a command. ASCII word boundaries: the Unicode ones make the search slow.
const NOISE: &str = concat!(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?",
    r"|(?-u:\b)[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?-u:\b)",
    r"|(?-u:\b)(?:[0-9]+h ?)?(?:[0-9]+m ?)?[0-9]+(?:\.[0-9]+)? ?(?:ns|µs|us|ms|s|secs?|seconds?)(?-u:\b)",
    r"|0x[0-9a-fA-F]{6,16}(?-u:\b)",
    r"|(?-u:\b)(?i:pid)[ =:]{1,3}[0-9]+",
    // A panic of a Rust program names the thread's number.
    r"|' \([0-9]+\) panicked",
    r"|/tmp/(?:\.?tmp[._-]?[A-Za-z0-9_]{6,}|go-build[0-9]+|pytest-of-[a-z]+/pytest-[0-9]+)",
);

static NOISE_PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(NOISE).ok());

/// One answer of the model, and what became of its calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepRecord {
    /// Its words, thinking left out and runs of whitespace taken as one; `None` when it said nothing.
    pub said: Option<Hash>,
    /// Its calls, in its order.
    pub calls: Vec<CallRecord>,
}

/// One call of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRecord {
    /// The model's id of it.
    pub call: CallId,
    /// The tool.
    pub tool: String,
    /// Its input, whatever its key order and whitespace.
    pub input: Hash,
    /// The beginning of its input on one line, for people.
    pub gist: String,
    /// Whether it is made to wait: a look at a command in the background, or a command that sleeps.
    pub waits: bool,
    /// Its result without what differs between equal runs; `None` while it has none.
    pub result: Option<Hash>,
    /// Whether it failed.
    pub is_error: bool,
    /// Whether it changed something, or may have.
    pub wrote: bool,
}

impl StepRecord {
    /// How many steps of a turn are kept.
    pub const KEPT: usize = 64;

    /// The record of an answer: its raw JSON blocks, and the calls in them. No call has a result yet.
    #[must_use]
    pub fn answered(content: &str, calls: &[OpenCall]) -> Self {
        Self { said: said_in(content), calls: calls.iter().map(CallRecord::asked).collect() }
    }

    /// Takes in the result of one of its calls; `wrote`: whether it is known to have changed something. A second result of a call is ignored, and so is one of no call of it.
    pub fn finished(&mut self, call: &CallId, content: &str, is_error: bool, wrote: bool) {
        let open = |record: &&mut CallRecord| record.call == *call && record.result.is_none();
        if let Some(record) = self.calls.iter_mut().find(open) {
            record.result = Some(result_hash(call, content));
            record.is_error = is_error;
            record.wrote = wrote || record.tool == RUNS_COMMANDS;
        }
    }

    /// Whether every call has its result.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.calls.iter().all(|call| call.result.is_some())
    }
}

/// Adds a step to those of a turn, of which at most [`StepRecord::KEPT`] stay.
pub fn keep_step<S>(steps: &mut VecDeque<S>, step: S) {
    while steps.len() >= StepRecord::KEPT {
        steps.pop_front();
    }
    steps.push_back(step);
}

impl CallRecord {
    fn asked(call: &OpenCall) -> Self {
        let input = canonical(&call.input);
        Self {
            call: call.id.clone(),
            tool: call.tool.clone(),
            input: Hash::of(input.as_bytes()),
            gist: gist(&input),
            waits: call.tool == LOOKS_AT_BACKGROUND || sleeps(&call.input),
            result: None,
            is_error: false,
            wrote: false,
        }
    }
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default, borrow)]
    text: Option<Cow<'a, str>>,
}

/// The words of all text blocks. Content that is no array of blocks says nothing.
fn said_in(content: &str) -> Option<Hash> {
    let blocks: Vec<Block<'_>> = serde_json::from_str(content).unwrap_or_default();
    let texts = blocks.iter().filter(|block| block.kind == "text").filter_map(|block| block.text.as_deref());
    let mut said = String::with_capacity(content.len());
    for word in texts.flat_map(str::split_whitespace) {
        said.push_str(word);
        said.push(' ');
    }
    (!said.is_empty()).then(|| Hash::of(said.as_bytes()))
}

/// A JSON text with sorted keys and no whitespace; what is no JSON stays as it is.
fn canonical(input: &str) -> Cow<'_, str> {
    match serde_json::from_str::<Value>(input) {
        Ok(mut value) => {
            value.sort_all_objects();
            Cow::Owned(value.to_string())
        }
        Err(_) => Cow::Borrowed(input.trim()),
    }
}

fn gist(input: &str) -> String {
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    let mut gist: String = input.chars().take(GIST_CHARS).map(visible).collect();
    if input.chars().nth(GIST_CHARS).is_some() {
        gist.push('…');
    }
    gist
}

/// Whether the input is a command with `sleep 5` or the like in it.
fn sleeps(input: &str) -> bool {
    #[derive(Deserialize)]
    struct Input<'a> {
        #[serde(borrow)]
        command: Cow<'a, str>,
    }
    // Most inputs need no second parsing.
    if !input.contains("sleep") {
        return false;
    }
    let Ok(Input { command }) = serde_json::from_str(input) else { return false };
    let words = command.split(|c: char| c.is_whitespace() || ";&|(){}".contains(c)).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    let for_some_time = |word: &str| word.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == '$');
    words.windows(2).any(|pair| pair[0] == "sleep" && for_some_time(pair[1]))
}

fn result_hash(call: &CallId, content: &str) -> Hash {
    let own_id = call.0.len() >= MIN_ID_BYTES && content.contains(call.0.as_str());
    let content = if own_id { Cow::Owned(content.replace(call.0.as_str(), "#")) } else { Cow::Borrowed(content) };
    let quiet = NOISE_PATTERN.as_ref().map(|noise| noise.replace_all(&content, NoExpand("#")));
    Hash::of(quiet.unwrap_or(Cow::Borrowed(&content)).as_bytes())
}

//! A text of which only the beginning and the end will ever be shown.

use super::words::{first, last};
use serde::{Deserialize, Serialize};

/// How much of either end is kept, in bytes.
const END_BYTES: usize = 2_440;

/// What stands where something is left out.
const GAP: &str = "\n[..]\n";

/// A cut that would save less is not made, in bytes.
const SLACK_BYTES: usize = 40;

/// A text, or its two ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Excerpt {
    head: Box<str>,
    /// The other end, when the text is not whole in `head`.
    tail: Option<Box<str>>,
}

impl Excerpt {
    /// What is kept of `text`.
    pub(super) fn of(text: &str) -> Self {
        if text.len() <= 2 * END_BYTES {
            return Self { head: text.into(), tail: None };
        }
        Self { head: first(text, END_BYTES).into(), tail: Some(last(text, END_BYTES).into()) }
    }

    /// Its beginning and its end within `tokens`; `head_share` of it is beginning.
    pub(super) fn cut(&self, tokens: usize, head_share: f64) -> String {
        match &self.tail {
            None => cut(&self.head, tokens, head_share),
            Some(tail) => {
                let bytes = (tokens * 4).min(2 * END_BYTES);
                let head = (bytes as f64 * head_share) as usize;
                joined(first(&self.head, head), last(tail, bytes - head.min(bytes)))
            }
        }
    }
}

/// The beginning and the end of `text` within `tokens`, at ends of lines where there are lines.
pub(crate) fn cut(text: &str, tokens: usize, head_share: f64) -> String {
    let bytes = tokens * 4;
    if text.len() <= bytes + SLACK_BYTES {
        return text.to_owned();
    }
    let head = (bytes as f64 * head_share) as usize;
    joined(first(text, head), last(text, bytes - head.min(bytes)))
}

fn joined(head: &str, tail: &str) -> String {
    let breaks = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count();
    let head = if breaks(head) > 2 { head.rsplit_once('\n').map_or(head, |(head, _)| head) } else { head };
    let tail = if breaks(tail) > 2 { tail.split_once('\n').map_or(tail, |(_, tail)| tail) } else { tail };
    format!("{}{GAP}{tail}", head.trim_end_matches('\n'))
}
